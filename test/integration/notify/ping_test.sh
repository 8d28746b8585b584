#!/bin/bash
# Pings of runs: in order, with ids and output, at the addresses that are allowed and no others; and
# the heartbeat of the leader.
# shellcheck source=test/integration/notify/lib.sh
. "$PEAL_SOURCE/test/integration/notify/lib.sh"
export PEAL_LISTEN=none
base=http://127.0.0.1:${ports[0]}

# shellcheck disable=SC2317 # called by wait_until
pings_are() { # PATTERN COUNT
    [ "$(grep -c "^ping $1" "$got")" -eq "$2" ]
}
# shellcheck disable=SC2317 # called by wait_until
metric_is() { # NAME VALUE
    [ "$(curl -fsS --unix-socket "$PEAL_DATA/api.sock" http://peal/metrics | sed -n "s/^$1 //p")" = "$2" ]
}
uuid_of() { # RUN: its id in hex, as a UUID; Crockford's base 32 of 128 bits
    python3 -c 'import sys, uuid
n = 0
for c in sys.argv[1]:
    n = n * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".index(c)
print(uuid.UUID(int=n))' "$1"
}

# An address on this machine is for operators to allow.
start_agent one --node-id one
receiver_start
run peal add bad @manual --ping 'ftp://x' -- true
expect_status 6
# shellcheck disable=SC2016 # for the job's shell
run peal add job @manual --ping "$base/secret-uuid?a=b" --shell 'echo "one $PEAL_RUN_ID"; echo two; exit $(cat '"$scratch/code"')'
expect_status 0
echo 0 >"$scratch/code"
run peal run job --wait
expect_status 0
wait_until metric_is peal_pings_given_up_total 2
run peal channel log '~ping' -o json
expect_json '[.[] | [.channel, .job, .state, (.answer | test("127.0.0.1 is a loopback address, which pings may reach only if http_allow"))]] | unique' \
    '[["~ping","job","given_up",true]]'
run cat "$scratch/log" "$PEAL_DATA/peal.log"
expect_stdout_has 'ping_given_up job=job of=success'
expect_stdout_lacks secret-uuid
run grep -c '^ping' "$got"
expect_stdout 0

# Allowed: the start, and the end with the output.
run peal stop
printf 'http_allow: 127.0.0.1\nheartbeat_url: %s/beat\nheartbeat_every: 1d\n' "$base" >"$scratch/peal.yaml"
run peal start -d --config "$scratch/peal.yaml" --node-id one
expect_status 0
wait_until pings_are '/beat $' 1
run peal run job --wait
expect_status 0
wait_until pings_are '/secret-uuid?a=b&rid=' 1
id=$(peal runs job -n 1 -o json | jq -r '.[0].run_id')
rid=$(uuid_of "$id")
run grep '^ping /secret' "$got"
expect_stdout "ping /secret-uuid/start?a=b&rid=$rid 
ping /secret-uuid?a=b&rid=$rid one $id|two"

# A failure with its exit code; one that is retried is told once; a kill is neither.
echo 7 >"$scratch/code"
run peal run job --wait
expect_status 10
wait_until pings_are '/secret-uuid/7?a=b&rid=' 1
run peal add again @manual --ping "$base/again" --retries 2 --retry-wait 0s -- false
run peal run again --wait
expect_status 10
wait_until pings_are '/again/1?' 1
run peal add slow @manual --ping "$base/slow" --timeout 1s -- sleep 60
run peal run slow --wait
expect_status 10
wait_until pings_are '/slow/fail?' 1
run peal add long @manual --ping "$base/long" -- sleep 60
run peal run long
wait_until pings_are '/long/start?' 1
run peal kill long
wait_until newest_is long killed

# A receiver that is away for a while gets the end, in time; one that refuses is asked once.
receiver_stop
echo 0 >"$scratch/code"
run peal run job --wait
expect_status 0
receiver_start
wait_until pings_are '/secret-uuid?a=b&rid=' 2
run peal add gone @manual --ping "$base/gone/" -- true
run peal run gone --wait
wait_until metric_is peal_pings_given_up_total 2
run grep -c '^ping /gone?' "$got"
expect_stdout 1
run grep -c '^ping /long' "$got"
expect_stdout 1
run grep -c '^ping /again/start?' "$got"
expect_stdout 3
metric_is peal_pings_waiting 0 || mismatch 'pings wait'

# Who can't define the job does not see where it pings.
run peal get job -o json
expect_json .ping "\"$base/secret-uuid?a=b\""
finish
