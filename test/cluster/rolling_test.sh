#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# An upgrade of a cluster, node by node, while jobs run; and the return of all of them after a time
# in which nobody was there.
. "$(dirname "$0")/lib.sh"

start_etcd 1
start_node api --role api
start_nodes a b c
end_in 25
{
    for i in {1..6}; do
        echo "tick-$i|* * * * * *|overlap: allow|50|0"
    done
    echo 'long-1|@manual||9000|0'
    echo 'long-2|@manual||9000|5'
    echo 'long-3|@manual||9000|0'
    echo 'held|* * * * * *|overlap: skip|7000|0'
    echo 'all|* * * * * *|catch_up: all|10|0'
    echo 'last|* * * * * *|catch_up: last|10|0'
    echo 'none|* * * * * *|catch_up: skip|10|0'
} | apply api
for job in long-1 long-2 long-3; do
    run on api run $job
    expect_status 0
    wait_for 10 has_begun $job
done

# ---- one after the other; each is a member again before the next one goes ----

for node in api a b c; do
    goes_away $node
    options=(--listen none)
    [ $node != api ] || options+=(--role api)
    run on $node restart "${options[@]}"
    expect_status 0
    wait_for 20 is_member $node
    is_back $node
done

# ---- a restart that takes its time: no tick starts beside what runs on meanwhile ----

runs_freshly() { # JOB: its newest run began within the last second
    local begun_ms
    begun_ms=$(awk -v job="$1" '$1 == "begin" && $2 == job { at = $7 } END { print at + 0 }' "$trace")
    [ $(($(now_ms) - begun_ms)) -lt 1000 ]
}
wait_for 15 runs_freshly held
node=$(node_of held)
begun=$(begun_count held)
goes_away "$node"
stop_node "$node"
nap 2.5
checks=$((checks + 1))
[ "$(begun_count held)" -eq "$begun" ] || mismatch 'a tick began beside a run of an agent that restarts'
bring_back "$node"
wait_for 20 is_member "$node"

for job in long-1 long-2 long-3; do
    wait_for 20 grep -q "^end $job " "$trace"
done
ended() { # NODE JOB STATE EXIT_CODE
    on "$1" runs "$2" -o json | jq -e --arg state "$3" --argjson code "$4" \
        'length == 1 and .[0].state == $state and .[0].exit_code == $code'
}
wait_for 10 ended "$(node_of long-1)" long-1 ok 0
wait_for 10 ended "$(node_of long-2)" long-2 failed 5
wait_for 10 ended "$(node_of long-3)" long-3 ok 0
run on "$(node_of long-2)" logs long-2
expect_stdout $'begin\nend'

# ---- nobody is there for the last ticks, and until they don't count as on time any more ----

goes_away etcd # everything
for node in a b c; do
    stop_node $node
done
nap $(($(date -d "$end" +%s) + 31 - $(date +%s)))
for node in c a b; do
    start_node $node
done
is_back etcd
check_cluster 60
caught_up() { # JOB
    jq -c --arg job "$1" '[.[] | select(.job == $job and .cause == "catch_up")] | length' \
        "$scratch/runs.json"
}
echo "caught up: all $(caught_up all), last $(caught_up last), none $(caught_up none)"
checks=$((checks + 3))
[ "$(caught_up all)" -ge 2 ] || mismatch 'catch_up: all made nothing good'
[ "$(caught_up last)" -eq 1 ] || mismatch 'catch_up: last did not run once'
[ "$(caught_up none)" -eq 0 ] || mismatch 'catch_up: skip ran'
finish
