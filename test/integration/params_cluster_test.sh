#!/bin/bash
# Three nodes on one etcd: a request to one node, its parameters on whichever node runs it, also
# when the first that had the run dies; seen and asked for again from any of them.
. "$(dirname "$0")/lib.sh"
etcd_start
log=$scratch/log
for node in a b c; do
    start_agent $node --node-id $node --store "$etcd_url/test" --listen none
done

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
has_lines() { # FILE COUNT
    [ "$(wc -l <"$1")" -eq "$2" ]
}

# shellcheck disable=SC2317 # likewise
all_take_runs() {
    [ "$(peal nodes -o json | jq '[.[] | select(.state == "ready")] | length')" = 3 ]
}

# shellcheck disable=SC2317 # likewise
has_params() { # RUN JSON
    [ "$(peal runs "$1" -o json | jq -c '.[0] | [.params.day, (.finished_at != null)]')" = "$2" ]
}

wait_until all_take_runs
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

# The machine of a run is gone: its agent, its spawner, and what they have started.
run peal run moves -p 'day=a b'
id=$(tail -n 1 "$scratch/out")
wait_until has_lines "$log.moves" 1
dead=$(cut -d' ' -f1 "$log.moves")
for word in "--dir $scratch/$dead/" "$scratch/$dead" "$log.moves"; do
    processes_with "$word" | xargs -r kill -9 2>/dev/null
done
for node in a b c; do
    [ $node = "$dead" ] || export PEAL_DATA=$scratch/$node
done
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
finish
