#!/bin/bash
# Three nodes on one etcd, and which of them goes first: a sticky job stays on its node, moves when
# that is killed, and does not move back; jobs that go by the load keep away from a full node.
. "$(dirname "$0")/nodes.sh"
node_options=(--capacity 1)
start_nodes
log=$scratch/log

run peal add bad @manual --place nearest -- true
expect_status 6
expect_stderr_has 'sticky'
cat >"$scratch/jobs.yaml" <<YAML
name: stays
schedule: "* * * * * *"
shell: echo "\$PEAL_TICK \$PEAL_NODE" >>$log
place: sticky
overlap: allow
---
name: asked
schedule: "@manual"
shell: echo "\$PEAL_NODE" >>$log.asked
place: sticky
---
name: fails
schedule: "@manual"
shell: echo "\$PEAL_NODE" >>$log.fails; false
place: sticky
retries: {count: 2, wait: 0s}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal get stays -o yaml
expect_stdout_has 'place: sticky'

# shellcheck disable=SC2317 # run calls it
nodes_of_ticks() { # the nodes since the log was emptied, in their order
    cut -d' ' -f2 "$log" | uniq | tr '\n' ' '
}

# shellcheck disable=SC2317 # wait_until calls it
is_elsewhere() { # NODE
    [ "$(tail -n 1 "$log" | cut -d' ' -f2)" != "$1" ]
}

# It stays over many ticks; it moves when its machine is killed, and not back when that returns.
wait_until has_lines "$log" 8
first=$(tail -n 1 "$log" | cut -d' ' -f2)
run nodes_of_ticks
expect_stdout "$first "
kill_machine "$first"
wait_until is_elsewhere "$first"
second=$(tail -n 1 "$log" | cut -d' ' -f2)
start_node "$first"
wait_until all_take_runs 3
count=$(wc -l <"$log")
wait_until has_lines "$log" $((count + 6))
run nodes_of_ticks
expect_stdout "$first $second "

# Nor when all agents are started again: the store knows it.
for node in a b c; do
    export PEAL_DATA=$scratch/$node
    run peal restart
    expect_status 0
done
wait_until all_take_runs 3
# shellcheck disable=SC2317 # wait_until calls it
has_settled() { # the last ticks are all of one node
    [ "$(tail -n 4 "$log" | cut -d' ' -f2 | sort -u | wc -l)" = 1 ]
}
wait_until has_settled
kept=$(tail -n 1 "$log" | cut -d' ' -f2)
count=$(wc -l <"$log")
wait_until has_lines "$log" $((count + 4))
run sh -c "tail -n 4 '$log' | cut -d' ' -f2 | sort -u"
expect_stdout "$kept"

# A drained node passes it on.
run peal drain "$kept"
expect_status 0
wait_until is_elsewhere "$kept"
run peal undrain "$kept"
wait_until all_take_runs 3
count=$(wc -l <"$log")
wait_until has_lines "$log" $((count + 4))
run is_elsewhere "$kept"
expect_status 0
run peal delete stays --yes
expect_status 0
run sh -c "cut -d' ' -f1 '$log' | sort | uniq -d"
expect_stdout ''

# Runs that are asked for; a run that is asked for on a node does not move the job.
for _ in 1 2 3 4; do
    run peal run asked --wait
    expect_status 0
done
run sh -c "sort -u '$log.asked' | wc -l"
expect_stdout 1
kept=$(head -n 1 "$log.asked")
for node in a b c; do
    [ $node = "$kept" ] || other=$node
done
run peal run asked --on "$other" --wait
expect_status 0
run peal run asked --wait
expect_status 0
run sh -c "tail -n 2 '$log.asked'"
expect_stdout "$other
$kept"
run peal list --node "$kept" -q asked
expect_stdout_has asked
run peal list --node "$other" -q asked
expect_stderr_has 'no such jobs'
run peal pause --node nowhere --yes
expect_status 3

# Attempts go to a node that has not failed, also of a sticky job.
run peal run fails
wait_until has_lines "$log.fails" 3
run sh -c "sort '$log.fails'"
expect_stdout 'a
b
c'

# A node with much to do is first for few: 150 jobs of one instant. The processors are the same for
# all three, the room is not.
mkfifo "$scratch/gate"
cat >"$scratch/busy.yaml" <<YAML
name: busy
schedule: "@manual"
shell: 'read -r _ <$scratch/gate'
overlap: allow
YAML
run peal apply -f "$scratch/busy.yaml"
for _ in $(seq 1 20); do
    peal run busy --on b >/dev/null
done
# shellcheck disable=SC2317 # wait_until calls it
is_busy() { # and all nodes know
    local node
    for node in a b c; do
        [ "$(PEAL_DATA=$scratch/$node peal nodes -o json |
            jq '.[] | select(.node == "b") | .running')" = 20 ] || return
    done
}
wait_until is_busy
run peal nodes -o json
expect_json '[.[] | .free >= 0 and .free <= 100] | unique' '[true]'
expect_json '[.[] | .cpu_pressure >= 0] | unique' '[true]'
run peal nodes
expect_stdout_has FREE
# shellcheck disable=SC2317 # run and wait_until call it
jobs_of_nodes() { # NODE FILTER: as this node tells it
    curl -s --unix-socket "$scratch/$1/api.sock" "http://localhost/api/v1/jobs:facets?$2" |
        jq -c '.nodes | map({(.value): .count}) | add'
}
for node in a b c; do # the runs that are under way, though b was asked for
    run jobs_of_nodes $node q=busy
    expect_stdout '{"b":1}'
done
run peal pause --node b --dry-run -q busy
expect_stderr_has 'pause 1 of 1 that match: busy'
at=$(date -u -d '+8 seconds' +%Y-%m-%dT%H:%M:%SZ)
for i in $(seq 1 150); do
    cat <<YAML
---
name: many/$i
schedule: "@at $at"
shell: echo \$PEAL_NODE >>$log.many
place: least_loaded
YAML
done >"$scratch/many.yaml"
run peal apply -f "$scratch/many.yaml"
expect_status 0
wait_until has_lines "$log.many" 150
: >"$scratch/gate"
of_b=$(grep -c b "$log.many") # 5 if all three see the same pressure; with `even` 50
run test "$of_b" -lt 35
expect_status 0
run sh -c "grep -v b '$log.many' | sort -u"
expect_stdout 'a
c'
ran=$(sort "$log.many" | uniq -c | jq -Rsc '[scan("([0-9]+) (\\w)") | {(.[1]): (.[0] | tonumber)}] | add')
# shellcheck disable=SC2317 # wait_until calls it
knows_where() { # NODE: of 150 jobs, where each ran
    [ "$(jobs_of_nodes "$1" folder=many | jq -cS .)" = "$(jq -cS . <<<"$ran")" ]
}
for node in a b c; do
    wait_until knows_where $node
done
run peal list --node a -q many/ -o json
expect_json length "$(grep -c a "$log.many")"
# shellcheck disable=SC2317 # wait_until calls it
all_ended() { [ "$(peal cluster status -o json | jq .open_runs)" = 0 ]; }
wait_until all_ended
run peal runs -n 1000 -o json
expect_json '[.[] | select(.job | startswith("many/"))] | [length, ([.[].state] | unique)]' '[150,["ok"]]'
finish
