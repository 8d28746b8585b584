#!/bin/bash
# shellcheck disable=SC2317 # functions that wait_for calls by name
# The clock of the machine is set by minutes, an hour and ten years, ahead and back, while the agent
# is away and while it runs; and the agent is away over ticks, as when the machine sleeps. No tick
# runs twice, none is lost without a word, and nothing stands still for long.
#
# fake_clock.c gives agent and spawner another wall clock and leaves the boot clock alone, as a real
# step does.
. "$(dirname "$0")/lib.sh"

# Takes effect at once, for whoever runs with it.
set_clock() { # SECONDS
    printf '%-31s\n' "$1" | dd of="$scratch/offset" conv=notrunc status=none
}
set_clock +0
faked() { # COMMAND...
    LD_PRELOAD=${append_run%/*}/fake_clock.so FAKE_CLOCK=$scratch/offset \
        ASAN_OPTIONS=verify_asan_link_order=0 "$@"
}

start_faked() {
    run faked peal start -d
    expect_status 0
}

entries() { # JOB REASON: ticks that are on record for this reason
    peal runs "$1" --ledger -n 10000 -o json |
        jq "map(select(.entry_id and .reason == \"$2\").count) | add // 0"
}

start_faked
end=$(date -u -d '+3 hours' +%Y-%m-%dT%H:%M:%SZ)
cat >"$scratch/jobs.yaml" <<YAML
- {name: last, schedule: "* * * * * *", end: "$end", command: [$append_run, $trace]}
- {name: skip, schedule: "* * * * * *", end: "$end", catch_up: skip, command: [$append_run, $trace]}
- {name: all, schedule: "0 */10 * * * *", end: "$end", catch_up: all, command: [$append_run, $trace]}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
wait_for 10 has_begun last 2

# ---- an hour ahead while it is stopped: as if the machine had been off ----

stop_peal
set_clock +3600
begun=$(begun_count last)
start_faked
wait_for 20 has_begun last $((begun + 3))
wait_for 20 has_begun all 6 # every ten minutes
checks=$((checks + 3))
[ "$(entries last catch_up)" -gt 3000 ] || mismatch 'the hour is not on record'
[ "$(entries skip catch_up)" -gt 3000 ] || mismatch 'the hour is not on record'
[ "$(entries all catch_up)" -eq 0 ] || mismatch 'catch_up: all left ticks out'
run peal runs last --ledger -n 10000 -o json
expect_json 'map(select(.entry_id and .count > 3000)) | length' 1 # one entry for the whole hour

# ---- back by an hour while it is stopped: it is behind what the store has, and not believed ----

stop_peal
set_clock +0
begun=$(begun_count last)
start_faked
nap 2.5
checks=$((checks + 1))
[ "$(begun_count last)" -eq "$begun" ] || mismatch 'ticks ran again after the clock was set back'
run peal why last
expect_status 0

# ---- set right while it runs: it goes on at once ----

set_clock +3610
wait_for 30 has_begun last $((begun + 2))

# ---- an hour, and ten years, ahead for some seconds: nothing has happened ----

for jump in 7210 315363600; do
    set_clock +$jump
    nap 1.5 # what was begun before
    begun=$(begun_count last)
    nap 2
    checks=$((checks + 1))
    [ "$(begun_count last)" -eq "$begun" ] || mismatch "a jump to +$jump is believed at once"
    set_clock +3610
    wait_for 30 has_begun last $((begun + 3))
done
run peal list -o json
expect_json '[.. | .next_at? // empty | select(startswith("203"))] | length' 0 # not in ten years

# ---- every tick of these hours has its end ----

until=$(faked date -u +%Y-%m-%dT%H:%M:%SZ)
is_past() { # JOB: what was held up runs in order, so all before has ended
    peal runs "$1" -n 1 -o json | jq -e --arg t "$until" '.[0].tick > $t and .[0].state == "ok"'
}
wait_for 20 is_past last
wait_for 20 is_past skip
check_options=(--until "$until" --clock-was-set)
check_ledger

# ---- ten minutes back while it runs: rhythms go on, what has started does not start again ----
# Of what the hour has passed over, the store may remember that it has not: that starts at its time.

cat >"$scratch/rhythms.yaml" <<YAML
- {name: every, schedule: "@every 2s", command: [$append_run, $trace]}
- {name: after, schedule: "@after 1s", command: [$append_run, $trace]}
YAML
run peal apply -f "$scratch/rhythms.yaml"
expect_status 0
wait_for 20 has_begun every 2
wait_for 20 has_begun after 2
begun_twice() { awk '$1 == "begin" { print $2, $4, $5 }' "$trace" | sort | uniq -d; }
set_clock +3010
begun=$(begun_count last)
wait_for 20 has_begun every $(($(begun_count every) + 2))
wait_for 20 has_begun after $(($(begun_count after) + 2))
checks=$((checks + 2))
[ -z "$(begun_twice)" ] || mismatch 'ticks ran again after the clock was set back'
run peal runs last --ledger -n 10000 -o json
expect_json 'map(select(.entry_id and .reason == "clock")) | length' 1
run peal why last
expect_status 0

set_clock +3610 # where it was
wait_for 30 has_begun last $((begun + 3))
checks=$((checks + 1))
[ -z "$(begun_twice)" ] || mismatch 'a tick began twice'
stop_peal
check_logs
finish
