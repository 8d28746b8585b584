#!/bin/bash
# shellcheck disable=SC2317 # functions that are called by name
# The processes of a tick are made up to 50 ms ahead of it and held before their exec. In that moment
# the clock is set, the agent and its spawner are killed or stopped, runs are killed and the node is
# drained: nothing begins twice, every run has its end, and every job goes on.
#
# fake_clock.c gives agent and spawner another wall clock and leaves the boot clock alone, as a real
# step does.
. "$(dirname "$0")/lib.sh"

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

# The clock is set by whole seconds, so that those of the agent begin with the machine's.
wait_until_held() { # MS before the next second
    local ms=$((2000 - $(now_ms) % 1000 - $1))
    nap "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

nothing() { :; }
clock_back() { set_clock -30; }
clock_ahead() { set_clock +0; }
kill_agent() {
    kill_hard "$(agent_pid)"
    start_faked
}
kill_spawner() { kill -9 "$spawner"; }
kill_both() {
    kill -9 "$spawner" "$(agent_pid)"
    wait_for 10 is_gone "$spawner"
    start_faked
}
upgrade_spawner() { kill -HUP "$spawner"; }
stop_spawner() { # over the tick
    kill -STOP "$spawner"
    nap 0.2
    kill -CONT "$spawner"
}
kill_run() { peal kill second >/dev/null 2>&1; } # if there is one at this moment
drain() {
    run peal drain "$node"
    expect_status 0
    run peal undrain "$node"
    expect_status 0
}
stop_agent() {
    stop_peal
    start_faked
}

start_faked
cat >"$scratch/jobs.yaml" <<YAML
- {name: second, schedule: "* * * * * *", overlap: allow, catch_up: skip, command: [$append_run, $trace]}
- {name: every, schedule: "@every 1s", catch_up: skip, command: [$append_run, $trace]}
- {name: after, schedule: "@after 1s", command: [$append_run, $trace]}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
wait_for 10 has_begun every 2
node=$(peal nodes -o json | jq -r ".[0].node")

for trouble in nothing clock_back clock_ahead kill_agent kill_spawner kill_both upgrade_spawner \
    stop_spawner kill_run drain stop_agent; do
    spawner=$(spawner_pid)
    wait_until_held 20
    [ -z "${PEAL_VERBOSE:-}" ] || echo "$(date +%T.%N | cut -c 1-12) $trouble"
    $trouble
    wait_for 20 has_begun every $(($(begun_count every) + 1))
    wait_for 20 has_begun after $(($(begun_count after) + 1))
done
set_clock +0
wait_for 40 has_begun second $(($(begun_count second) + 2))

# ---- all that was begun has ended, and nothing began twice ----

run peal pause second
run peal pause every
run peal pause after
have_ended() {
    peal runs -n 100000 -o json |
        jq -e 'all(.[].state; IN("ok", "failed", "killed", "lost", "missed", "skipped"))'
}
wait_for 20 have_ended
checks=$((checks + 1))
begun_twice() { awk '$1 == "begin" { print $2, $4, $5 }' "$trace" | sort | uniq -d; }
[ -z "$(begun_twice)" ] || mismatch 'a tick began twice'
run awk '$1 == "begin" { print $3 }' "$trace"
sort <"$scratch/out" >"$scratch/began"
peal runs -n 100000 -o json |
    jq -r '.[] | select(.state | IN("missed", "skipped") | not) | .run_id' | sort >"$scratch/on_record"
run comm -23 "$scratch/began" "$scratch/on_record"
expect_stdout '' # all that began is on record as such
stop_peal
check_logs
finish
