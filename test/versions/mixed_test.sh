#!/bin/bash
# Nodes a and b of an earlier peal ($PEAL_OLD_BIN) and c of this one, on one etcd. Jobs that all of
# them know run once, on any of them; jobs with fields that only the newer one knows run there. Then
# a and b are upgraded in place, while ticks fall due and runs are under way: nothing is doubled,
# missed or lost.
. "$(dirname "$0")/../integration/lib.sh"
new_programs=$(dirname "$(command -v peal)")
old_programs=${PEAL_OLD_BIN:?the folder with the programs of an earlier version}
plain_path=$PATH
log=$scratch/log

use() { # old | new
    case $1 in
    old) PATH=$old_programs:$plain_path ;;
    new) PATH=$new_programs:$plain_path ;;
    esac
    hash -r
}

start_node() { # NAME
    start_agent "$1" --node-id "$1" --store "$etcd_url/test" --listen none
}

# shellcheck disable=SC2317 # wait_until calls it
all_take_runs() { # COUNT
    [ "$(peal nodes -o json | jq '[.[] | select(.state == "ready")] | length')" = "$1" ]
}

# shellcheck disable=SC2317 # likewise
has_lines() { # FILE COUNT, at least
    [ "$(wc -l <"$1")" -ge "$2" ]
}

# Of a log of lines "JOB TICK NODE": no tick of a job twice, and none between its first and its last
# left out.
expect_each_once() { # LOG STEP-S
    run sh -c "cut -d' ' -f1,2 '$1' | sort | uniq -d"
    expect_stdout ''
    run sh -c "awk '{ print \$1, \$2 }' '$1' | sort | while read -r job tick; do
        echo \"\$job \$(date -u -d \"\$tick\" +%s)\"; done |
        awk -v step=$2 '\$1 == job && \$2 != at + step { print \$1, at, \$2 } { job = \$1; at = \$2 }'"
    expect_stdout ''
}

# shellcheck disable=SC2317 # run calls it
nodes_in() { # LOG [JOB]: the nodes that have run it
    awk -v job="${2-}" 'job == "" || $1 == job { print $3 }' "$1" | sort -u | tr '\n' ' '
}

etcd_start
use old
old_version=$(peal --version)
start_node a
start_node b
use new
run test "$(peal --version)" = "$old_version"
[ "$status" -eq 0 ] && echo "note: both call themselves $old_version"
start_node c
wait_until all_take_runs 3

# ---- jobs that both know ----

# Written by the older one; ten of them, each second, so that all nodes have some.
for i in 1 2 3 4 5 6 7 8 9 10; do
    cat <<YAML
---
name: both/$i
schedule: "*/2 * * * * *"
shell: echo "$i \$PEAL_TICK \$PEAL_NODE" >>$log.both
overlap: allow
YAML
done >"$scratch/both.yaml"
use old
export PEAL_DATA=$scratch/a
run peal apply -f "$scratch/both.yaml"
expect_status 0
wait_until has_lines "$log.both" 60
run nodes_in "$log.both"
expect_stdout 'a b c '

# ---- jobs with fields that only the newer one knows ----

cat >"$scratch/new.yaml" <<YAML
name: new/place
schedule: "* * * * * *"
shell: echo "place \$PEAL_TICK \$PEAL_NODE" >>$log.new
place: sticky
overlap: allow
---
name: new/params
schedule: "* * * * * *"
shell: echo "params \$PEAL_TICK \$PEAL_NODE" >>$log.new
params: {day: {default: monday}}
overlap: allow
---
name: new/retries
schedule: "* * * * * *"
shell: echo "retries \$PEAL_TICK \$PEAL_NODE" >>$log.new
retries: {count: 2}
overlap: allow
---
name: new/spread
schedule: "@manual"
shell: echo "\$PEAL_NODE" >>$log.spread
spread: all
YAML
use new
export PEAL_DATA=$scratch/c
run peal apply -f "$scratch/new.yaml"
expect_status 0
wait_until has_lines "$log.new" 15
run nodes_in "$log.new"
expect_stdout 'c '

# The older ones say why they leave them alone.
use old
export PEAL_DATA=$scratch/a
run peal list -o json
expect_json '[.[] | select(.status.problem != null) | .name] | sort' '["new/params","new/place","new/retries","new/spread"]'
run peal get new/place -o json
expect_status 0
expect_json '.status.problem != null' true
run peal doctor
expect_stdout_has 'new/place'
# And do not let themselves be told to change what they can't read in a way that drops it.
run peal pause new/spread
use new
export PEAL_DATA=$scratch/c
run peal get new/spread -o json
expect_json '.spread' '"all"'
run peal resume new/spread

# Runs that are asked for, here or there.
cat >"$scratch/asked.yaml" <<YAML
name: new/asked
schedule: "@manual"
shell: echo "\$PEAL_NODE" >>$log.asked
place: least_loaded
YAML
run peal apply -f "$scratch/asked.yaml"
for _ in 1 2 3 4 5 6; do
    run peal run new/asked --wait
    expect_status 0
done
run sort -u "$log.asked"
expect_stdout c

# A broadcast is for all nodes. The older ones do not see their runs: these end when a newer one leads,
# as missed, or run if their nodes are upgraded in time.
run peal run new/spread
expect_status 0
# shellcheck disable=SC2317 # wait_until calls it
spread_has() { # STATES, of a, b and c
    peal runs new/spread -o json | jq -c '[.[] | [.pinned, .state]] | sort' | grep -qE "$1"
}
wait_until spread_has '"c","ok"'

# ---- the older ones are upgraded in place ----

cat >"$scratch/long.yaml" <<YAML
name: long
schedule: "@manual"
shell: 'echo begins; until [ -e $scratch/go ]; do sleep 0.2; done; echo ends; exit 7'
overlap: allow
YAML
run peal apply -f "$scratch/long.yaml"
# shellcheck disable=SC2317 # wait_until calls it
all_have_long() { # a run on each node
    [ "$(peal runs long --state begun,running -n 50 -o json | jq -c '[.[].node] | unique')" = '["a","b","c"]' ]
}
for _ in $(seq 1 40); do
    all_have_long && break
    peal run long >/dev/null
done
wait_until all_have_long
longs=$(peal runs long -n 50 -o json | jq length)

for node in a b; do
    use old
    export PEAL_DATA=$scratch/$node
    run peal stop
    expect_status 0
    use new
    start_node $node
    wait_until all_take_runs 3
    count=$(wc -l <"$log.both")
    wait_until has_lines "$log.both" $((count + 30))
done
tail -n 30 "$log.both" >"$log.last"
run nodes_in "$log.last"
expect_stdout 'a b c '
touch "$scratch/go"
# shellcheck disable=SC2317 # wait_until calls it
longs_are_over() {
    [ "$(peal runs long -n 50 -o json | jq -c '[.[] | [.state, .exit_code]] | [length, unique]')" = \
        "[$longs,[[\"failed\",7]]]" ]
}
wait_until longs_are_over
for id in $(peal runs long -n 50 -o json | jq -r '.[].run_id'); do
    run peal logs "$id"
    expect_stdout 'begins
ends'
done

# ---- and all of it ----

# shellcheck disable=SC2317 # wait_until calls it
all_is_well() { # nothing is broken, and the new jobs are for all
    [ "$(PEAL_DATA=$scratch/a peal list -o json | jq '[.[] | select(.status.problem != null)] | length')" = 0 ]
}
wait_until all_is_well
patience=120
wait_until spread_has '"a","(ok|missed)".*"b","(ok|missed)".*"c","ok"'
patience=60
run peal run new/spread --wait
expect_status 0
run sh -c "tail -n 3 '$log.spread' | sort"
expect_stdout 'a
b
c'
for name in both new; do
    for job in $(peal list -o json | jq -r ".[] | select(.name | startswith(\"$name/\")) | .name"); do
        peal pause "$job" >/dev/null
    done
done
# shellcheck disable=SC2317 # wait_until calls it
is_quiet() { [ "$(peal cluster status -o json | jq .open_runs)" = 0 ]; }
wait_until is_quiet
expect_each_once "$log.both" 2
expect_each_once "$log.new" 1
run peal runs -n 5000 -o json
not_paused='.[] | select(.reason != "paused")' # claimed right before the pause
expect_json "[$not_paused | select(.job | startswith(\"both/\")) | .state] | unique" '["ok"]'
expect_json "[$not_paused | select(.job | test(\"^new/(place|params|retries)\")) | .state] | unique" '["ok"]'
finish
