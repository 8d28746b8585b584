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

# ---- a list that was saved while the tick of 10 was pending; it was recorded with that of 11 ----

entry() { # ID JOB FROM TO [PENDING]
    echo "{\"entry_id\": \"$1\", \"job\": \"$2\", \"from\": \"2026-01-01T00:00:$3.000Z\"," \
        "\"to\": \"2026-01-01T00:00:$4.000Z\", \"state\": \"skipped\", \"reason\": \"paused\"${5:+, \"pending\": true}}"
}
while IFS='|' read -r saved recorded want; do
    # shellcheck disable=SC2086 # words
    run merged "[$(entry P $saved pending)]" "[$(entry R $recorded)]"
    expect_status 0
    expect_stdout "$want"
done <<'TABLE'
a 10 10|a 10 11|[["R","skipped"]]
a 10 12|a 10 11|[["R","skipped"]]
a 09 12|a 10 11|[["R","skipped"]]
a 12 12|a 10 11|[["R","skipped"],["P","skipped"]]
a 08 09|a 10 11|[["R","skipped"],["P","skipped"]]
b 10 10|a 10 11|[["R","skipped"],["P","skipped"]]
TABLE
finish
