#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# Any node takes any order: kill, run now, drain. Jobs go where their labels lead, two clusters share
# one etcd, and a node's name has one owner.
. "$(dirname "$0")/lib.sh"

start_etcd 1
start_node api --role api
start_node a --role worker --label zone=eu --label disk=ssd
start_node b --role worker --label zone=us
for node in api a b; do
    wait_for 20 is_member $node
done
end_in 60
apply api <<TABLE
eu|@manual|where: zone=eu|60000|0
us|@manual|where: 'zone=us,!disk'|60000|0
quick|@manual|overlap: allow|10|0
mars|@manual|where: zone=mars|10|0
nowhere|@at $(date -u -d '3 seconds' +%Y-%m-%dT%H:%M:%SZ)|where: zone=mars|10|0
second|* * * * * *||10|0
TABLE

# ---- run now, asked of a node that runs nothing; where ----

run on api run quick --wait
expect_status 0
run on a run us
expect_status 0
run on api run eu
expect_status 0
wait_for 5 has_begun_on a eu
wait_for 5 has_begun_on b us
run begun_on api
expect_stdout ''
wait_for 5 has_state api eu begun # what a node runs all of them know
wait_for 5 has_state a us begun
wait_for 5 has_state a eu running

# ---- killed from elsewhere, within a second ----

kill_from() { # NODE JOB OWNER
    local asked_ms ended_ms
    start_bare
    asked_ms=$(now_ms)
    run on "$1" kill "$2"
    expect_status 0
    local took_ms=$(($(now_ms) - asked_ms)) # what the command takes to start, too
    wait_for 5 has_state "$3" "$2" killed || { end_bare; return; }
    ended_ms=$(on "$3" runs "$2" -n 1 -o json |
        jq '.[0].finished_at | (.[0:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber)')
    end_bare
    echo "$2 ended $((ended_ms - asked_ms)) ms after the order, which took $took_ms ms;" \
        "a bare client waited for $gap_ms ms"
    checks=$((checks + 1))
    [ $((ended_ms - asked_ms)) -le $((1000 + took_ms + gap_ms)) ] || mismatch "$2 ended $((ended_ms - asked_ms)) ms later"
}
kill_from api eu a
kill_from a us b

# ---- drained: others take over; what runs goes on ----

run on b run eu
expect_status 0
wait_for 5 has_begun eu 2
run on b drain a
expect_status 0
wait_for 5 node_is a draining api
until_ms_of_second 500
before=$(begun_on a second | wc -l)
wait_for 5 has_begun_on b second $(($(begun_on b second | wc -l) + 3))
run begun_on a second
checks=$((checks + 1))
[ "$(begun_on a second | wc -l)" = "$before" ] || mismatch 'a drained node began something'
run on a state # the drained agent is up, its run goes on, and nothing new can start
expect_status 8
kill_from b eu a
wait_for 5 node_is a drained b
stop_node a # a drain holds while the node is away
start_node a --role worker --label zone=eu --label disk=ssd
wait_for 10 node_is a drained api
run on api undrain a
expect_status 0
wait_for 5 node_is a ready b
run on b drain b
expect_status 0
wait_for 10 has_begun_on a second $((before + 2))
run on b undrain b
expect_status 0

# ---- a node's name has one owner ----

run peal start -d --data "$scratch/twin" --store "etcd://$endpoints$prefix" --node-id b \
    --listen none
expect_status 4
expect_stderr_has 'another agent'
expect_stderr_lacks 'peal started'
run peal state --data "$scratch/twin"
expect_status 3
wait_for 5 node_is b ready api # the one that was there before

# Also when etcd goes away while it waits: nobody can tell that the name is free.
refuse_without_etcd() {
    PEAL_DATA=$scratch/twin peal start -d --store "etcd://$endpoints$prefix" --node-id b --listen none &
    local start=$!
    nap 3
    goes_away etcd
    tell_etcd stop 0
    wait "$start"
    local code=$?
    tell_etcd cont 0
    is_back etcd
    return "$code"
}
run refuse_without_etcd
expect_status 4
expect_stderr_has 'in use by another agent'
expect_stderr_lacks 'peal started'
run peal state --data "$scratch/twin"
expect_status 3
wait_for 15 node_is b ready api

# ---- another cluster in the same etcd ----

prefix=/other start_node x
run on x list -o json
expect_json length 0
run on x add alien @manual -- "$append_run" "$trace"
expect_status 0
run on x run alien --wait
expect_status 0
expect_only_on() { # NODE JOB
    run awk -v job="$2" '$1 == "begin" && $2 == job { print $8 }' "$trace"
    expect_stdout "$1"
}
expect_only_on x alien
run on api get alien
expect_status 3
run on x nodes -o json
expect_json 'map(.node)' '["x"]'
stop_node x
nodes=(api a b)

# ---- ticks of a job that no node may run are missed, with the reason; so are runs ----

id=$(on a run mars)
run on b why mars
expect_status 0
expect_stdout_has 'no node has the labels of its where: zone=mars'
run on a list
expect_status 0
checks=$((checks + 1))
grep -q '^mars .*warning' "$scratch/out" || mismatch "mars has no warning"
run curl -s --unix-socket "$scratch/a/api.sock" 'http://localhost/api/v1/jobs?status=warning'
expect_json '.items | map(select(.name == "mars") | .status.warning | [.reason, .detail, (.since | type)])' '[["no_node","no node that takes runs has the labels of its where: zone=mars","string"]]'
run timeout 60 "${PEAL_BIN:-$source_dir/build/asan/bin}/peal" run mars --wait --data "$scratch/api"
expect_status 4 # the first one still waits
mars_is_missed() { # NODE
    on "$1" runs mars -o json | jq -e --arg id "$id" 'any(.[]; .run_id == $id and
        .state == "missed" and .reason == "no_node" and (.detail | contains("zone=mars")))'
}
is_missed_somewhere() { mars_is_missed a || mars_is_missed b; }
wait_for 45 is_missed_somewhere

nowhere_is_on_record() {
    { on a runs nowhere --ledger -o json && on b runs nowhere --ledger -o json; } |
        jq -es 'add | any(.[]; .state == "missed" and .reason == "no_node")'
}
wait_for 45 nowhere_is_on_record

# ---- nothing was lost or doubled ----

sed -i '/^[a-z]* alien /d' "$trace" # another cluster's
check_cluster 60
finish
