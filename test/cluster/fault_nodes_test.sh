#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# Nodes that are killed, or asleep for longer than they count as alive, one of them the leader; and
# one that sleeps through a compaction of etcd. Nothing begins twice, and all are well in the end.
. "$(dirname "$0")/lib.sh"

start_etcd 1
start_nodes a b c
end_in 48
{
    for i in {1..9}; do
        echo "tick-$i|* * * * * *|overlap: allow|50|0"
    done
    echo 'slow|*/3 * * * * *|overlap: skip|1500|0'
    echo 'line|*/2 * * * * *|overlap: {policy: queue, queue: 1000}|800|0'
    echo 'delay|@after 2s|overlap: skip|300|0'
} | apply a
wait_for 10 has_begun tick-1 3

# ---- the leader sleeps, right when it has claimed; another leads when it wakes up ----

first=$(leader)
echo "leader: $first"
until_ms_of_second 920
freeze "$first"
another_leads() {
    local now
    now=$(leader)
    [ -n "$now" ] && [ "$now" != "$first" ]
}
wait_for 12 another_leads
thaw "$first"
agrees_on_leader() { # NODE
    [ "$(on "$1" nodes -o json | jq -r '.[] | select(.leader).node')" = "$(leader)" ]
}
for node in a b c; do
    wait_for 10 agrees_on_leader $node
done

# ---- asleep in the middle of a second, for less than it counts as alive ----

other=$(leader)
until_ms_of_second 500
freeze "$other"
nap 2
thaw "$other"

# ---- killed, and while it is away etcd forgets what it knew ----

kill_agent b
nap 1
bring_back b

# ---- asleep while etcd is compacted: it has missed what nobody can tell it any more ----

until_ms_of_second 300
freeze c
wait_for 12 is_no_member c
revision=$(ctl get / -w json | jq .header.revision)
run ctl compact "$revision"
expect_status 0
on a pause tick-9 2>/dev/null
thaw c
wait_for 10 is_member c
knows_pause() { # NODE
    [ "$(on "$1" get tick-9 -o json | jq .status.paused)" = true ]
}
wait_for 10 knows_pause c
run on c resume tick-9
expect_status 0

check_cluster 60
finish
