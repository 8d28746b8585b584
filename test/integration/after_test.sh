#!/bin/bash
# Jobs that wait for other jobs, on the command line.
. "$(dirname "$0")/lib.sh"
start_agent data

# add
run peal add extract @manual -- true
run peal add probe @manual -- true
run peal add load --after extract -- true
expect_status 0
expect_stderr 'load: created; runs after extract'
run peal add report --after load --after probe:always --timeout 5m -- true
expect_status 0
expect_stderr 'report: created; runs after load, probe (always)'
run peal add alarm --after extract:failure -- true
expect_status 0
run peal get report -o json
expect_json '[.after, .schedule, .schedules, .timezone, .status.next_at]' \
    '[[{"job":"load"},{"job":"probe","on":"always"}],null,null,null,null]'

# add: mistakes, each with its exit status.
while IFS='|' read -r want_status want args; do
    eval "run peal add $args"
    expect_status "$want_status"
    expect_stderr_has "$want"
done <<'TABLE'
2|when? Give a schedule, or @manual, or --after JOB|x -- true
2|a schedule and --after are one too many|x @daily --after extract -- true
6|after[0].on: "fail" is not one of success, failure or always; did you mean "failure"?|x --after extract:fail -- true
6|a job can't wait for itself|x --after x -- true
6|"extract" is named twice|x --after extract --after extract:always -- true
6|jitter: is for jobs with a schedule|x --after extract --jitter 5s -- true
6|after: there is no job "extrct"; did you mean "extract"?|x --after extrct -- true
6|after: a job would wait for itself: extract -> report -> load -> extract|extract --replace --after report -- true
TABLE

# What is shown.
run peal list
expect_stdout_has 'after load, probe (always)'
run peal get report -o yaml
expect_stdout 'name: report
after: [load, {job: probe, "on": always}]
command: ["true"]
timeout: 5m'
run peal describe report
expect_status 0
expect_stdout_has 'Waits for'
expect_stdout_has 'not yet'
expect_stdout_lacks 'Time zone'
run peal describe extract
expect_stdout_has 'These wait for it
  alarm (on failure)
  load (on success)'
run peal next report
expect_status 0
expect_stderr_has 'report has no ticks: it runs after load, probe (always)'
run peal why report
expect_stdout_has 'It waits for the end of load, probe (on: always).'

# Files, in any order and all at once; and back.
peal export yaml >"$scratch/jobs.yaml"
run peal diff -f "$scratch/jobs.yaml"
expect_status 0
run peal delete extract probe load report alarm --yes
expect_stderr_lacks 'waits for'
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal describe report
expect_stdout_lacks 'no such job'
run peal export crontab
expect_stdout_has "# left out: cron can't wait for load, probe"
cat >"$scratch/bad.yaml" <<'YAML'
name: late
after: nobody
command: ["true"]
YAML
run peal apply -f "$scratch/bad.yaml"
expect_status 6
expect_stderr_has 'there is no job "nobody"'

# One that is waited for may go; then the other has a problem.
run peal delete load
expect_status 2
expect_stderr_has 'note: report waits for load, and will not start without it'
run peal delete --query load
expect_stderr_has 'note: report waits for load, and will not start without it'
awk 'BEGIN { RS = "---\n"; ORS = RS } !/^name: load\n/' "$scratch/jobs.yaml" >"$scratch/fewer.yaml"
run peal apply -f "$scratch/fewer.yaml" --prune
expect_status 2
expect_stderr_has 'note: report waits for load, and will not start without it'
run peal delete load --yes
expect_status 0
run peal list -o wide
expect_stdout_has 'after: there is no job "load"'
run peal describe report
expect_stdout_has 'there is no such job'

# ---- they run ----
# A run of its own, and whatever follows it: each line of the log is a run.
log=$scratch/log
logger() { # NAME OPTION... : a job that writes its name and what made it due
    local name=$1
    shift
    peal add "$name" "$@" --replace --shell "echo $name \${PEAL_AFTER_JOB:-} >>$log" 2>/dev/null
}
# shellcheck disable=SC2317 # wait_until calls it
lines_are() { # TEXT [sorted]
    [ "$(if [ $# -gt 1 ]; then sort "$log"; else cat "$log"; fi 2>/dev/null)" = "$1" ]
}
rm_jobs() {
    peal list -o name | xargs -r peal delete --yes 2>/dev/null
    rm -f "$log"
}

# A chain, and what it tells of itself.
rm_jobs
logger one @manual
logger two --after one
logger three --after two
run peal run one --wait
expect_status 0
wait_until lines_are "one
two one
three two"
wait_until newest_is three ok
run peal runs three -o json
expect_json '[.[] | [.cause, .state]]' '[["after","ok"]]'
id=$(jq -r '.[0].by' "$scratch/out")
run peal runs two -o json
expect_json '.[0].run_id' "\"$id\""
run peal why three
expect_stdout_has 'It waits for the end of two.'

# A join: twice one of them is not both of them.
rm_jobs
logger left @manual
logger right @manual
logger both --after left --after right
run peal run left --wait
run peal run left --wait
run peal describe both
expect_stdout_has 'yes'
expect_stdout_has 'not yet'
run peal run right --wait
wait_until lines_are "left
left
right
both right"
wait_until newest_is both ok
run peal run right --wait
run peal run left --wait
wait_until newest_is both ok
wait_until grep -q 'both left' "$log"
run peal runs both -o json
expect_json length 2

# A branch for failures, and one for any end.
rm_jobs
peal add shaky @manual --shell "test -e $scratch/good" 2>/dev/null
logger mend --after shaky:failure
logger next --after shaky
logger count --after shaky:always
run peal run shaky --wait
wait_until newest_is mend ok
wait_until newest_is count ok
touch "$scratch/good"
run peal run shaky --wait
wait_until newest_is next ok
wait_until lines_are 'count shaky
count shaky
mend shaky
next shaky' sorted

# Paused: what would have run is on record as skipped.
run peal pause next
run peal run shaky --wait
wait_until newest_is next skipped
run peal runs next -o json
expect_json '.[0] | [.state, .reason]' '["skipped","paused"]'

# An agent that is killed while the first runs: its end is taken in by the next one, and what
# follows runs once.
rm_jobs
peal add slow @manual --shell "echo slow >>$log; while [ ! -e $scratch/go ]; do sleep 0.1; done" \
    2>/dev/null
logger follower --after slow
run peal run slow
wait_until lines_are slow
kill -9 "$(cat "$PEAL_DATA/peal.pid")"
touch "$scratch/go"
start_agent data
wait_until newest_is slow ok
wait_until newest_is follower ok
wait_until lines_are 'slow
follower slow'
run peal runs follower -o json
expect_json '[.[] | .cause]' '["after"]'

finish
