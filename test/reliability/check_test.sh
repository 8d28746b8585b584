#!/bin/bash
# shellcheck disable=SC2016,SC2317 # Markdown has backquotes; what run calls
# The checkers themselves: a true record passes, and each planted violation is found: by the rules
# of ../fault/check.awk, in the row of its fault, or by what was acknowledged.
. "$(dirname "$0")/../cluster/lib.sh"

here=$(dirname "$0")

# Ticks at 10 and 20 ran, 30 to 40 were missed, 50 was skipped; the machine was away at 25.
cat >"$scratch/jobs.json" <<'JSON'
[{"name": "probe-1", "schedule": "*/10 * * * * *", "timezone": "UTC", "end": "2026-01-01T00:01:00Z",
  "overlap": "skip", "created_at": "2026-01-01T00:00:05.500Z"}]
JSON
jq -n 'def at(s): "2026-01-01T00:00:\(s).000Z";
    [{entry_id: "E2", from: at("50"), to: at("50"), count: 1, state: "skipped", reason: "overlap"},
     {entry_id: "E1", from: at("30"), to: at("40"), count: 2, state: "missed", reason: "catch_up"},
     {run_id: "R2", tick: at("20"), attempt: 1, cause: "tick", state: "failed", reason: "exit_code",
      fence: 2, exit_code: 3, output_bytes: 10, claimed_at: "2026-01-01T00:00:19.900Z",
      started_at: "2026-01-01T00:00:20.001Z", finished_at: at("21")},
     {run_id: "R1", tick: at("10"), attempt: 1, cause: "tick", state: "ok", reason: null, fence: 1,
      exit_code: 0, output_bytes: 10, claimed_at: "2026-01-01T00:00:09.900Z",
      started_at: "2026-01-01T00:00:10.001Z", finished_at: at("11")}] | map(. + {job: "probe-1"})' \
    >"$scratch/good.json"
cat >"$scratch/good.trace" <<'TRACE'
begin probe-1 R1 2026-01-01T00:00:10Z 1 1 1767225610001 a
end probe-1 R1 2026-01-01T00:00:10Z 1 1 1767225611000 a
begin probe-1 R2 2026-01-01T00:00:20Z 1 2 1767225620001 b
end probe-1 R2 2026-01-01T00:00:20Z 1 2 1767225621000 b
TRACE
echo "nap a 1767225608000 1767225625000 1767225626000" >"$scratch/windows"
echo "fault 1767225608000 1767225626000" >"$scratch/away"
kill "$timer" # its file is made up here
wait "$timer" 2>/dev/null
echo "1767225655000 120" >"$scratch/timer"

check() { # TRACE RUNS: the verdict, then the matrix
    local found=0
    "$fault_dir/check.sh" --away "$scratch/away" --tables "$scratch/tables" "$1" "$2" \
        "$scratch/jobs.json" || found=1
    awk -f "$here/matrix.awk" input=1 "$scratch/windows" input=2 FS='\t' "$scratch/tables/due" \
        input=3 "$scratch/tables/ledger" input=4 FS=' ' "$1" input=5 "$scratch/timer"
    return "$found"
}

run check "$scratch/good.trace" "$scratch/good.json"
expect_status 0
expect_stdout_has '5 due ticks, 2 runs, 2 entries, 2 begins'
expect_stdout_has '| `nap` | 1 | 2 | 1 | 2 | 0 | 0 | 1 | 0 | 0 | 0 | 6.0 s | 1.0 s |'
expect_stdout_has '| a bare timer beside it | 0.1 | 0.1 | 0.1 |'

# ---- what is on record is not what happened: a jq filter, a sed script, what is said, the row ----

while IFS='@' read -r filter script words row; do
    jq "$filter" "$scratch/good.json" >"$scratch/bad.json"
    sed "$script" "$scratch/good.trace" >"$scratch/bad.trace"
    run check "$scratch/bad.trace" "$scratch/bad.json"
    expect_status 1
    expect_stdout_has "$words"
    expect_stdout_has "$row"
done <<'TABLE'
.@3{p;s/ R2 / R3 /}@attempt 1 began twice@began
.@1p@run R1 began twice@| `nap` | 1 | 2 | 1 | 2 | 0 | 0 | 1 | 0 | 1 | 0 |
del(.[2])@@is not on record@| `nap` | 1 | 2 | 1 | 1 | 0 | 0 | 1 | 0 | 0 | 1 |
del(.[1])@@has 0 ends@| `nap` | 1 | 2 | 1 | 2 | 0 | 0 | 0 | 0 | 0 | 1 |
.[1].from = "2026-01-01T00:00:20.000Z" | .[1].count = 3@@has 2 ends@| `nap` | 1 | 2 | 1 | 2 | 0 | 0 | 1 | 0 | 0 | 1 |
.[3].state = "missed"@@began, but is on record as missed@| `nap` | 1 | 2 | 1 | 1 | 0 | 0 | 2 | 0 | 0 | 0 |
.[2].state = "ok"@4d@is ok(exit_code), but never came to its end@| `nap` |
.@3s/ 2 1767/ 0 1767/@the fence went from 1 to 0@| `nap` |
.[3].fence = 2@@have the same fence 2@| `nap` |
TABLE

# ---- after a restore an entry covers what nobody knows; what is known stays as it is ----

jq '.[1] |= (.from = "2026-01-01T00:00:15.000Z" | .count = 0 | .reason = "restored")' \
    "$scratch/good.json" >"$scratch/restored.json"
run check "$scratch/good.trace" "$scratch/restored.json"
expect_status 0
expect_stdout_has '| `nap` | 1 | 2 | 1 | 2 | 0 | 0 | 1 | 0 | 0 | 0 |'

jq 'del(.[2])' "$scratch/restored.json" >"$scratch/unknown.json" # its machine died, too
run check "$scratch/good.trace" "$scratch/unknown.json"
expect_status 0
jq 'del(.[3])' "$scratch/restored.json" >"$scratch/bad.json" # from before the backup
run check "$scratch/good.trace" "$scratch/bad.json"
expect_status 1
expect_stdout_has 'run R1 began, but is not on record'

# ---- nothing starts after an acknowledged pause, nor from an older definition ----

held_against() { # JOB CHANGES...: R2 as a run of this job
    local job=$1
    shift
    jq --arg job "$job" '[.[2] | .job = $job]' "$scratch/good.json" |
        jq -r --arg slack_ms 1000 --rawfile acknowledged <(printf '%s\n' "$@") \
            -f "$cluster_dir/acknowledged.jq"
}
while IFS='|' read -r job changes words; do
    run held_against "$job" "${changes%%,*}" "${changes#*,}"
    expect_status 0
    if [ -n "$words" ]; then
        expect_stdout_has "$words"
    else
        expect_stdout ''
    fi
done <<'TABLE'
paused|paused resume 1767225600000,paused pause 1767225610000|after pause at 1767225610000
paused|paused pause 1767225610000,paused resume 1767225615000|
paused|paused pause 1767225610000,paused resume 1767225620500|
paused|paused resume 1767225610000,paused pause 1767225619500|
edited|edited 3 1767225600000,edited 4 1767225610000|after 4 at 1767225610000
edited|edited 2 1767225600000,edited 3 1767225610000|
edited|edited 3 1767225610000,edited 4 1767225630000|
gone|gone delete 1767225610000,other delete 1767225610000|after delete
TABLE

# ---- what a restore has taken back binds nobody; what is allowed again stays so ----

. "$here/changes.sh"
printf '%s\n' 'edited 3 1000' 'edited 4 2000' 'paused resume 2100' 'paused pause 2200' \
    'edited 5 3000' >"$acknowledged"
run binding_changes
expect_stdout "$(cat "$acknowledged")"
forgets_changes 1500 2500
run binding_changes
expect_stdout $'edited 3 1000\npaused resume 2100\nedited 5 3000'
finish
