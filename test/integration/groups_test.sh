#!/bin/bash
# Groups on one node: who goes first, how long a run waits, and how waiting ends.
# shellcheck source=test/integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start_agent a --listen none
log=$scratch/log
mkfifo "$scratch/gate"

run peal add backup @manual --group db -- true
expect_status 6
# shellcheck disable=SC2016 # a message
expect_stderr_has 'groups[0]: there is no group "db"; make it with `peal group set`'
run peal group set db
expect_status 2
expect_stderr_has 'how many? Give --cluster N, --node N, --label LABEL=N or several of them'
run peal group set db --cluster 1 --notes 'dumps, one at a time'
expect_status 0
expect_stderr 'db: made, in use by 0 jobs'
run peal add backup @manual --group dbb -- true
expect_stderr_has 'there is no group "dbb"; did you mean "db"?'

cat >"$scratch/jobs.yaml" <<YAML
name: holds
schedule: "@manual"
overlap: allow
groups: db
shell: cat $scratch/gate
---
name: low
schedule: "@manual"
groups: [db]
priority: -5
shell: echo low >>$log
---
name: first
schedule: "@manual"
groups: [db]
shell: echo first >>$log
---
name: second
schedule: "@manual"
groups: [db]
shell: echo second >>$log
---
name: high
schedule: "@manual"
groups: [db]
priority: 5
shell: echo high >>$log
---
name: free
schedule: "@manual"
shell: echo free >>$log.free
---
name: often
schedule: "@every 1s"
groups: [db]
deadline: 1s
paused: true
shell: echo often >>$log.often
---
name: flow
schedule: "@manual"
steps:
  - name: before
    shell: "true"
  - name: dump
    after: before
    groups: [db]
    shell: echo flow >>$log
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal apply -f "$scratch/jobs.yaml"
expect_stderr_has '8 unchanged'

# shellcheck disable=SC2317 # wait_until calls it
group_is() { # JSON
    [ "$(peal group show db -o json | jq -c '[.held, .waiting]')" = "$1" ]
}
run peal run holds
wait_until group_is '[1,0]'
for job in low first second high; do
    run peal run $job
    expect_status 0
    sleep 0.02
done
wait_until group_is '[1,4]'
run peal group show db -o json
expect_json '[.queue[] | [.place, .job]]' '[[1,"high"],[2,"first"],[3,"second"],[4,"low"]]'
expect_json '[.holders[].job]' '["holds"]'
expect_json '[.cluster, .node, .job_count]' '[1,null,7]'
run peal why second
expect_stdout_has 'It waits for group db, of which 1 may run: number 3 of 4 that wait. Held by: holds '
run peal run free --wait # who has no groups waits for nobody
expect_status 0
run sh -c ": >'$scratch/gate'"
# shellcheck disable=SC2317 # likewise
has_lines() { # COUNT
    [ "$(wc -l <"$log")" = "$1" ]
}
wait_until has_lines 4
run cat "$log"
expect_stdout 'high
first
second
low'

# A step waits likewise.
run peal run holds
wait_until group_is '[1,0]'
run peal run flow
wait_until group_is '[1,1]'
run peal group show db -o json
expect_json '[.queue[] | [.job, .step]]' '[["flow","dump"]]'
run peal why flow
expect_stdout_has 'dump: waits for group db, number 1 of 1 that wait'

# A run that waits is killed, and one whose job is paused is skipped. The deadline ends the wait, too.
run peal run first
wait_until group_is '[1,2]'
run peal kill "$(peal runs first -o json | jq -r '.[0].run_id')" --yes
expect_status 0
wait_until newest_is first skipped
run peal resume often
# shellcheck disable=SC2317 # likewise
is_missed() {
    peal runs often --ledger -o json | jq -r '.[].detail' | grep -q 'no slot of group db was free in time'
}
wait_until is_missed
run peal pause often
expect_status 0
wait_until group_is '[1,1]'
run sh -c ": >'$scratch/gate'"
wait_until has_lines 5
wait_until newest_is flow ok

# A limit can be raised, and a group that is in use stays.
run peal group set db --cluster 2
expect_status 0
expect_stderr 'db: set, in use by 7 jobs'
run peal group delete db --yes
expect_status 4
expect_stderr_has 'group "db" is in use by '
run peal group list
expect_stdout_has 'db    7     0 of 2'
run peal audit --action group_create,group_change -o json
expect_json '[.[].action] | sort' '["group_change","group_create"]'
run peal delete holds low first second high often flow --yes
run peal group delete db --yes
expect_status 0

# By label: this node has none, and is one of those without it.
for wrong in zone zone= zone=x zone=0 zone=eu:0 =2 zone=eu: "zone=eu:2 "; do
    run peal group set scans --label "$wrong"
    expect_status 2
    expect_stderr_has "--label $wrong: expected LABEL=N, as in zone=2, or LABEL=VALUE:N, as in zone=eu:2"
done
run peal group set scans --label 'z(=2'
expect_status 6
expect_stderr_has 'labels.z(: expected a label, "zone", or one value of it, "zone=eu"'
run peal group set scans --label zone=1 --label zone=eu:4
expect_status 0
run peal group list
expect_stdout_has 'scans  0     0          -          zone=1 zone=eu:4  0'
run peal group show scans
expect_stdout_has 'By label:'
expect_stdout_has 'zone=1 zone=eu:4'
expect_stdout_has 'nodes without zone: 0 of 1'
run peal group show scans -o json
expect_json '[.labels, .by_label]' '[{"zone":1,"zone=eu":4},[{"label":"!zone","limit":1,"held":0}]]'
run peal add scan @manual --group scans --overlap allow --shell "cat $scratch/gate"
run peal run scan
run peal run scan
# shellcheck disable=SC2317 # wait_until calls it
group_of() { # NAME JSON
    [ "$(peal group show "$1" -o json | jq -c '[.held, .waiting]')" = "$2" ]
}
wait_until group_of scans '[1,1]'
run peal why scan
expect_stdout_has 'It waits for group scans, of which 1 may run on the nodes without the label zone: number 1 of 1 that wait. Held by: scan '
run peal group show scans -o json
expect_json '.by_label' '[{"label":"!zone","limit":1,"held":1}]'
run peal group set scans --label rack=1 # by which nobody was counted when it started
run peal group show scans -o json
expect_json '.by_label' '[{"label":"!rack","limit":1,"held":1}]'
run sh -c ": >'$scratch/gate'"
wait_until group_of scans '[1,0]'
run sh -c ": >'$scratch/gate'"
wait_until group_of scans '[0,0]'

# A namespace: its jobs need not name it.
for wrong in /,'a namespace has 1 to' a//,'slashes of a namespace' a/b/c/,'has more than two parts' a/b,'may hold letters'; do
    run peal group set "${wrong%,*}" --cluster 1
    expect_status 6
    expect_stderr_has "${wrong#*,}"
done
cat >"$scratch/shop.yaml" <<YAML
name: shop/holds
schedule: "@manual"
overlap: allow
shell: cat $scratch/gate
---
name: shop/eu/next
schedule: "@manual"
priority: 1
shell: "true"
---
name: shop/flow
schedule: "@manual"
steps:
  - name: one
    shell: "true"
---
name: shops
schedule: "@manual"
shell: "true"
YAML
run peal apply -f "$scratch/shop.yaml"
expect_status 0
run peal group set shop/ --cluster 1
expect_status 0
expect_stderr 'shop/: made, in use by 3 jobs'
run peal run shop/holds
wait_until group_of shop/ '[1,0]'
run peal run shop/flow
wait_until group_of shop/ '[1,1]'
run peal run shop/eu/next
wait_until group_of shop/ '[1,2]'
run peal group show shop/ -o json
expect_json '[.queue[] | [.place, .job, .step]]' '[[1,"shop/eu/next",null],[2,"shop/flow","one"]]'
run peal why shop/eu/next
expect_stdout_has 'It waits for its namespace shop, of which 1 may run: number 1 of 2 that wait. Held by: shop/holds '
run peal why shop/flow
expect_stdout_has 'one: waits for its namespace shop, number 2 of 2 that wait'
run peal runs shop/eu/next
expect_stdout_has 'due (waits for namespace shop, 1 of 2)'
run peal run shops --wait # of no namespace
expect_status 0
run peal group set shop/eu/ --node 1
run sh -c ": >'$scratch/gate'"
wait_until newest_is shop/flow ok
wait_until newest_is shop/eu/next ok
run peal group delete shop/ --yes # also with jobs in it
expect_status 0
run peal run shop/holds
run peal run shop/holds
# shellcheck disable=SC2317 # likewise
both_run() {
    [ "$(peal runs shop/holds -o json | jq '[.[] | select(.state == "running")] | length')" = 2 ]
}
wait_until both_run
run sh -c ": >'$scratch/gate'"
finish
