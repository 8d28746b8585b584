#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# The agent as the first process of a container: it reaps what others leave behind, and when it is told to
# stop its jobs end first, within their grace and on record.
. "$(dirname "$0")/lib.sh"

unshare --pid --fork --mount-proc true 2>/dev/null || {
    echo 'skipped: no namespace of processes can be made here'
    exit 77
}
export PEAL_DATA=$scratch/data

begin() {
    unshare --pid --fork --mount-proc --kill-child peal start --listen none 2>"$scratch/log" &
    outside=$!
    wait_until grep -q ' ready ' "$scratch/log"
    first=$(pgrep -P "$outside")
}
inside() { # COMMAND...
    nsenter --target "$first" --pid --mount "$@"
}
has_no_zombies() {
    ! inside ps -eo stat= | grep -q Z
}
has_ended() {
    ! kill -0 "$outside" 2>/dev/null
}

begin
run peal add orphan @manual --shell '(setsid sh -c "sleep 0.2; exit 1" &) ; exit 0'
run peal run orphan --follow
expect_status 0
inside sh -c '(sleep 0.2 &)' # its parent is gone: it is the first process's
wait_until has_no_zombies

# SIGHUP is for the agent.
inside kill -HUP 1
wait_until grep -q 'reloaded signal=HUP' "$scratch/log"

run peal add polite @manual --shell 'trap "echo cleaned up; exit 0" TERM; echo up; while :; do sleep 0.1; done'
run peal add stubborn @manual --shell 'trap "" TERM; echo up; while :; do sleep 0.1; done'
run peal get stubborn -o yaml
cp "$scratch/out" "$scratch/stubborn.yaml"
echo 'grace: 1s' >>"$scratch/stubborn.yaml"
run peal apply -f "$scratch/stubborn.yaml"
expect_status 0
run peal run polite
run peal run stubborn
is_up() { # JOB
    peal logs "$1" 2>/dev/null | grep -q up
}
wait_until is_up polite
wait_until is_up stubborn
kill -TERM "$first"
wait_until has_ended
run wait "$outside"
expect_status 0
run grep -c ' stopped node=' "$scratch/log"
expect_stdout 1

# Both ends were recorded by that agent, not by the next one.
run peal start -d --listen none
run peal runs polite -o json
expect_json '.[0].state' '"killed"'
expect_json '.[0].reason' '"shutdown"'
run peal logs polite
expect_stdout_has 'cleaned up'
run peal runs stubborn -o json
expect_json '.[0].state' '"killed"'
run peal stop
expect_status 0

# What the agent says is what the container says.
run unshare --pid --fork --mount-proc peal start --listen nonsense
expect_status 6
finish
