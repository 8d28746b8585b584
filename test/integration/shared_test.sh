#!/bin/bash
# Three agents of one machine on one shared SQLite file: each tick starts once, by the job's own
# file, while agents are killed and stopped.
. "$(dirname "$0")/lib.sh"
store=sqlite://$scratch/shared
ticks=$scratch/ticks

# shellcheck disable=SC2317 # wait_until calls these
all_take_runs() { # COUNT
    [ "$(peal nodes -o json | jq '[.[] | select(.state == "ready")] | length')" = "$1" ]
}
# shellcheck disable=SC2317
has_lines() { # FILE COUNT, at least
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}
more_ticks() { # COUNT
    wait_until has_lines "$ticks" $(($(wc -l <"$ticks") + $1))
}
start_node() { # NAME
    start_agent "$1" --node-id "$1" --store "$store"
}
agent_pid() { # NAME
    cat "$scratch/$1/peal.pid"
}

for node in a b c; do
    start_node $node
done
wait_until all_take_runs 3
run peal cluster status -o json
expect_json '[.store.kind, .store.ok, .nodes]' '["sqlite",true,{"ready":3}]'
expect_json '.store.url' "\"$store\""
expect_json '.leader | IN("a", "b", "c")' true

# An agent of its own does not get the folder, and is told by whom.
run peal start --data "$scratch/shared" --store sqlite
expect_status 4
expect_stderr_has "$(agent_pid a)"
run peal start --data "$scratch/d" --store "sqlite://$scratch/d"
expect_status 6
expect_stderr_has 'own data folder'
# A name is that of one node.
run peal start --data "$scratch/e" --node-id a --store "$store"
expect_stderr_has 'node id a is in use by another program'

# A job every second, which any of them may run.
# shellcheck disable=SC2016 # for the job
run peal add tick '* * * * * *' --shell 'echo "$PEAL_TICK" >>'"'$ticks'"
expect_status 0
wait_until has_lines "$ticks" 3

# The one that runs it dies; the others know at once, and go on.
first=$(peal runs tick -n 1 -o json | jq -r '.[0].node')
victim=$(agent_pid "$first")
kill -9 "$victim"
for node in a b c; do
    [ $node = "$first" ] || export PEAL_DATA=$scratch/$node
done
wait_until all_take_runs 2
more_ticks 3
start_node "$first"
wait_until all_take_runs 3

# One is stopped for a while; what it had claimed is taken over.
for round in 1 2 3; do
    victim=$(agent_pid c)
    kill -STOP "$victim"
    export PEAL_DATA=$scratch/a
    [ $round = 3 ] || more_ticks 2
    kill -CONT "$victim"
    more_ticks 2
done

# Runs of all are seen from each.
# shellcheck disable=SC2317 # wait_until calls it
several_ran() {
    [ "$(peal runs tick -n 1000 -o json | jq '[.[] | .node] | unique | length')" -gt 1 ]
}
wait_until several_ran

# The leader dies, with its spawner.
leader=$(peal cluster status -o json | jq -r .leader)
for word in "--dir $scratch/$leader/" "$scratch/$leader"; do
    processes_with "$word" | xargs -r kill -9 2>/dev/null
done
for node in a b c; do
    [ $node = "$leader" ] || export PEAL_DATA=$scratch/$node
done
wait_until all_take_runs 2
more_ticks 3
run peal pause tick
expect_status 0

# No tick twice; and a tick without a line is on record with another end than ok.
run sh -c "sort '$ticks' | uniq -d"
expect_stdout ''
first=$(sort "$ticks" | head -n 1) last=$(sort "$ticks" | tail -n 1)
for ((at = $(date -d "$first" +%s); at <= $(date -d "$last" +%s); at++)); do
    date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ
done | comm -23 - <(sort "$ticks") >"$scratch/missing"
while read -r tick; do
    run peal runs tick -n 1000 --ledger -o json
    expect_json "[.[] | select(.from <= \"$tick\" and .to >= \"$tick\")] | length" 1
done < <(comm -23 "$scratch/missing" <(peal runs tick -n 1000 -o json | jq -r \
    '.[] | select(.state | IN("lost", "missed", "skipped", "failed")) | .tick' | sort))

finish
