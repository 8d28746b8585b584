#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# Three nodes share the jobs, about evenly; each tick runs once, on time, and what one node is told
# all of them know.
. "$(dirname "$0")/lib.sh"

start_etcd 3
start_nodes a b c
end_in 9
for i in {1..40}; do
    echo "share-$i|* * * * * *|overlap: allow|50|0"
done | apply b

# Every node knows every job, with the same revision.
on b list -o json | jq -S 'map({name, uid, revision})' >"$scratch/of-b"
same_jobs() { # NODE
    on "$1" list -o json | jq -S 'map({name, uid, revision})' | cmp - "$scratch/of-b"
}
wait_for 5 same_jobs a
wait_for 5 same_jobs c

check_cluster 30
total=$(grep -c '^begin ' "$trace")
for node in a b c; do
    count=$(begun_on "$node" | wc -l)
    echo "$node: $count of $total runs"
    checks=$((checks + 1))
    # With even chances, less than 3 or more than 26 of 40 jobs happen once in ten thousand times.
    ((count * 40 >= total * 3 && count * 40 <= total * 26)) || mismatch "$node had $count of $total"
done
finish
