#!/bin/bash
# The outputs of short calls, which share files, over deaths of the agent and of peal-call: what was
# complete is not lost, and nothing is shown of another run.
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
start_server
start_agent data --listen none --config "$scratch/peal.yaml"
jobs=24

caller() {
    processes_with "--dir $scratch/data/spawn/../call" | head -n 1
}
begin_agent() {
    run peal start -d --listen none --config "$scratch/peal.yaml"
    expect_status 0
}
# shellcheck disable=SC2317 # called by wait_until
all_ended() {
    [ "$(peal runs -n 1000 -o json | jq '[.[] | select(.state == "running" or .state == "waiting")] | length')" = 0 ]
}
# shellcheck disable=SC2317
has_grown() {
    [ "$(wc -l <"$scratch/requests")" -ge $((before + jobs / 4)) ]
}
run_all() {
    local i
    for i in $(seq $jobs); do
        peal run "e$i" >/dev/null 2>&1
    done
}

for i in $(seq $jobs); do
    # shellcheck disable=SC2016 # expanded by the agent
    printf -- '---\nname: e%s\nschedule: "@manual"\nhttp: {url: "%s/echo?run=${PEAL_RUN_ID}"}\n' "$i" "$at"
done | sed 1d | apply
expect_status 0
run_all
wait_until all_ended

# ---- deaths in the middle of a burst ----
for victim in agent caller both; do
    before=$(wc -l <"$scratch/requests")
    run_all &
    burst=$!
    wait_until has_grown
    # shellcheck disable=SC2046
    case $victim in
        agent) kill -9 "$(peal state -o json | jq .pid)" ;;
        caller) kill -9 $(caller) ;;
        both) kill -9 $(caller) "$(peal state -o json | jq .pid)" ;;
    esac
    [ $victim = caller ] || begin_agent
    wait "$burst"
    wait_until all_ended
done

# Every answer that was complete is there, once, and of nobody else.
peal runs -n 1000 -o json | jq -r '.[] | .id + " " + .state' >"$scratch/ends"
run grep -c ' ok$' "$scratch/ends"
expect_status 0
wrong=
while read -r id state; do
    peal logs "$id" 2>/dev/null | grep -o 'run=[0-9a-zA-Z-]*' >"$scratch/shown"
    case $state in
        ok) [ "$(cat "$scratch/shown")" = "run=$id" ] || wrong="$wrong $id" ;;
        *) grep -qv "^run=$id\$" "$scratch/shown" && wrong="$wrong $id" ;;
    esac
done <"$scratch/ends"
run echo "$wrong"
expect_stdout ''

# Nothing is left of them but the pack that is appended to.
# shellcheck disable=SC2317
has_packs() {
    [ "$(find "$scratch/data/call/out" -type f | wc -l)" -le 1 ]
}
wait_until has_packs

# ---- killed between the pack and the journal ----
# The journal is put back to when the call was under way; its output is in a pack already.
run peal add between @manual --http "$at/hold/between" --timeout 10m
expect_status 0
run peal run between
wait_until grep -qx 'GET /hold/between' "$scratch/requests"
run peal stop
cp "$scratch/data/call/journal" "$scratch/journal"
packed() {
    cat "$scratch/data/call/out/pack/"* | grep -ac held
}
# shellcheck disable=SC2317
is_packed() {
    [ "$(packed)" -gt "$were" ]
}
were=$(packed)
touch "$scratch/between"
wait_until is_packed
kill -9 "$(caller)"
cat "$scratch/journal" >"$scratch/data/call/journal"
begin_agent
# shellcheck disable=SC2317
is_lost() {
    [ "$(peal runs between -o json | jq -r '.[0].state')" = lost ]
}
wait_until is_lost
run peal logs between
expect_stdout_has held
expect_stderr_has 'peal-call was killed while this call was under way'
expect_requests /hold/between 1

finish
