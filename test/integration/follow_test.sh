#!/bin/bash
# Output that is followed: a job from run to run, over a restart of the agent; a command that is
# interrupted while its run goes on.
. "$(dirname "$0")/lib.sh"
start_agent data --listen none

# shellcheck disable=SC2317 # called by wait_until
has_line() { # FILE TEXT
    grep -qF -e "$2" "$scratch/$1"
}

# ---- logs -f JOB ----
run peal add step @manual --shell "echo one \$PEAL_RUN_ID; while [ ! -e '$scratch/go' ]; do sleep 0.05; done; echo last"
expect_status 0
touch "$scratch/go"
run peal run step --wait
first=$(cat "$scratch/out")
run peal run step --wait
second=$(cat "$scratch/out")
peal logs -f step >"$scratch/job.out" 2>"$scratch/job.err" &
follower=$!
wait_until has_line job.err "step $second: ok after"
run peal run step --wait
third=$(cat "$scratch/out")
wait_until has_line job.err "step $third: ok after"

# A run that outlives its agent, and its output.
rm "$scratch/go"
run peal run step
fourth=$(cat "$scratch/out")
wait_until has_line job.out "one $fourth"
run peal restart
expect_status 0
touch "$scratch/go"
wait_until has_line job.err "step $fourth: ok after"
run peal stop
wait_until has_line job.err 'note: the agent does not answer; waiting for it'
run peal start -d
expect_status 0
wait_until has_line job.err 'note: the agent is back'
run peal run step --wait
fifth=$(cat "$scratch/out")
wait_until has_line job.err "step $fifth: ok after"
run kill -0 $follower
expect_status 0
kill $follower
wait $follower 2>/dev/null
run cat "$scratch/job.out"
expect_stdout "one $second
last
one $third
last
one $fourth
last
one $fifth
last"
run grep -c "$first" "$scratch/job.err"
expect_stdout 0

# A job without a run: its first one is waited for.
run peal add quiet @manual --shell 'echo at last'
peal logs -f quiet --timestamps >"$scratch/quiet.out" 2>"$scratch/quiet.err" &
follower=$!
run peal run quiet --wait
wait_until has_line quiet.err ': ok after'
kill $follower
wait $follower 2>/dev/null
run grep -cE '^20[0-9-]+T[0-9:.]+Z at last$' "$scratch/quiet.out"
expect_stdout 1
run peal logs -f qiet
expect_status 3
expect_stderr_has 'did you mean quiet?'

# ---- Ctrl-C ----
run peal add long @manual --shell "echo begun; while [ ! -e '$scratch/end' ]; do sleep 0.05; done"
env --default-signal=INT peal run long --follow >"$scratch/long.out" 2>"$scratch/long.err" &
follower=$!
wait_until has_line long.out begun
kill -INT $follower
wait $follower 2>/dev/null
status=$?
ran='peal run long --follow, interrupted'
expect_status 130
id=$(peal runs long -n 1 -o name)
run cat "$scratch/long.err"
expect_stdout_has "long: the run goes on; to follow it: peal logs -f $id, to end it: peal kill $id"
run newest_is long running
expect_status 0
touch "$scratch/end"
wait_until newest_is long ok

finish
