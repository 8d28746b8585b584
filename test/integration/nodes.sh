# Sourced by the tests that have three nodes, a, b and c, on one etcd: what they share. It sources
# lib.sh.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

node_options=() # of each node's start

start_node() { # NAME
    start_agent "$1" --node-id "$1" --store "$etcd_url/test" --listen none "${node_options[@]}"
}

# An etcd and the nodes, all of which take runs.
start_nodes() {
    local node
    etcd_start
    for node in a b c; do
        start_node $node
    done
    wait_until all_take_runs 3
}

# shellcheck disable=SC2317 # wait_until calls it
all_take_runs() { # COUNT
    [ "$(peal nodes -o json | jq '[.[] | select(.state == "ready")] | length')" = "$1" ]
}

# shellcheck disable=SC2317 # likewise
has_lines() { # FILE COUNT, at least
    [ "$(wc -l <"$1")" -ge "$2" ]
}

# shellcheck disable=SC2317 # likewise
ends_are() { # JOB FILTER JSON
    [ "$(peal runs "$1" -o json | jq -c "$2")" = "$3" ]
}

# The machine of a node is gone: its agent, its spawner, and what they have started, as far as a WORD
# tells. Requests go to another node from now on.
kill_machine() { # NODE [WORD...]
    local word node
    for word in "--dir $scratch/$1/" "$scratch/$1" "${@:2}"; do
        processes_with "$word" | xargs -r kill -9 2>/dev/null
    done
    for node in a b c; do
        [ $node = "$1" ] || [ ! -S "$scratch/$node/api.sock" ] || export PEAL_DATA=$scratch/$node
    done
}
