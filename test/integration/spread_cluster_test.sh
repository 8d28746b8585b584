#!/bin/bash
# Three nodes on one etcd: a broadcast has a run on each, also while nodes come and go; shards are
# shared, and the shard of a node that dies is taken over; the ticks of a schedule are started once
# on each node.
. "$(dirname "$0")/nodes.sh"
start_nodes
log=$scratch/log

cat >"$scratch/jobs.yaml" <<YAML
name: everywhere
schedule: "@manual"
shell: echo "\$PEAL_NODE \$PEAL_PARTS" >>$log
spread: all
---
name: two
schedule: "@manual"
shell: echo "\$PEAL_NODE" >>$log.two
spread: 2
---
name: shared
schedule: "@manual"
shell: echo "\$PEAL_NODE \$PEAL_SHARD" >>$log.shared
spread: shards 6
---
name: dies
schedule: "@manual"
shell: |
  echo "\$PEAL_NODE \$PEAL_SHARD \$PEAL_ATTEMPT" >>$log.dies
  [ \$PEAL_SHARD.\$PEAL_ATTEMPT != 1.1 ] || sleep 600
spread: shards 3
retries: {count: 1, wait: 0s, on: lost}
---
name: ticks
schedule: "* * * * * *"
shell: echo "\$PEAL_TICK \$PEAL_NODE" >>$log.ticks
spread: all
overlap: allow
paused: true
---
name: follows
after: everywhere
shell: echo "\$PEAL_AFTER_JOB" >>$log.follows
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# One on each, and the tick is followed once.
run peal run everywhere --wait
expect_status 0
run sort "$log"
expect_stdout 'a 3
b 3
c 3'
run peal runs everywhere -o json
expect_json '[.[] | [.pinned, .node, .parts]] | sort' '[["a","a",3],["b","b",3],["c","c",3]]'
wait_until has_lines "$log.follows" 1
run cat "$log.follows"
expect_stdout everywhere

# On two of them; and shards go to all of them in turn.
run peal run two --wait
expect_status 0
run sh -c "sort -u '$log.two' | wc -l"
expect_stdout 2
run peal run shared --wait
expect_status 0
run sh -c "cut -d' ' -f2 '$log.shared' | sort"
expect_stdout '0
1
2
3
4
5'
run sh -c "cut -d' ' -f1 '$log.shared' | sort | uniq -c | awk '{print \$1}'"
expect_stdout '2
2
2'

# A broadcast while nodes come and go: a drained node is left out, and has its runs again after that.
run peal drain b
expect_status 0
wait_until all_take_runs 2
: >"$log"
run peal run everywhere --wait
expect_status 0
run sort "$log"
expect_stdout 'a 2
c 2'
run peal undrain b
wait_until all_take_runs 3

# The ticks of a schedule, each once on each node.
run peal resume ticks
expect_status 0
wait_until has_lines "$log.ticks" 12
run peal pause ticks
expect_status 0
# shellcheck disable=SC2317 # wait_until calls it
is_over() { [ "$(peal get ticks -o json | jq '[.status.running, .status.queued] | add')" = 0 ]; }
wait_until is_over
run sh -c "sort '$log.ticks' | uniq -d"
expect_stdout ''
run sh -c "cut -d' ' -f1 '$log.ticks' | sort | uniq -c | awk '{print \$1}' | sort -u"
expect_stdout 3

# Nodes come and go meanwhile: each run of a tick has an end, on its own node or as missed, and
# nothing is started twice.
: >"$log.ticks"
run peal resume ticks
wait_until has_lines "$log.ticks" 6
kill_machine c
wait_until all_take_runs 2
wait_until has_lines "$log.ticks" 18
start_node c
wait_until all_take_runs 3
# shellcheck disable=SC2317 # wait_until calls it
is_back() { tail -n 3 "$log.ticks" | grep -q ' c$'; }
wait_until is_back
run peal pause ticks
wait_until is_over
run sh -c "sort '$log.ticks' | uniq -d"
expect_stdout ''
run peal runs ticks -n 1000 -o json
expect_json '[group_by(.tick)[] | (map(.part) | sort) == [range(.[0].parts)]] | unique' '[true]'
expect_json '[.[] | select(.state == "ok") | .node == .pinned] | unique' '[true]'
expect_json '[.[].state] - ["ok", "missed", "lost", "skipped"]' '[]'

# The machine of a shard is gone: another node runs that shard, and the tick is over with it.
run peal run dies
expect_status 0
wait_until grep -q ' 1 1' "$log.dies"
dead=$(sed -n 's/ 1 1$//p' "$log.dies")
kill_machine "$dead" "$log.dies"
wait_until grep -q ' 1 2' "$log.dies"
run sh -c "grep -c ' 1 2' '$log.dies'"
expect_stdout 1
alive=$(sed -n 's/ 1 2$//p' "$log.dies")
run test "$alive" != "$dead"
expect_status 0
wait_until ends_are dies '[.[] | select(.part == 1) | [.attempt, .state]] | sort' '[[1,"lost"],[2,"ok"]]'
# shellcheck disable=SC2317 # wait_until calls it
tick_is_ok() { [ "$(peal get dies -o json | jq -r .status.last.state)" = ok ]; }
wait_until tick_is_ok

# A broadcast leaves out the node that is gone.
wait_until all_take_runs 2
: >"$log"
run peal run everywhere --wait
expect_status 0
run sh -c "wc -l <'$log'"
expect_stdout 2

finish
