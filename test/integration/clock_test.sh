#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# The clock of the only node is set ten years ahead, and back: that it is not believed, what it did
# and what it keeps from running is said wherever one looks, and afterwards all goes on at once.
. "$(dirname "$0")/lib.sh"

begin=$(date -u +%Y-%m-%dT%H:%M:%S)
offset=$scratch/offset
set_clock() { # SECONDS
    printf '%-31s\n' "$1" >"$scratch/offset.new"
    dd if="$scratch/offset.new" of="$offset" conv=notrunc status=none
}
printf '%-31s\n' +0 >"$offset"
fake=${PEAL_BIN:-$source_dir/build/asan/bin}/../test/fake_clock.so

PEAL_DATA=$scratch/data
export PEAL_DATA
run env LD_PRELOAD="$fake" FAKE_CLOCK="$offset" ASAN_OPTIONS=verify_asan_link_order=0 \
    peal start -d --listen none
expect_status 0
run peal add second '* * * * * *' -- true
run peal add often '@every 1s' -- true
has_run() { # JOB TIMES
    [ "$(peal runs "$1" -n 100 -o json | jq length)" -ge "$2" ]
}
wait_until has_run second 2
ask() { # PATH
    curl -s --unix-socket "$PEAL_DATA/api.sock" "http://localhost$1"
}
curl -sN --unix-socket "$PEAL_DATA/api.sock" http://localhost/api/v1/events?topics=nodes \
    >"$scratch/events" &
listener=$!
wait_until grep -q '^event: hello' "$scratch/events"

# ---- ahead: not believed ----

set_clock +315576000
is_doubted() { peal state -o json | jq -e '.clock.doubt == "ahead" and (.clock.ok | not)'; }
wait_until is_doubted
run peal state
expect_status 8
expect_stdout_has 'running, but nothing can start (pid'
expect_stdout_has 'the clock is not trusted (it jumped ahead'
expect_stdout_has 'by +31557'
run peal doctor
expect_status 1
expect_stdout_has "FAIL  agent's clock: the clock is not trusted"
expect_stdout_has 'FAIL  starts: nothing can start (clock_doubted): the clock is not trusted'
run peal list -o wide
expect_stdout_has 'warning'
expect_stdout_has 'the clock is not trusted: nothing is started until'
run peal why second
expect_stdout_has 'The clock of this node is not trusted'
run curl -s -H 'Accept-Language: zh' --unix-socket "$PEAL_DATA/api.sock" \
    http://localhost/api/v1/jobs/second/why
expect_stdout_has '本节点的时钟不可信：时钟突然前跳'
run ask /readyz
expect_json '[.status, .clock, (.detail | contains("not trusted"))]' '["not ready",false,true]'
run ask '/readyz?for=api'
expect_json '[.status, .clock]' '["ok",false]'
run ask /metrics
expect_stdout_has 'peal_clock_doubted 1'
expect_stdout_has 'peal_clock_steps_total 1'
run ask /api/v1/cluster
expect_json '[.clock_ok, .clock.doubt, .clock.steps]' '[false,"ahead",1]'

# ---- back: nothing has happened, and all goes on ----

set_clock +0
is_believed() { peal state -o json | jq -e '.clock.ok and .clock.steps == 2'; }
wait_until is_believed
goes_on() { # JOB SINCE
    peal runs "$1" -n 1 -o json | jq -e --arg since "$2" '.[0].tick > $since and .[0].state == "ok"'
}
now=$(date -u +%Y-%m-%dT%H:%M:%S)
wait_until goes_on second "$now"
wait_until goes_on often "$now"
run peal list -o json
expect_json 'map(.status.warning)' '[null,null]'

# ---- ten minutes back: what has started does not start again, rhythms go on ----

set_clock -600
wait_until sh -c "peal state -o json | jq -e '.clock.steps == 3 and .clock.ok'"
runs_in_the_past() { # JOB: by the clock that was set back
    peal runs "$1" -n 1000 -o json |
        jq -e --arg begin "$begin" 'any(.[]; .started_at < $begin and .state == "ok")'
}
wait_until runs_in_the_past often
is_noted() { # JOB: its cursor went back
    peal runs "$1" --ledger -n 1000 -o json | jq -e 'any(.[]; .reason == "clock")'
}
wait_until is_noted second
run peal doctor
expect_stdout_has "agent's clock: was set 3 times since the agent started, last by -"

# ---- each step is an event ----

kill $listener
run grep -c '^event: clock' "$scratch/events"
expect_stdout 3
run grep -m 1 -A 1 '^event: clock' "$scratch/events"
expect_stdout_has '"by_ms":3155'
run grep -c ' clock_step ' "$PEAL_DATA/peal.log"
expect_stdout 3
finish
