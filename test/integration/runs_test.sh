#!/bin/bash
# Runs on the command line: start, watch, read, explain, end, make good.
. "$(dirname "$0")/lib.sh"
start_agent data

run peal add good @manual --shell 'echo to stdout; echo to stderr >&2'
run peal add bad @manual --shell 'echo no; exit 3'
run peal add slow @manual --shell 'echo started; sleep 600'
run peal add missing @manual -- /nonexistent/program

# run
run peal run good
expect_status 0
id=$(cat "$scratch/out")
run test ${#id} -eq 26
expect_status 0
wait_until newest_is good ok
run peal run good --wait
expect_status 0
expect_stderr_has 'good: ok after '
run peal run good --follow
expect_status 0
expect_stdout 'to stdout'
expect_stderr_has 'to stderr'
run peal describe good
expect_stdout_has 'Last ok     '
run peal run bad --wait
expect_status 10
expect_stderr_has 'bad: failed (exit code 3)'
run peal run missing --wait
expect_status 10
expect_stderr_has 'no_start'
run peal run good --timeout 1s
expect_status 2

# logs
run peal logs missing
expect_status 0
expect_stderr_has 'the run could not be started: no such '
run peal logs "$id"
expect_status 0
expect_stdout 'to stdout'
expect_stderr 'to stderr'
run peal logs good --timestamps
expect_status 0
run sh -c "peal logs good --timestamps 2>/dev/null | grep -cE '^20[0-9-]+T[0-9:.]+Z to stdout$'"
expect_stdout 1
run peal logs slow
expect_status 3
expect_stderr_has 'slow has not run yet'
run peal logs 01M7EKAF42FQKRGYW2PXQG37YG
expect_status 3

# A run that does not end: wait times out, logs follow, kill ends it.
run peal run slow --wait --timeout 1s
expect_status 7
expect_stderr_has 'still not over'
run peal logs slow
expect_status 0
expect_stdout started
expect_stderr_has 'note: the run is running'
run peal run slow
expect_status 4
run peal list
expect_stdout_has 'running'
peal logs -f "$(peal runs slow -n 1 -o name)" >"$scratch/followed" 2>&1 &
follower=$!
run peal kill slow
expect_status 0
wait_until newest_is slow killed
wait $follower
run cat "$scratch/followed"
expect_stdout started
run peal kill slow
expect_status 3
expect_stderr_has 'slow is not running'
run peal runs slow -o json
expect_json '[.[0].state, .[0].reason, .[0].by != null]' '["killed","user",true]'

# runs
run peal runs -o json
expect_json 'length' 6
expect_json '[.[] | has("job") and has("tick") and has("attempt") and has("run_id") and has("node") and has("state") and has("reason") and has("started_at") and has("finished_at") and has("exit_code")] | all' true
run peal runs --state failed -o json
expect_json '[.[].job] | sort' '["bad","missing"]'
run peal runs -n 2 -o json
expect_json length 2
run peal runs --since 1h -o json
expect_json length 6
run peal runs --until 1h -o json
expect_json length 0
run peal runs --since yesterday
expect_status 2
run peal runs bad
expect_status 0
expect_stdout_has 'failed (exit code 3)'
run peal runs --state nonsense
expect_status 6

# why
run peal why bad
expect_status 0
expect_stdout_has 'exit code 3'
run peal why bad -o json
expect_json .state '"failed"'

# A schedule that fires: its runs come by themselves, and a pause is on the ledger.
run peal add beat '@every 1s' --shell 'echo beat'
wait_until newest_is beat ok
run peal runs beat -n 1 --state ok -o json
expect_json '[.[0].cause, .[0].exit_code]' '["tick",0]'
run peal pause beat
# shellcheck disable=SC2317 # called by wait_until, as the next ones
has_pending() { # at once, though it is written to the store within an hour
    peal runs beat --ledger -o json | jq -e '.[] | select(.reason == "paused" and .pending)'
}
wait_until has_pending
tick=$(peal runs beat --ledger -o json | jq -r '.[] | select(.pending).from')
run peal why beat "$tick" -o json
expect_json '[.state, .reason]' '["skipped","paused"]'
run peal why beat
expect_stdout_has 'It was skipped: the job was paused'
run peal runs --ledger
expect_stdout_has 'skipped (paused)'
run peal runs --ledger --state ok
expect_stdout_lacks 'skipped (paused)'
run peal runs
expect_stdout_lacks 'skipped (paused)'
due=$((SECONDS + 3)) # at least one tick by then
# shellcheck disable=SC2317
is_due() { [ "$SECONDS" -ge "$due" ]; }
wait_until is_due
run peal resume beat
# shellcheck disable=SC2317
has_skipped() {
    peal runs beat --ledger -o json |
        jq -e '[.[] | select(.reason == "paused") | .pending] == [null]'
}
wait_until has_skipped
tick=$(peal runs beat --ledger -o json | jq -r '[.[] | select(.state == "skipped")][0].from')
run peal why beat "$tick" -o json
expect_status 0
expect_json '[.state, .reason]' '["skipped","paused"]'
run peal runs beat --ledger
expect_stdout_has 'skipped (paused)'

# What was due and passed over is on record, also when the job gets other times before it is told.
run peal add idle '@every 1s' --paused -- true
expect_status 0
due=$((SECONDS + 3))
wait_until is_due
run peal add idle '@every 1h' --replace --paused -- true
expect_status 0
run sh -c "peal runs idle --ledger -o json | jq -c '[.[] | [.state, .reason, .count > 1]]'"
expect_stdout '[["skipped","paused",true]]'
run peal add idle '@every 1s' --replace --paused -- true
due=$((SECONDS + 3))
wait_until is_due
run peal delete idle --yes
expect_status 0
run sh -c "peal runs --ledger -o json | jq -c '[.[] | select(.job == \"idle\") | .reason]'"
expect_stdout '["paused","paused"]'

# backfill
run peal add daily '@daily' -- true
run peal backfill daily --from 2026-01-01 --to 2026-01-04 --dry-run
expect_status 0
expect_stdout '3 ticks, 0 have run already, 3 to run (--dry-run: none was started)'
run peal backfill daily --from 2026-01-01 --to 2026-01-04 --wait
expect_status 0
expect_stdout '3 ticks, 0 have run already, 3 to run'
run peal runs daily -o json
expect_json '[.[] | select(.state == "ok" and .cause == "backfill") | .tick] | sort' \
    '["2026-01-01T00:00:00.000Z","2026-01-02T00:00:00.000Z","2026-01-03T00:00:00.000Z"]'
run peal backfill daily --from 2026-01-01 --to 2026-01-05 --dry-run
expect_stdout '4 ticks, 3 have run already, 1 to run (--dry-run: none was started)'
run peal backfill daily
expect_status 2
run peal backfill daily --from 2999-01-01
expect_status 6
expect_stderr_has 'from: is in the future'
run peal backfill daily --from 2026-01-01 --to 2026-01-09 --limit 5 --dry-run
expect_stdout '5 ticks, 3 have run already, 2 to run (--dry-run: none was started)'
expect_stderr_has 'there are more ticks; go on with --from 2026-01-06T00:00:00.000Z'
run peal runs daily -o json
expect_json '[.[].tick]' \
    '["2026-01-03T00:00:00.000Z","2026-01-02T00:00:00.000Z","2026-01-01T00:00:00.000Z"]'

# A run by the beginning of its id; where several begin so, they are listed.
newest=$(peal runs good -n 1 -o name)
run peal logs "${newest:0:20}"
expect_status 0
expect_stdout 'to stdout'
run peal logs "$(tr '[:upper:]' '[:lower:]' <<<"${newest:0:20}")"
expect_status 0
run peal logs "${newest:0:4}"
expect_status 2
expect_stderr_has " runs begin with ${newest:0:4}:"
expect_stderr_has '  beat  ok'
run peal kill "${newest:0:20}"
expect_status 4
expect_stderr_has 'the run has ended already: ok'
run peal logs 0123456789
expect_status 3
expect_stderr_has 'no job is named "0123456789"'
run peal add 0123 @manual --shell 'echo a job' # a name comes first
run peal run 0123 --wait
run peal logs 0123
expect_stdout 'a job'
peal delete 0123 --yes 2>/dev/null
run curl -sS --unix-socket "$PEAL_DATA/api.sock" "http://peal/api/v1/runs?id=${newest:0:20}"
expect_json '[.items[].run_id, .next]' "[\"$newest\",null]"
run curl -sS --unix-socket "$PEAL_DATA/api.sock" 'http://peal/api/v1/runs?id=hello%20world'
expect_json '[.status, .detail]' '[422,"id: expected the id of a run, or its beginning"]'

# top, where there is no terminal, is one frame.
run peal top
expect_status 0
expect_stdout_has 'LAST'
expect_stdout_has 'beat'

# What is due first is shown first, however many jobs there are.
for i in $(seq 520); do
    echo "- {name: a/$i, schedule: '0 0 1 1 *', command: ['true']}"
done >"$scratch/many.yaml"
echo "- {name: soon, schedule: '@every 1h', command: ['true']}" >>"$scratch/many.yaml"
run peal apply -f "$scratch/many.yaml"
expect_status 0
run peal top
expect_stdout_has '@every 1h'
run peal add sooner '@every 30m' -- true # ... which does not count while it is skipped
run peal skip-next sooner -n 5
run peal top
mv "$scratch/out" "$scratch/frame"
run bash -c "sed -n '/^NEXT/,/^\$/p' '$scratch/frame' | awk '\$0 ~ / (soon|sooner) / { print \$(NF - 2) }'"
expect_stdout 'soon
sooner'

finish
