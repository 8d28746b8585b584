#!/bin/bash
# The checker itself: a true ledger passes, and each planted lie is found.
. "$(dirname "$0")/lib.sh"

cat >"$scratch/jobs.json" <<'JSON'
[{"name": "a", "schedule": "*/10 * * * * *", "timezone": "UTC", "end": "2026-01-01T00:01:00Z",
  "overlap": "skip", "created_at": "2026-01-01T00:00:05.500Z"}]
JSON

# Ticks at 10 and 20 ran, 30 to 40 were missed, 50 was skipped.
cat >"$scratch/good.json" <<'JSON'
[{"entry_id": "E2", "job": "a", "from": "2026-01-01T00:00:50.000Z", "to": "2026-01-01T00:00:50.000Z",
  "count": 1, "state": "skipped", "reason": "overlap"},
 {"entry_id": "E1", "job": "a", "from": "2026-01-01T00:00:30.000Z", "to": "2026-01-01T00:00:40.000Z",
  "count": 2, "state": "missed", "reason": "catch_up"},
 {"run_id": "R2", "job": "a", "tick": "2026-01-01T00:00:20.000Z", "attempt": 1, "cause": "tick",
  "state": "failed", "reason": "exit_code", "fence": 2, "exit_code": 3, "output_bytes": 10,
  "started_at": "2026-01-01T00:00:20.001Z", "finished_at": "2026-01-01T00:00:21.000Z"},
 {"run_id": "R1", "job": "a", "tick": "2026-01-01T00:00:10.000Z", "attempt": 1, "cause": "tick",
  "state": "ok", "reason": null, "fence": 1, "exit_code": 0, "output_bytes": 10,
  "started_at": "2026-01-01T00:00:10.001Z", "finished_at": "2026-01-01T00:00:11.000Z"}]
JSON
cat >"$scratch/good.trace" <<'TRACE'
begin a R1 2026-01-01T00:00:10Z 1 1 1767225610001
end a R1 2026-01-01T00:00:10Z 1 1 1767225611000
begin a R2 2026-01-01T00:00:20Z 1 2 1767225620001
end a R2 2026-01-01T00:00:20Z 1 2 1767225621000
TRACE

check() { # TRACE RUNS
    run "$fault_dir/check.sh" "$1" "$2" "$scratch/jobs.json"
}
check "$scratch/good.trace" "$scratch/good.json"
expect_status 0
expect_stdout_has '5 due ticks, 2 runs, 2 entries, 2 begins'

# The ledger lies: a jq filter | what is said.
while IFS='@' read -r filter words; do
    jq "$filter" "$scratch/good.json" >"$scratch/bad.json"
    check "$scratch/good.trace" "$scratch/bad.json"
    expect_status 1
    expect_stdout_has "$words"
done <<'TABLE'
del(.[0])@has 0 ends
del(.[3])@has 0 ends
.[1].from = "2026-01-01T00:00:20.000Z" | .[1].count = 3@has 2 ends
.[1].count = 3@covers 2 due ones
.[3].state = "missed"@began, but is on record as missed
.[3].state = "running"@has not ended: running
.[2].fence = 1@have the same fence 1
.[3].output_bytes = 9@9 bytes of output instead of 10
.[3].output_bytes = 96@96 bytes of output instead of 10
.[2].exit_code = null@has no exit code
.[0] |= (del(.entry_id) | .run_id = "R3" | .tick = .from | .cause = "tick" | .state = "ok")@never began
TABLE

# The jobs have seen something else: a sed script | what is said.
while IFS='|' read -r script words; do
    sed "$script" "$scratch/good.trace" >"$scratch/bad.trace"
    check "$scratch/bad.trace" "$scratch/good.json"
    expect_status 1
    expect_stdout_has "$words"
done <<'TABLE'
1p|began twice
4d|never came to its end
3s/ R2 / R9 /|is not on record
3s/:20Z/:10Z/|tick 2026-01-01T00:00:10Z, attempt 1 began twice
3s/ 2 1767/ 0 1767/|the fence went from 1 to 0
2{h;d};3{G}|ended after
3s/1767225620001/1767225610500/|ms before the end of R1
1s/.*/garbage/|can't be read
TABLE

# ---- several nodes: n2 is away in the middle, and what it runs is given up ----

check_nodes() { # TRACE RUNS
    run "$fault_dir/check.sh" --away "$scratch/away" "$1" "$2" "$scratch/jobs.json"
}
echo "n2 $((1767225610000)) $((1767225631000))" >"$scratch/away"
sed '/ R1 /s/$/ n2/; / R2 /s/$/ n1/' "$scratch/good.trace" >"$scratch/nodes.trace"
check_nodes "$scratch/nodes.trace" "$scratch/good.json"
expect_status 0
sed '2{h;d};4G' "$scratch/nodes.trace" >"$scratch/given-up.trace" # n2 goes on with it
check_nodes "$scratch/given-up.trace" "$scratch/good.json"
expect_status 0
sed 's/n2$/n3/' "$scratch/given-up.trace" >"$scratch/bad.trace" # which was never away
check_nodes "$scratch/bad.trace" "$scratch/good.json"
expect_status 1
expect_stdout_has 'ended after R2 had begun'

: >"$scratch/away"
check_nodes "$scratch/nodes.trace" "$scratch/good.json"
expect_status 0
expect_stdout_has '2 of them undisturbed, the latest by 1 ms'
sed '3s/1767225620001/1767225621500/;4s/1767225621000/1767225622000/' "$scratch/nodes.trace" \
    >"$scratch/bad.trace"
check_nodes "$scratch/bad.trace" "$scratch/good.json"
expect_status 1
expect_stdout_has 'began 1500 ms late, with nothing away'

# Late for what was away is also who waits for the run before it, until that one ends.
echo "etcd 1767225609000 1767225612000" >"$scratch/away"
sed '1s/1767225610001/1767225612001/;2s/1767225611000/1767225621400/
    3s/1767225620001/1767225621500/;4s/1767225621000/1767225623500/' "$scratch/nodes.trace" \
    >"$scratch/waits.trace"
check_nodes "$scratch/waits.trace" "$scratch/good.json"
expect_status 0
expect_stdout_has '1 of them undisturbed, the latest by 100 ms'
sed '3s/1767225621500/1767225622900/' "$scratch/waits.trace" >"$scratch/bad.trace"
check_nodes "$scratch/bad.trace" "$scratch/good.json"
expect_status 1
expect_stdout_has 'began 1500 ms late, with nothing away'
finish
