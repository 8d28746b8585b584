#!/bin/bash
# Three nodes on one etcd: a request to one node, its parameters on whichever node runs it, also
# when the first that had the run dies; seen and asked for again from any of them.
. "$(dirname "$0")/nodes.sh"
start_nodes
log=$scratch/log

cat >"$scratch/jobs.yaml" <<YAML
name: everywhere
schedule: "@manual"
shell: echo "\$PEAL_NODE \$PEAL_PARAM_day" >>$log; false
retries: {count: 2, wait: 0s}
params: {day: {}}
---
name: moves
schedule: "@manual"
shell: |
  echo "\$PEAL_NODE \$PEAL_PARAM_day" >>$log.moves
  [ \$PEAL_ATTEMPT = 2 ] || sleep 600
retries: {count: 1, wait: 0s, on: lost}
params: {day: {}}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# shellcheck disable=SC2317 # wait_until calls it
has_params() { # RUN JSON
    [ "$(peal runs "$1" -o json | jq -c '.[0] | [.params.day, (.finished_at != null)]')" = "$2" ]
}

run peal run everywhere -p day=2026-11-01
wait_until has_lines "$log" 3
run sh -c "sort '$log'"
expect_stdout 'a 2026-11-01
b 2026-11-01
c 2026-11-01'
ids=$(peal runs everywhere -o json | jq -r '.[].run_id')
for id in $ids; do
    for node in a b c; do
        export PEAL_DATA=$scratch/$node
        wait_until has_params "$id" '["2026-11-01",true]'
    done
done

# The machine of a run is gone.
run peal run moves -p 'day=a b'
id=$(tail -n 1 "$scratch/out")
wait_until has_lines "$log.moves" 1
dead=$(cut -d' ' -f1 "$log.moves")
kill_machine "$dead" "$log.moves"
wait_until has_lines "$log.moves" 2
run sh -c "cut -d' ' -f2- '$log.moves'"
expect_stdout 'a b
a b'
# The lost run is recorded by another node, with what was handed over.
wait_until has_params "$id" '["a b",true]'
run peal runs moves -o json
expect_json 'sort_by(.attempt) | [.[] | .state]' '["lost","ok"]'

# Again, by a node that did not run it.
run peal run --again "$(peal runs moves -o json | jq -r '.[0].run_id')"
expect_status 0
wait_until has_lines "$log.moves" 3
run sh -c "tail -n 1 '$log.moves' | cut -d' ' -f2-"
expect_stdout 'a b'

# On one node and on no other; a node that is not there, or may not run the job, is refused.
for node in a b c; do
    [ $node = "$dead" ] || alive="${alive:-} $node"
done
cat >"$scratch/where.yaml" <<YAML
name: where
schedule: "@manual"
shell: echo "\$PEAL_NODE" >>$log.where
---
name: held
schedule: "@manual"
overlap: queue
shell: 'while [ ! -e $scratch/go ]; do sleep 0.05; done'
---
name: labelled
schedule: "@manual"
where: gpu
command: ["true"]
YAML
run peal apply -f "$scratch/where.yaml"
for node in $alive $alive; do
    run peal run where --on "$node" --wait
    expect_status 0
done
run cat "$log.where"
expect_stdout "$(for node in $alive $alive; do echo "$node"; done)"
run peal run where --on "$dead"
expect_stderr_has "$dead is away"
run peal run where --on mars
expect_stderr_has 'there is no node mars'
run peal run labelled --on "${alive##* }"
expect_stderr_has 'does not have the labels gpu'

# The node dies before the begin of the run: nobody else takes it, and it ends with the reason.
last=${alive##* } first=${alive% *}
first=${first# }
export PEAL_DATA=$scratch/$first
run peal run held --on "$first"
wait_until newest_is held running
run peal run held --on "$last"
id=$(tail -n 1 "$scratch/out")
kill_machine "$last"
export PEAL_DATA=$scratch/$first
touch "$scratch/go"
# shellcheck disable=SC2317 # wait_until calls it
is_missed() { [ "$(peal runs "$1" -o json | jq -r '.[0].state')" = missed ]; }
patience=120
wait_until is_missed "$id"
run peal runs "$id" -o json
expect_json '.[0] | [.reason, .detail]' "[\"no_node\",\"for node $last, which is gone or drained\"]"
finish
