#!/bin/bash
# Three nodes on one etcd, a tick that goes node by node: the order, how many at once, a failure that
# stops it, and a machine that dies when it is its turn.
. "$(dirname "$0")/lib.sh"
etcd_start
log=$scratch/log
for node in a b c; do
    start_agent $node --node-id $node --store "$etcd_url/test" --listen none
done
export PEAL_DATA=$scratch/a

# shellcheck disable=SC2317 # wait_until calls it
all_take_runs() { # COUNT
    [ "$(peal nodes -o json | jq '[.[] | select(.state == "ready")] | length')" = "$1" ]
}

# shellcheck disable=SC2317 # likewise
ends_are() { # JOB JSON: node, state and reason of each run
    [ "$(peal runs "$1" -o json | jq -c '[.[] | [.pinned, .state, .reason]] | sort')" = "$2" ]
}

kill_machine() { # NODE WORD...: its agent, its spawner, and what they have started
    for word in "--dir $scratch/$1/" "$scratch/$1" "${@:2}"; do
        processes_with "$word" | xargs -r kill -9 2>/dev/null
    done
}

# Each run says when it begins and when it ends; it goes on when the test says so.
put() { # NAME ROLLING [MORE]
    cat >"$scratch/job.yaml" <<YAML
name: $1
schedule: "@manual"
shell: |
  echo "begin \$PEAL_NODE" >>$log.$1
  while [ ! -e $scratch/go.$1.\$PEAL_NODE ] && [ ! -e $scratch/fail.$1.\$PEAL_NODE ]; do sleep 0.05; done
  echo "end \$PEAL_NODE" >>$log.$1
  [ ! -e $scratch/fail.$1.\$PEAL_NODE ]
spread: all
rolling: $2
${3:-}
YAML
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
}
wait_until all_take_runs 3

# One after the other, by their names; the others wait, and say so.
put one '{at_once: 1, stop_on_failure: true}'
run peal run one
expect_status 0
wait_until grep -q 'begin a' "$log.one"
run peal runs one -o json
expect_json '[.[] | [.pinned, .state == "queued"]] | sort' '[["a",false],["b",true],["c",true]]'
run peal runs one
expect_stdout_has 'queued (waits for its turn)'
run peal why one
expect_stdout_has 'It waits for its turn: of the 3 runs of its tick, this is number 3'
touch "$scratch"/go.one.{a,b,c}
wait_until ends_are one '[["a","ok",null],["b","ok",null],["c","ok",null]]'
run cat "$log.one"
expect_stdout 'begin a
end a
begin b
end b
begin c
end c'
run peal get one -o json
expect_json '[.rolling, .status.last.state]' '[{"at_once":1,"stop_on_failure":true},"ok"]'

# Two at once: the third begins when one of them has ended, whichever it is.
put two 2
run peal run two
wait_until grep -q 'begin a' "$log.two"
wait_until grep -q 'begin b' "$log.two"
touch "$scratch/go.two.b"
wait_until grep -q 'begin c' "$log.two"
run sh -c "sed -n '3,4p' '$log.two'"
expect_stdout 'end b
begin c'
touch "$scratch"/go.two.{a,c}
wait_until ends_are two '[["a","ok",null],["b","ok",null],["c","ok",null]]'

# A failure stops the tick, which has failed. Without stop_on_failure it goes on.
for stops in true false; do
    put "fails-$stops" "{at_once: 1, stop_on_failure: $stops}"
    touch "$scratch/fail.fails-$stops.a" "$scratch"/go.fails-"$stops".{b,c}
    run peal run "fails-$stops" --wait
    expect_status 10
done
wait_until ends_are fails-true '[["a","failed","exit_code"],["b","skipped","part_failed"],["c","skipped","part_failed"]]'
wait_until ends_are fails-false '[["a","failed","exit_code"],["b","ok",null],["c","ok",null]]'
run peal runs fails-true -o json
expect_json '[.[] | select(.pinned == "c") | .detail]' '["run 1 of 3: failed"]'
run peal get fails-true -o json
expect_json .status.last.state '"failed"'

# One that waits is taken out; then all of the tick is ended.
put killed 1
run peal run killed
wait_until grep -q 'begin a' "$log.killed"
id=$(peal runs killed -o json | jq -r '.[] | select(.pinned == "b") | .run_id')
run peal kill "$id"
expect_status 0
touch "$scratch/go.killed.a"
wait_until grep -q 'begin c' "$log.killed"
run peal kill killed
expect_status 0
wait_until ends_are killed '[["a","ok",null],["b","skipped","user"],["c","killed","user"]]'

# The machine whose turn it is dies: its run is lost, and it is the next one's turn.
put dies 1
run peal run dies
wait_until grep -q 'begin a' "$log.dies"
touch "$scratch/go.dies.a"
wait_until grep -q 'begin b' "$log.dies"
kill_machine b "$log.dies"
wait_until grep -q 'begin c' "$log.dies"
touch "$scratch/go.dies.c"
wait_until ends_are dies '[["a","ok",null],["b","lost","node_died"],["c","ok",null]]'

# A machine dies while it waits for its turn: its run is missed when that has come, and the failure
# stops the tick.
start_agent b --node-id b --store "$etcd_url/test" --listen none
export PEAL_DATA=$scratch/a
wait_until all_take_runs 3
put gone '{at_once: 1, stop_on_failure: true}'
run peal run gone
wait_until grep -q 'begin a' "$log.gone"
kill_machine b "$log.gone-of-b"
wait_until all_take_runs 2
touch "$scratch/go.gone.a"
patience=120 # its turn comes at once, and 30 s later it is missed
wait_until ends_are gone '[["a","ok",null],["b","missed","no_node"],["c","skipped","part_failed"]]'

finish
