#!/bin/bash
# Three nodes on one etcd: an attempt goes to a node that has not failed yet, and a node that dies
# with a run leaves its tick to another, if the job says so.
. "$(dirname "$0")/nodes.sh"
start_nodes
log=$scratch/log

cat >"$scratch/jobs.yaml" <<YAML
name: everywhere
schedule: "@manual"
shell: echo "\$PEAL_NODE \$PEAL_ATTEMPT" >>$log; false
retries: {count: 2, wait: 0s}
---
name: moves
schedule: "@manual"
shell: |
  echo "\$PEAL_NODE \$PEAL_ATTEMPT" >>$log.moves
  [ \$PEAL_ATTEMPT = 2 ] || sleep 600
retries: {count: 1, wait: 0s, on: lost}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

run peal run everywhere
wait_until has_lines "$log" 3
run cut -d' ' -f2 "$log"
expect_stdout '1
2
3'
run sh -c "cut -d' ' -f1 '$log' | sort"
expect_stdout 'a
b
c'

# The machine of a run is gone.
run peal run moves
id=$(tail -n 1 "$scratch/out")
wait_until has_lines "$log.moves" 1
dead=$(cut -d' ' -f1 "$log.moves")
kill_machine "$dead" "$log.moves"
wait_until has_lines "$log.moves" 2
wait_until ends_are moves 'sort_by(.attempt) | [.[] | [.attempt, .state, .retried]]' \
    '[[1,"lost",true],[2,"ok",false]]'
run peal runs moves -o json
expect_json 'sort_by(.attempt) | [.[0].run_id, .[0].node != .[1].node]' "[\"$id\",true]"

finish
