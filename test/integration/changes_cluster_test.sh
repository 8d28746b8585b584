#!/bin/bash
# Three nodes on one etcd, each with a history of its own: the record of a changed job that is on its
# way there is found by the others, and is on record once, whichever of them dies or stands still.
. "$(dirname "$0")/nodes.sh"
command -v sqlite3 >/dev/null || {
    echo 'sqlite3 is not installed'
    exit 77
}
start_nodes

# ---- the history of a node, held by somebody who writes to it ----
hold() { # NODE
    mkfifo "$scratch/hold.$1"
    (cd "$scratch/$1" && exec sqlite3 -batch history.db >"$scratch/held.$1" 2>&1 <"$scratch/hold.$1") &
    exec {gate}>"$scratch/hold.$1"
    echo "BEGIN IMMEDIATE; SELECT 'held';" >&"$gate"
    wait_until grep -q held "$scratch/held.$1"
}

release() { # NODE
    echo 'ROLLBACK;' >&"$gate"
    exec {gate}>&-
    rm "$scratch/hold.$1"
}

# shellcheck disable=SC2317 # are_on_their_way calls it
on_its_way() { etcdctl --endpoints "$etcd_endpoint" get --prefix / --keys-only | grep -cE 'docs/changes?/'; }
# shellcheck disable=SC2317 # wait_until calls it
are_on_their_way() { [ "$(on_its_way)" = "$1" ]; } # COUNT
# shellcheck disable=SC2317 # likewise
lines_are() { [ "$(peal audit --job "$1" -o json | jq length)" = "$2" ]; } # JOB COUNT

leader() { peal cluster status -o json | jq -r .leader; }

expect_once() { # JOB NODE...: all of these nodes show one line
    local node
    wait_until are_on_their_way 0
    for node in "${@:2}"; do
        export PEAL_DATA=$scratch/$node
        wait_until lines_are "$1" 1
    done
}

change() { # JOB NODE, whose history is held: the record stays on its way
    export PEAL_DATA=$scratch/$2
    hold "$2"
    run peal add "$1" @manual -- true
    expect_status 0
    wait_until are_on_their_way 1
}

others() { # NODE
    for node in a b c; do [ $node = "$1" ] || echo $node; done
}

patience=120
first=$(leader)
writer=$(others "$first" | head -n 1)
third=$(others "$first" | tail -n 1)

# The writer stands still, and counts as gone: the leader puts it on record. The writer goes on, and
# does so, too, or finds it done.
change still "$writer"
pid=$(peal state -o json | jq .pid)
kill -STOP "$pid"
export PEAL_DATA=$scratch/$first
wait_until lines_are still 1
kill -CONT "$pid"
release "$writer"
expect_once still a b c

# The leader, who has found it, dies: the writer brings it.
change finder "$writer"
kill_machine "$first"
export PEAL_DATA=$scratch/$writer
release "$writer"
expect_once finder "$writer" "$third"

# The writer dies.
start_node "$first"
wait_until all_take_runs 3
writer=$(others "$(leader)" | head -n 1)
change writer "$writer"
kill_machine "$writer"
release "$writer"
# shellcheck disable=SC2046 # two names
expect_once writer $(others "$writer")
start_node "$writer"
wait_until all_take_runs 3
expect_once writer a b c
finish
