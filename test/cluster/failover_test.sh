#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# A node dies: its ticks start elsewhere within a second, what it had claimed is taken over, and
# what it had begun is lost, until it comes back and knows better.
. "$(dirname "$0")/lib.sh"

start_etcd 1
for node in a b c; do
    start_node $node --label "name=$node"
done
for node in a b c; do
    wait_for 20 is_member $node
done
end_in 36
{
    for i in {1..12}; do
        echo "tick-$i|* * * * * *|overlap: allow|50|0"
    done
    echo 'held|@manual|where: name=a|60000|0'
    echo "kept|@manual|where: name=b|$scratch/may-end|0"
} | apply c
for job in held kept; do
    run on c run $job
    expect_status 0
    wait_for 5 has_begun $job
done
wait_for 10 has_begun tick-1 3

# What is known of a job's newest run on a node: "state reason".
end_of() { # NODE JOB
    on "$1" runs "$2" -n 1 -o json | jq -r '.[0] | "\(.state) \(.reason)"'
}
is_on_record() { # NODE JOB STATE REASON
    [ "$(end_of "$1" "$2")" = "$3 $4" ]
}

# Milliseconds by which the ticks since then began late, the latest last.
lateness_since() { # UNIX_MS
    awk -v since="$1" '$1 == "begin" && $2 ~ /^tick-/ && $7 >= since {
        split($4, part, /[-:TZ]/)
        at = mktime(part[1] " " part[2] " " part[3] " " part[4] " " part[5] " " part[6]) * 1000
        if (at >= since) print $7 - at
    }' "$trace" | sort -n
}

# ---- a machine dies in the middle of a second ----

# A lease like a node's, which nobody keeps: how long a TTL is on this machine.
lease_is_gone() { # ID
    ctl lease timetolive "$1" | grep -q 'already expired'
}

start_bare
until_ms_of_second 400
died_ms=$(now_ms)
kill_machine a
lease=$(ctl lease grant 5 | awk '{ print $2 }')
wait_for 8 is_on_record b held lost node_died
lost_after_ms=$(($(now_ms) - died_ms))
wait_for 8 lease_is_gone "$lease"
gone_after_ms=$(($(now_ms) - died_ms))
echo "lost after $lost_after_ms ms, a lease is gone after $gone_after_ms ms"
wait_for 8 is_on_record c held lost node_died
end_bare
latest=$(lateness_since "$died_ms" | tail -n 1)
echo "$(lateness_since "$died_ms" | wc -l) ticks since, the latest by $latest ms;" \
    "a bare client waited for $gap_ms ms"
checks=$((checks + 2))
[ "$latest" -le $((1000 + gap_ms)) ] || mismatch "a tick began $latest ms late"
[ "$lost_after_ms" -le $((2 * gone_after_ms)) ] || mismatch "lost after $lost_after_ms ms"

# ---- it comes back, and gets its share again ----

bring_back a --label name=a
back_ms=$(now_ms)
shares_again() {
    begun_on a | awk -v since="$back_ms" '$7 > since { found = 1 } END { exit !found }'
}
wait_for 10 shares_again

# ---- an agent dies between claim and begin: another one takes over ----

# Claims go out a tenth of a second ahead, half a second at most. This one's are waiting for an etcd
# that sleeps; when that wakes up, the agent can't hear of it any more.
taken_over() { # ticks that began later than their node's begin would have: by 300 ms per rank
    lateness_since "$died_ms" | awk '$1 > 250 { count++ } END { print count + 0; exit !count }'
}
agent=$(agent_of b)
goes_away b
until_ms_of_second 450
tell_etcd stop 0
until_ms_of_second 960
kill -STOP "$agent"
tell_etcd cont 0
until_ms_of_second 200
kill_hard "$agent"
wait_for 10 taken_over
latest=$(lateness_since "$died_ms" | tail -n 1)
echo "$(taken_over) ticks were taken over, the latest $latest ms late; no lease was waited for"
checks=$((checks + 1))
[ "$latest" -lt 5000 ] || mismatch "a tick that was only claimed began $latest ms late"

# ---- what went on without its agent is not lost for good ----

wait_for 10 is_on_record c kept lost node_died
: >"$scratch/may-end"
wait_for 20 grep -q '^end kept ' "$trace"
bring_back b --label name=b
wait_for 10 is_on_record b kept ok null
check_cluster 40
run jq -c 'map(select(.state == "missed" or .state == "skipped"))' "$scratch/runs.json"
expect_stdout '[]'
finish
