#!/bin/bash
# Three nodes on one etcd, two of them in one zone: in no zone more runs of a group than its limit allows,
# and both zones at work; what a run waits for is told by nodes that may not run it, too.
. "$(dirname "$0")/nodes.sh"
etcd_start
node_options=(--label zone=eu)
start_node a
start_node b
node_options=(--label zone=us)
start_node c
wait_until all_take_runs 3
log=$scratch/log

run peal group set zoned --label zone=1
expect_status 0
run peal group set team/ --label zone=1 --cluster 3
expect_status 0
: >"$scratch/jobs.yaml"
for i in $(seq 12); do
    cat >>"$scratch/jobs.yaml" <<YAML
name: zoned-$i
schedule: "@manual"
groups: [zoned]
shell: echo "+ \$PEAL_NODE" >>$log; sleep 0.3; echo "- \$PEAL_NODE" >>$log
---
name: team/job-$i
schedule: "@manual"
shell: echo "+ \$PEAL_NODE" >>$log.team; sleep 0.2; echo "- \$PEAL_NODE" >>$log.team
---
YAML
done
cat >>"$scratch/jobs.yaml" <<YAML
name: holds
schedule: "@manual"
overlap: allow
where: zone=eu
groups: [zoned]
shell: echo "\$PEAL_NODE" >>$log.holds; while [ ! -e $scratch/go ]; do sleep 0.05; done
---
name: other
schedule: "@manual"
groups: [zoned]
shell: "true"
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# shellcheck disable=SC2317 # run calls it
most() { # FILE: how many were under way at the same time in a zone, and in all
    awk '{ zone = $2 == "c" ? "us" : "eu"; d = $1 == "+" ? 1 : -1; n[zone] += d; all += d
           if (n[zone] > most) most = n[zone]; if (all > top) top = all } END { print most, top }' "$1"
}
for i in $(seq 12); do
    peal run "zoned-$i" >/dev/null
    peal run "team/job-$i" >/dev/null
done
wait_until has_lines "$log" 24
wait_until has_lines "$log.team" 24
run most "$log"
expect_stdout '1 2'
run most "$log.team"
expect_stdout '1 2'

# One is under way in the zone, another waits for it, and a third goes by in the other zone.
run peal run holds
wait_until has_lines "$log.holds" 1
run peal run holds
# shellcheck disable=SC2317 # wait_until calls it
zoned_is() { # JSON
    [ "$(peal group show zoned -o json | jq -c '[.held, .waiting]')" = "$1" ]
}
wait_until zoned_is '[1,1]'
run peal why holds --data "$scratch/c" # which may not run it
expect_stdout_has 'It waits for group zoned, of which 1 may run on the nodes with zone=eu: number 1 of 1 that wait. Held by: holds '
run peal group show zoned -o json
expect_json '.by_label' '[{"label":"zone=eu","limit":1,"held":1},{"label":"zone=us","limit":1,"held":0}]'
run peal run other --wait
expect_status 0
run peal runs other -o json
expect_json '.[0].node' '"c"'
touch "$scratch/go"
wait_until zoned_is '[0,0]'
finish
