#!/bin/bash
# Three nodes on one etcd: what a run must show is looked at where it ran; an attempt that did not show
# it is followed by one on another node, and a node that comes back has the verdict of its lost run.
. "$(dirname "$0")/nodes.sh"
start_nodes
log=$scratch/log
mkfifo "$scratch/gate"

cat >"$scratch/jobs.yaml" <<YAML
name: dump
schedule: "@manual"
shell: |
  echo "\$PEAL_NODE" >>$log
  [ \$PEAL_ATTEMPT = 1 ] || echo x >$scratch/dump
expect: {file: $scratch/dump}
retries: {count: 1, wait: 0s}
---
name: behind
after: dump
shell: echo behind >>$log.behind
---
name: held
schedule: "@manual"
shell: cat $scratch/gate; echo 0 rows
expect: {matches: "^[1-9][0-9]* rows"}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

run peal run dump
wait_until ends_are dump 'sort_by(.attempt) | [.[] | [.attempt, .state, .reason]]' \
    '[[1,"failed","expectation"],[2,"ok",null]]'
run sh -c "sort -u '$log' | wc -l"
expect_stdout 2
wait_until has_lines "$log.behind" 1
run peal runs behind -o json
expect_json length 1
run peal runs dump -o json
expect_json 'sort_by(.attempt)[0].detail' "\"file: $scratch/dump: No such file or directory\""

# The agent alone is gone, and counts as dead; its process ends meanwhile.
run peal run held
# shellcheck disable=SC2317 # wait_until calls it
has_begun() {
    node=$(peal runs held -o json | jq -r '.[0] | select(.state == "running" or .state == "begun") | .node')
    [ -n "$node" ]
}
wait_until has_begun
kill -9 "$(cat "$scratch/$node/peal.pid")"
for other in a b c; do
    [ $other = "$node" ] || export PEAL_DATA=$scratch/$other
done
wait_until ends_are held '[.[] | [.state, .reason]]' '[["lost","node_died"]]'
run sh -c ": >'$scratch/gate'"
start_node "$node"
wait_until ends_are held '[.[] | [.state, .reason]]' '[["failed","expectation"]]'

finish
