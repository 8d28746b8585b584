#!/bin/bash
# shellcheck disable=SC2317 # what run calls
# How lists of several nodes become one, and that a contradiction is found.
. "$(dirname "$0")/lib.sh"

merged() { # OF_A OF_B: what it becomes, in short
    jq -s -f "$cluster_dir/merge.jq" <(echo "$1") <(echo "$2") |
        jq -c 'map([.run_id // .entry_id, .state])'
}

while IFS='|' read -r of_a of_b want; do
    run merged "$of_a" "$of_b"
    expect_status 0
    expect_stdout "$want"
done <<'TABLE'
[]|[]|[]
[{"run_id": "1", "state": "ok"}]|[{"run_id": "2", "state": "failed"}]|[["2","failed"],["1","ok"]]
[{"run_id": "1", "state": "begun"}]|[{"run_id": "1", "state": "ok"}]|[["1","ok"]]
[{"run_id": "1", "state": "begun"}]|[{"run_id": "1", "state": "running"}]|[["1","begun"]]
[{"run_id": "1", "state": "lost", "reason": "node_died"}]|[{"run_id": "1", "state": "ok"}]|[["1","ok"]]
[{"run_id": "1", "state": "lost", "reason": "node_died"}]|[{"run_id": "1", "state": "begun"}]|[["1","lost"]]
[{"run_id": "1", "state": "ok"}]|[{"run_id": "1", "state": "missed", "reason": "deadline"}]|[["1","missed-deadline and ok-"]]
[{"entry_id": "1", "state": "missed"}]|[{"entry_id": "1", "state": "missed"}]|[["1","missed"]]
TABLE
finish
