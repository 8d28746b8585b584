#!/bin/bash
# Messages arrive, whatever happens: a receiver that is away, an agent that is killed, a receiver that
# hangs; and nothing else waits for them.
# shellcheck source=test/integration/notify/lib.sh
. "$PEAL_SOURCE/test/integration/notify/lib.sh"

export PEAL_LISTEN=none
cat >"$scratch/peal.yaml" <<EOF
public_url: https://peal.example.com/
EOF
start_agent one --config "$scratch/peal.yaml"
run peal channel set ops --type webhook --hook "$hook"
expect_status 0
run peal add bad @manual --notify ops --shell "test -e '$scratch/well' || { echo 'disk <full>'; exit 3; }"
expect_status 0

# The receiver is away, and the agent is killed before anybody was told.
run peal run bad --wait
expect_status 10
wait_until waiting_is ops 1
kill -9 "$(cat "$PEAL_DATA/peal.pid")"
receiver_start
start_agent one --config "$scratch/peal.yaml"
wait_until got_is failure bad 1
wait_until waiting_is ops 0
run cut -d ' ' -f 4- "$got"
id=$(peal runs bad -n 1 -o json | jq -r '.[0].run_id')
expect_json '[.id, .state, .reason, .exit_code, .output, .link]' \
    "[\"$id-failure-ops\",\"failed\",\"exit_code\",3,\"disk <full>\",\"https://peal.example.com/#/runs/$id\"]"

# It is well again, which is told once; and what is well is not told.
touch "$scratch/well"
run peal run bad --wait
expect_status 0
wait_until got_is recovery bad 1
run peal run bad --wait
expect_status 0

# A receiver that hangs: ticks start as ever, and what it missed comes when it is awake again.
run peal add beat '@every 1s' --shell 'exit 0'
expect_status 0
rm "$scratch/well"
kill -STOP "$receiver_pid"
for _ in 1 2 3; do
    run peal run bad --wait
    expect_status 10
done
wait_until test "$(peal channel show ops -o json | jq .delivery.waiting)" -ge 3
before=$(peal runs beat -n 1000 -o json | jq 'map(select(.state == "ok")) | length')
# shellcheck disable=SC2317 # called by wait_until
more_beats() {
    [ "$(peal runs beat -n 1000 -o json | jq 'map(select(.state == "ok")) | length')" -ge $((before + 4)) ]
}
wait_until more_beats
run peal runs beat -n 1000 --ledger -o json
expect_json '[.[] | select(.state == "missed" or .state == "lost")] | length' 0
kill -CONT "$receiver_pid"
wait_until got_is failure bad 4
run peal channel show ops -o json
expect_json .delivery.given_up 0
run grep -c '"event":"recovery"' "$got"
expect_stdout 1

# One that a person has killed is no failure; a channel that hears of all needs no name.
run peal channel set ops --default --on failure,success
expect_status 0
run peal add long @manual --shell 'sleep 60'
expect_status 0
run peal run long
expect_status 0
wait_until newest_is long running
run peal kill long
wait_until newest_is long killed
run peal add fine @manual -- true
expect_status 0
run peal run fine --wait
wait_until got_is success fine 1
run got_count failure long
expect_stdout 0

# Many at once, for people: five go alone, the others are one message; none is lost.
run peal channel set room --type slack --hook "$hook"
expect_status 0
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    run peal add "many/$i" @manual --notify room -- false
    expect_status 0
done
run peal run many/1 --wait
for i in 2 3 4 5 6 7 8 9 10 11 12; do
    run peal run "many/$i"
done
# shellcheck disable=SC2317 # called by wait_until
room_is() { # PATTERN COUNT
    [ "$(grep -c "\"text\":\"$1" "$got")" -eq "$2" ]
}
wait_until room_is '.many/[0-9]* failed: exit code 1' 5
wait_until room_is '.7 more messages: 7 failed.*Jobs: many/' 1
run peal channel show room -o json
expect_json '[.delivery.sent, .delivery.waiting, .delivery.given_up]' '[6,0,0]'
finish
