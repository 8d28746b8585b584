#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# The overlap rules hold between nodes: a run on one is in the way of a tick on another.
. "$(dirname "$0")/lib.sh"

start_etcd 3
start_nodes a b c
end_in 13
apply b <<'TABLE'
skip|* * * * * *|overlap: skip|2500|0
queue|*/2 * * * * *|overlap: {policy: queue, queue: 100}|2300|0
replace|*/3 * * * * *|overlap: replace, grace: 1s|20000|0
delay|@after 1s|overlap: skip|700|0
beside|*/2 * * * * *|overlap: allow|3000|0
TABLE

# The node that goes first for a job is taken out while it runs: the next one meets its runs.
for job in skip replace; do
    wait_for 10 has_begun $job
    first=$(node_of $job)
    run on "$first" drain "$first"
    expect_status 0
    wait_for 10 has_begun $job $(($(begun_count $job) + 1))
    checks=$((checks + 1))
    [ "$(node_of $job)" != "$first" ] || mismatch "$job began on $first, which is drained"
    run on "$first" undrain "$first"
    expect_status 0
done
check_cluster 40

# What waits in line may be taken by any node, in the order of its ticks.
run awk '$1 == "begin" && $2 == "queue" { print $4 }' "$trace"
cp "$scratch/out" "$scratch/order"
run sort -c "$scratch/order"
expect_status 0
checks=$((checks + 1))
[ "$(awk '$1 == "begin" && $2 == "queue" { print $8 }' "$trace" | sort -u | wc -l)" -ge 2 ] ||
    echo 'note: all runs that waited were taken by one node'
finish
