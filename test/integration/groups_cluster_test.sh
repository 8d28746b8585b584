#!/bin/bash
# Three nodes on one etcd: at no moment more runs of a group than its limits allow, on all nodes or on
# one; the slots of a machine that dies are free when its runs are lost, and not before.
. "$(dirname "$0")/nodes.sh"
start_nodes
log=$scratch/log

run peal group set db --cluster 2
expect_status 0
run peal group set here --node 1
expect_status 0

# Ends and starts are lines of one file, in their order; each line is one write.
: >"$scratch/jobs.yaml"
for i in $(seq 12); do
    cat >>"$scratch/jobs.yaml" <<YAML
name: dump-$i
schedule: "@manual"
groups: [db]
shell: echo "+ \$PEAL_NODE" >>$log; sleep 0.3; echo "- \$PEAL_NODE" >>$log
---
name: local-$i
schedule: "@manual"
groups: [here]
shell: echo "+ \$PEAL_NODE" >>$log.here; sleep 0.3; echo "- \$PEAL_NODE" >>$log.here
---
YAML
done
cat >>"$scratch/jobs.yaml" <<YAML
name: fan
schedule: "@manual"
steps:
  - name: items
    each: {from: 1, to: 6, at_once: 6}
    groups: [db]
    shell: echo "+ \$PEAL_NODE" >>$log.fan; sleep 0.2; echo "- \$PEAL_NODE" >>$log.fan
  - name: behind
    after: items
    shell: echo behind
---
name: holds
schedule: "@manual"
overlap: allow
groups: [db]
retries: {count: 0}
shell: echo "\$PEAL_NODE \$PEAL_RUN_ID" >>$log.holds; sleep 600
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# shellcheck disable=SC2317 # run calls it
most() { # FILE [BY_NODE]: how many were under way at the same time
    awk -v by="${2-}" '{ key = by ? $2 : ""; n[key] += $1 == "+" ? 1 : -1; if (n[key] > most) most = n[key] } END { print most }' "$1"
}

for i in $(seq 12); do
    peal run "dump-$i" >/dev/null
    peal run "local-$i" >/dev/null
done
wait_until has_lines "$log" 24
wait_until has_lines "$log.here" 24
run most "$log"
expect_stdout 2
run most "$log.here" by_node
expect_stdout 1
run sh -c "cut -d' ' -f2 '$log.here' | sort -u | wc -l" # and all of them have run some
expect_stdout 3

run peal workflow run fan --wait
expect_status 0
run most "$log.fan"
expect_stdout 2
run sh -c "grep -c + '$log.fan'"
expect_stdout 6

# Two hold both slots, and two wait.
for i in 1 2 3 4; do
    peal run holds >/dev/null
    sleep 0.02 # each has a tick of its own
done
wait_until has_lines "$log.holds" 2
# shellcheck disable=SC2317 # wait_until calls it
two_wait() {
    [ "$(peal group show db -o json | jq -c '[.held, .waiting]')" = '[2,2]' ]
}
wait_until two_wait
run peal runs holds -o json
expect_json '[.[] | select(.state == "due") | .waits_for] | sort_by(.place)' \
    '[{"group":"db","on_node":false,"limit":"cluster","label":null,"most":2,"place":1,"of":2},{"group":"db","on_node":false,"limit":"cluster","label":null,"most":2,"place":2,"of":2}]'
run peal runs holds
expect_stdout_has 'due (waits for group db, 2 of 2)'
run peal why holds
expect_stdout_has 'It waits for group db, of which 2 may run: number 2 of 2 that wait. Held by: holds '

run wc -l "$log.holds"
expect_stdout_has '2 '

# The machine of one of them is gone: its run is lost, one of those that wait starts elsewhere.
dead=$(head -n 1 "$log.holds" | cut -d' ' -f1)
gone=$(grep -c "^$dead " "$log.holds")
kill_machine "$dead" "$log.holds"
wait_until has_lines "$log.holds" $((2 + gone))
run peal runs holds -o json
expect_json '[.[] | select(.state == "lost")] | length' "$gone"
expect_json '[.[] | select(.state == "running" or .state == "begun")] | length' 2
expect_json '[.[] | select(.state == "due")] | length' $((2 - gone))

# Those that wait and those that run are ended by a person; nothing is left behind.
for id in $(peal runs holds -o json | jq -r '.[] | select(.state == "due" or .state == "running" or .state == "begun") | .run_id'); do
    run peal kill "$id" --yes
    expect_status 0
done
# shellcheck disable=SC2317 # likewise
nothing_held() {
    [ "$(peal group show db -o json | jq -c '[.held, .waiting]')" = '[0,0]' ]
}
wait_until nothing_held
finish
