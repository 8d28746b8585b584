#!/bin/bash
# Two nodes on one etcd: the agent through which a job is renamed is killed at any moment, and the
# other one goes on. Every end of the job is followed once by each job that waits for it.
. "$(dirname "$0")/lib.sh"
etcd_start
count=70
mkdir "$scratch/ran"

start_agent b --node-id b --store "$etcd_url/test" --listen none
b=$PEAL_DATA
start_agent a --node-id a --store "$etcd_url/test" --listen none
a=$PEAL_DATA
run peal add fan-0 @manual -- true
expect_status 0
for name in $(seq -f 'd%02.0f' 1 $count); do
    printf 'name: %s\nafter: fan-0\nshell: echo . >> %s/ran/%s\n---\n' "$name" "$scratch" "$name"
done >"$scratch/fan.yaml"
run peal apply -f "$scratch/fan.yaml"
expect_status 0

# shellcheck disable=SC2317 # called by wait_until
all_have_run() { # TIMES
    [ "$(cat "$scratch"/ran/* 2>/dev/null | wc -l)" -ge $((count * $1)) ]
}

# shellcheck disable=SC2317 # called by wait_until
other_knows() { # JOB
    peal get "$1" --data "$b"
}

api() { # DATA PATH
    run curl -sS --unix-socket "$1/api.sock" "http://localhost/api/v1$2"
}

job=fan-0 between=0
for round in 1 2 3 4; do
    api "$a" /agent
    pid=$(jq .pid "$scratch/out")
    peal rename "$job" "fan-$round" --data "$a" >/dev/null 2>&1 &
    client=$!
    read -r -t "0.0$((round * 2))" <> <(:) # any moment will do
    kill -9 "$pid"
    wait $client
    run peal start -d --data "$a" --node-id a --store "$etcd_url/test" --listen none
    expect_status 0
    peal get "fan-$round" --data "$a" >/dev/null 2>&1 && job=fan-$round
    wait_until other_knows "$job"
    api "$b" "/jobs/$job/dependencies"
    expect_json '[.before[].job] | length' $count
    api "$b" '/jobs?limit=1000&fields=name,after'
    left=$(jq "[.items[] | select(.after != null and .after[0].job != \"$job\")] | length" "$scratch/out")
    [ "$left" = 0 ] || between=$((between + 1))
    run peal run "$job" --data "$b"
    expect_status 0
    wait_until all_have_run $round
done
echo "killed between the rename and the rewriting of all dependents: $between of 4"

# Completed through the other node; and no end was followed twice.
run peal rename "$job" fan --data "$b"
expect_status 0
api "$b" '/jobs?limit=1000&fields=name,after'
expect_json '[.items[] | select(.after) | .after[0].job] | unique' '["fan"]'
run peal run fan --data "$b"
wait_until all_have_run 5
for name in "$scratch"/ran/*; do
    run grep -c . "$name"
    expect_stdout 5
done

finish
