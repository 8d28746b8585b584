#!/bin/bash
# HTTP calls over restarts and deaths of the agent and of peal-call: each request is sent once.
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
start_server
start_agent data --listen none --config "$scratch/peal.yaml"

# shellcheck disable=SC2317 # called by wait_until
has_request() { # PATH
    grep -qx "GET $1" "$scratch/requests"
}
# shellcheck disable=SC2317
state_is() { # JOB STATE
    [ "$(peal runs "$1" -o json | jq -r '.[0].state')" = "$2" ]
}
hold() { # NAME
    run peal add "$1" @manual --http "$at/hold/$1" --timeout 10m
    expect_status 0
    run peal run "$1"
    wait_until has_request "/hold/$1"
}
caller() {
    peal doctor -o json >/dev/null 2>&1
    processes_with "--dir $scratch/data/spawn/../call" | head -n 1
}

# ---- the agent stops and starts, or is killed ----
hold restarted
run peal restart --config "$scratch/peal.yaml"
expect_status 0
touch "$scratch/restarted"
wait_until state_is restarted ok
expect_requests /hold/restarted 1
run peal logs restarted
expect_stdout_has held

hold killed
kill -9 "$(peal state -o json | jq .pid)"
touch "$scratch/killed"
run peal start -d --listen none --config "$scratch/peal.yaml"
expect_status 0
wait_until state_is killed ok
expect_requests /hold/killed 1

# While the agent is away the call ends; the next one hears of it.
hold alone
run peal stop
touch "$scratch/alone"
run peal start -d --listen none --config "$scratch/peal.yaml"
expect_status 0
wait_until state_is alone ok
expect_requests /hold/alone 1

# ---- peal-call is confined ----
run sed -n 's/^NoNewPrivs:[[:space:]]*//p' "/proc/$(caller)/status"
expect_stdout 1
if grep -q '^Seccomp_filters:' /proc/self/status; then
    run sed -n 's/^Seccomp:[[:space:]]*//p' "/proc/$(caller)/status"
    expect_stdout 2
fi

# ---- peal-call is killed ----
hold lost
first=$(caller)
kill -9 "$first"
wait_until state_is lost lost
run peal runs lost -o json
expect_json '.[0].reason' '"spawner_died"'
expect_json '.[0].detail' '"the call was under way when peal-call was killed"'
touch "$scratch/lost"
expect_requests /hold/lost 1
run peal add after @manual --http "$at/status/200"
run peal run after --wait
expect_status 0
run test "$(caller)" != "$first"
expect_status 0

# Both at once.
hold both
kill -9 "$(caller)" "$(peal state -o json | jq .pid)"
run peal start -d --listen none --config "$scratch/peal.yaml"
expect_status 0
wait_until state_is both lost
touch "$scratch/both"
expect_requests /hold/both 1

# A kill that comes while peal-call is away finds the call lost, and programs go on meanwhile.
run peal add program @manual -- true
run peal run program --wait
expect_status 0

# ---- a spawner that is killed takes nothing of a call with it ----
hold beside
for pid in $(processes_with "--dir $scratch/data/spawn "); do
    if grep -qz -e --lock "/proc/$pid/cmdline"; then # neither the guard nor the launcher
        kill -9 "$pid"
    fi
done
run peal run program --wait
expect_status 0
touch "$scratch/beside"
wait_until state_is beside ok
expect_requests /hold/beside 1

finish
