#!/bin/bash
# only_if: a tick runs only if another job has succeeded before.
. "$(dirname "$0")/lib.sh"
start_agent data

run peal add report '@every 1s' --only-if load -- true
expect_status 6
expect_stderr_has 'only_if: there is no job "load"'
run peal add load @manual -- true
expect_status 0
run peal add report '@every 1s' --only-if loud -- true
expect_status 6
expect_stderr_has 'did you mean "load"?'
run peal add report '@every 1s' --only-if load --only-if-within 1h -- true
expect_status 0
run peal get report -o yaml
expect_stdout_has 'jobs: load'
expect_stdout_has 'within: 1h'

# nothing has succeeded: its ticks are skipped, with the reason
# shellcheck disable=SC2317 # wait_until calls it
skipped() {
    [ "$(peal runs report --ledger -o json | jq '[.[] | select(.reason == "only_if") | .count] | add // 0')" -gt 1 ]
}
wait_until skipped
run peal runs report --ledger -o json
expect_stdout_has '"detail": "load: no success since '
run peal why report
expect_stdout_has 'a condition of the job (only_if) was not met (load: no success since'
expect_stdout_has 'A condition (only_if) does not hold yet: load: no success since'

# what somebody asks for runs
run peal run report --wait
expect_status 0

# it holds
run peal run load --wait
expect_status 0
# shellcheck disable=SC2317 # wait_until calls it
ticked() {
    [ "$(peal runs report -o json | jq '[.[] | select(.cause == "tick")] | length')" -gt 0 ]
}
wait_until ticked
run peal why report
expect_stdout_has 'Its conditions (only_if) hold.'

# a rename is followed, in the definition, too
run peal rename load etl/load
expect_status 0
expect_stdout_has report
run peal get report -o yaml
expect_stdout_has 'jobs: etl/load'

# circles, also by way of after
run peal add after-it --after report -- true
expect_status 0
printf 'name: etl/load\nschedule: "@manual"\ncommand: ["true"]\nonly_if: after-it\n' >"$scratch/circle.yaml"
run peal apply -f "$scratch/circle.yaml"
expect_status 6
expect_stderr_has 'only_if'
printf 'name: self\nschedule: "@hourly"\ncommand: ["true"]\nonly_if: self\n' >"$scratch/circle.yaml"
run peal apply -f "$scratch/circle.yaml"
expect_status 6

# the job that is needed goes
run peal delete etl/load --yes
expect_status 0
run peal get report -o json
expect_stdout_has 'only_if: there is no job'
run peal validate "$scratch/circle.yaml"
expect_status 6

# a tick waits: it starts when the other job has ended
run peal add slow @manual -- true
expect_status 0
at=$(date -u -d '+1 second' +%Y-%m-%dT%H:%M:%SZ)
run peal add patient "@at $at" --only-if slow --only-if-wait 1h -- true
expect_status 0
# shellcheck disable=SC2317 # wait_until calls it
waits() {
    peal why patient | grep -q 'It waits for a condition (only_if) until'
}
wait_until waits
run peal run slow --wait
expect_status 0
wait_until newest_is patient ok
finish
