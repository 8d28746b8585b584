#!/bin/bash
# Failed runs are tried again: on one node, by what is on record and by the jobs' own file.
. "$(dirname "$0")/lib.sh"
start_agent data
log=$scratch/log

put() { # NAME RETRIES SCRIPT
    cat >"$scratch/job.yaml" <<YAML
name: $1
schedule: "@manual"
shell: |
  echo "$1 \$PEAL_ATTEMPT \$PEAL_TICK" >>$log
  $3
retries: $2
YAML
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
}

# shellcheck disable=SC2317 # wait_until calls it
attempts_are() { # JOB "ATTEMPT STATE" ...
    local job=$1
    shift
    [ "$(peal runs "$job" -o json | jq -r '.[] | "\(.attempt) \(.state)"' | tac)" = "$(printf '%s\n' "$@")" ]
}

# The third one succeeds: three runs of one tick, linked, and nothing more.
# shellcheck disable=SC2016 # the job's shell expands it
put third '{count: 5, wait: 0s}' 'test $PEAL_ATTEMPT = 3'
run peal run third
expect_status 0
wait_until attempts_are third '1 failed' '2 failed' '3 ok'
run peal runs third -o json
expect_json '[.[] | [.attempt, .attempts, .retried]]' '[[3,6,false],[2,6,true],[1,6,true]]'
expect_json '[.[].tick] | unique | length' 1
expect_json '[.[].run_id] | unique | length' 3
run cut -d' ' -f1,2 "$log"
expect_stdout 'third 1
third 2
third 3'
run peal runs third
expect_stdout_has 'manual, 3 of 6'
run peal why third
expect_stdout_has 'It was attempt 3 of 6.'

# Who waits for the run waits for its attempts, sees the output of each, and goes by the last one.
# shellcheck disable=SC2016 # likewise
put waited '{count: 5, wait: 0s}' 'echo out $PEAL_ATTEMPT; test $PEAL_ATTEMPT = 2'
run peal run waited --follow
expect_status 0
expect_stdout 'out 1
out 2'
expect_stderr_has 'waited: attempt 1 of 6: failed (exit code 1)'
expect_stderr_has 'waited: ok'
put in_vain '{count: 1, wait: 0s}' 'false'
run peal run in_vain --wait
expect_status 10
expect_stderr_has 'in_vain: attempt 1 of 2: failed'
expect_stderr_has 'in_vain: failed'
# An attempt that waits has no output yet; that of the one before is shown.
put slow '{count: 1, wait: 1h}' 'echo first; false'
run peal run slow
wait_until attempts_are slow '1 failed' '2 due'
run peal logs slow
expect_status 0
expect_stdout 'first'
run peal run slow --wait --timeout 1s
expect_status 4
run peal kill slow
expect_status 0

# All fail: as many as there are, and the last one is the end.
put never '{count: 2, wait: 0s, on: [exit 7]}' 'exit 7'
run peal run never
wait_until attempts_are never '1 failed' '2 failed' '3 failed'
run peal get never -o json
expect_json '[.status.last.state, .status.retrying]' '["failed",0]'

# An end that is not named is not retried.
put other '{count: 2, wait: 0s, on: [exit 7, signal KILL]}' 'exit 8'
run peal run other --wait
expect_status 10
run peal runs other -o json
expect_json '[.[] | [.attempt, .retried]]' '[[1,false]]'
# shellcheck disable=SC2016 # likewise
put killed '{count: 1, wait: 0s, on: [exit 7, signal KILL]}' 'kill -9 $$'
run peal run killed
wait_until attempts_are killed '1 failed' '2 failed'

# While one waits it is shown, its job is not run beside it, and jobs that come after it wait, too.
run peal add alarm --after waits:failure -- true
expect_status 6 # there is no such job yet
put waits '{count: 1, wait: 1h}' false
run peal add alarm --after waits:failure -- true
expect_status 0
run peal run waits
wait_until attempts_are waits '1 failed' '2 due'
run peal list
expect_stdout_has retrying
run peal why waits
expect_stdout_has 'Attempt 2 of 2 starts at '
run peal run waits
expect_status 4
expect_stderr_has 'is still under way (overlap: skip)'
run peal runs alarm -o json
expect_json length 0

# ... also over a restart, and kill -9.
kill -9 "$(cat "$PEAL_DATA/peal.pid")"
start_agent data
run peal runs waits -o json
expect_json '[.[] | [.attempt, .state]]' '[[2,"due"],[1,"failed"]]'

# A pause does not end what a person has asked for; a kill does, and so does a deletion.
run peal pause waits
run peal runs waits -o json
expect_json '.[0].state' '"due"'
run peal resume waits
run peal kill waits
expect_status 0
wait_until attempts_are waits '1 failed' '2 skipped'
put gone '{count: 1, wait: 1h}' false
run peal run gone
wait_until attempts_are gone '1 failed' '2 due'
run peal delete gone --yes
expect_status 0

# Of a tick the pause ends it.
cat >"$scratch/job.yaml" <<YAML
name: often
schedule: "* * * * * *"
command: ["false"]
retries: {count: 1, wait: 1h}
YAML
run peal apply -f "$scratch/job.yaml"
wait_until newest_is often due
run peal pause often
wait_until newest_is often skipped
run peal runs often -o json
expect_json '.[0] | [.attempt, .reason]' '[2,"paused"]'
run peal delete often --yes

# The agent is killed at any moment between an end and its retry: each attempt starts once.
# shellcheck disable=SC2016 # likewise
put chased '{count: 12, wait: 0s}' 'test $PEAL_ATTEMPT -ge 9'
run peal run chased
for _ in 1 2 3; do
    wait_until test -e "$PEAL_DATA/peal.pid"
    kill -9 "$(cat "$PEAL_DATA/peal.pid")"
    start_agent data
done
wait_until newest_is chased ok
# An attempt between whose begin and start the agent died never was a process.
run sh -c 'peal runs chased -o json | jq -c "[.[] | select(.state == \"missed\") | .reason] | unique - [\"start_window\"]"'
expect_stdout '[]'
started=$(peal runs chased -o json | jq -r 'reverse[] | select(.state != "missed") | .attempt')
run sed -n 's/^chased \([0-9]*\) .*/\1/p' "$log"
expect_stdout "$started"
run sh -c 'peal runs chased -o json | jq "length == .[0].attempt and length >= 9"'
expect_stdout true

# Mistakes are told where they are.
while IFS='|' read -r want retries; do
    printf 'name: x\nschedule: "@manual"\ncommand: ["true"]\nretries: %s\n' "$retries" >"$scratch/job.yaml"
    run peal validate "$scratch/job.yaml"
    expect_status 6
    expect_stderr_has "$want"
done <<'TABLE'
job.yaml:4:|-1
job.yaml:4:|{count: 101}
must be failed, timed_out, lost, no_start, no_response, exit CODES, signal NAMES or http STATUSES|{count: 1, on: [broken]}
must be exit codes, like exit 1,75-78|{count: 1, on: [exit 300]}
did you mean "exponential"?|{count: 1, backoff: exponentail}
TABLE

finish
