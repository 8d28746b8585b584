#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# etcd loses its leader, then two of its three members for a while. Nothing begins without it, what
# runs goes on, and afterwards everything is well again by itself.
. "$(dirname "$0")/lib.sh"

start_etcd 3
start_nodes a b c
end_in 45
{
    for i in {1..6}; do
        echo "tick-$i|* * * * * *|overlap: allow|50|0"
    done
    echo 'long|*/10 * * * * *|overlap: skip|4000|0'
    echo 'line|*/2 * * * * *|overlap: {policy: queue, queue: 1000}|800|0'
} | apply c
wait_for 10 has_begun tick-1 3

begun_since() { # UNIX_MS
    awk -v since="$1" '$1 == "begin" && $7 > since { count++ } END { print count + 0 }' "$trace"
}
has_begun_since() { # UNIX_MS COUNT
    [ "$(begun_since "$1")" -ge "$2" ]
}

# ---- its leader is killed ----

member=$(etcd_leader)
goes_away etcd
tell_etcd kill "$member"
killed_ms=$(now_ms)
wait_for 12 has_begun_since $((killed_ms + 500)) 6
echo "runs again $(($(now_ms) - killed_ms)) ms after the leader of etcd was killed"
tell_etcd start "$member"
wait_for 20 etcd_is_well
is_back etcd

# ---- no quorum ----

goes_away etcd
tell_etcd stop 0
tell_etcd stop 1
lost_ms=$(now_ms)
for node in a b c; do
    wait_for 12 is_unwell $node # and says so
done
while [ "$(now_ms)" -lt $((lost_ms + 15000)) ]; do
    nap 0.5
done
begun=$(begun_since $((lost_ms + 6000))) # a begin is good for 5 s
checks=$((checks + 1))
[ "$begun" -eq 0 ] || mismatch "$begun runs began without a quorum"
tell_etcd cont 0
tell_etcd cont 1
back_ms=$(now_ms)
wait_for 15 has_begun_since "$back_ms" 6
echo "runs again $(($(now_ms) - back_ms)) ms after the quorum came back"
wait_for 20 etcd_is_well
is_back etcd

check_cluster 90
finish
