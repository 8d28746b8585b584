#!/bin/bash
# What a run must show: output, exit code, file and duration, through the real binaries; the verdict
# over restarts of the agent and of the spawner, and in a workflow.
. "$(dirname "$0")/lib.sh"
start_agent data
log=$scratch/log

put() { # NAME EXPECT SCRIPT [FIELD]
    cat >"$scratch/job.yaml" <<YAML
name: $1
schedule: "@manual"
shell: |
  $3
expect: $2
${4-}
YAML
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
}

# The verdict of one run, with the detail: "ok", or "expectation: file: ...".
verdict_is() { # NAME VERDICT
    run peal run "$1" --wait
    run peal runs "$1" -o json
    expect_json '.[0] | if .reason then "\(.reason): \(.detail)" else .state end' "\"$2\""
}

all="{matches: '^[1-9][0-9]* rows', not_matches: 'ERROR|FATAL', file: $scratch/f, max_duration: 1h}"
put all "$all" "echo 42 rows; echo done >$scratch/f"
verdict_is all ok
put all "$all" "echo 0 rows; echo done >$scratch/f"
verdict_is all 'expectation: matches: no line of the output matches ^[1-9][0-9]* rows'
put all "$all" "echo 42 rows; echo 'an ERROR: disk' >&2"
verdict_is all 'expectation: not_matches: the output has \"an ERROR: disk\"'
put all "$all" "echo 42 rows"
run sh -c "touch -d 2020-01-01 $scratch/f"
verdict_is all "expectation: file: $scratch/f was last changed before the run, at 2020-01-01T00:00:00Z"
put all "$all" "echo 42 rows; rm -f $scratch/f"
verdict_is all "expectation: file: $scratch/f: No such file or directory"
run peal why all
expect_stdout_has 'the run did not meet the expectations of its job (expect) (file: '
run peal why all --lang zh
expect_stdout_has '运行未达到任务的预期（expect）（file: '
run peal run all --wait
expect_status 10
expect_stderr_has 'failed (expectation)'
run curl -s --unix-socket "$PEAL_DATA/api.sock" http://localhost/metrics
expect_stdout_has 'reason="expectation"'

# Exit codes, also one that is a success only here; sizes, durations.
put codes '{exit: [0, 3-5]}' 'exit 4'
verdict_is codes ok
run peal runs codes -o json
expect_json '.[0].exit_code' 4
put codes '{exit: 3}' 'exit 0'
verdict_is codes 'expectation: exit: the code was 0, expected 3'
put size "{file: $scratch/f, min_bytes: 1KiB}" "echo x >$scratch/f"
verdict_is size "expectation: file: $scratch/f has 2 bytes, expected at least 1024"
put folder "{file: $scratch, newer_than: any}" 'true'
verdict_is folder "expectation: file: $scratch: it is not a regular file"
put link "{file: $scratch/link}" "echo x >$scratch/f; ln -sf f $scratch/link"
verdict_is link ok
put short '{min_duration: 1h}' 'true'
run peal run short --wait
expect_status 10
expect_stderr_has 'min_duration: it took'

# What is wrong with a definition is said when it is saved.
refused() { # EXPECT MESSAGE
    cat >"$scratch/job.yaml" <<YAML
name: a
schedule: "@manual"
command: [a]
expect: $1
YAML
    run peal validate "$scratch/job.yaml"
    [ "$status" -ne 0 ] || mismatch 'was taken'
    cat "$scratch/err" >>"$scratch/out"
    expect_stdout_has "$2"
}
refused '{matches: "a(b"}' 'has a group ( that is not closed'
refused "{matches: '(a)\\1'}" 'refers back to a group'
refused '{not_matches: "a*"}' 'takes an empty text'
refused '{exit: [300]}' 'is not an exit code like 3'
refused '{file: f}' 'must be an absolute path'
refused '{newer_than: 1h}' 'needs a "file" to look at'
refused '{min_duration: 2h, max_duration: 1h}' 'is less than "min_duration"'
run peal add call @manual --http http://127.0.0.1/ --expect-output a
expect_stderr_has 'is for jobs with a process; an HTTP call has none'

# As options.
run peal add options @manual --expect-output '^a' --expect-no-output b --expect-exit 0 --expect-exit 3-5 \
    --expect-file /f -- true
expect_status 0
run peal export json options
expect_json '.[0].expect' '{"matches":"^a","not_matches":"b","exit":["0","3-5"],"file":"/f"}'

# A failure like any other: tried again, and not followed.
# shellcheck disable=SC2016 # the job's shell expands it
put again '{matches: good}' 'echo try $PEAL_ATTEMPT; [ $PEAL_ATTEMPT = 1 ] || echo good' 'retries: {count: 2, wait: 0s}'
run peal run again --wait
expect_status 0
run peal runs again -o json
expect_json '[.[] | [.attempt, .state, .reason]]' '[[2,"ok",null],[1,"failed","expectation"]]'
cat >"$scratch/flow.yaml" <<YAML
name: flow
schedule: "@manual"
steps:
  - {name: one, shell: echo 0 rows, expect: {matches: "^[1-9]"}}
  - {name: two, after: one, shell: echo two >>$log}
YAML
run peal apply -f "$scratch/flow.yaml"
run peal run flow --wait
expect_status 10
run cat "$log"
expect_status 1

# The agent is killed while the processes run: their ends and their output are the spawner's.
put later "{matches: '^late', file: $scratch/late}" "cat $scratch/gate; echo late; echo x >$scratch/late"
put never "{matches: '^never', file: $scratch/late}" "cat $scratch/gate; echo late"
mkfifo "$scratch/gate"
run peal run later
run peal run never
# shellcheck disable=SC2317 # wait_until calls it
are_running() {
    [ "$(peal runs -o json | jq '[.[] | select(.state == "running")] | length')" = 2 ]
}
wait_until are_running
kill -9 "$(cat "$PEAL_DATA/peal.pid")"
run sh -c "sleep 0.2 >'$scratch/gate'" # both read to its end
start_agent data
# shellcheck disable=SC2317 # likewise
has_ended() { # NAME
    peal runs "$1" -o json | jq -e '.[0].state | . == "ok" or . == "failed"' >/dev/null
}
wait_until has_ended later
wait_until has_ended never
run peal runs later -o json
expect_json '[.[] | .state]' '["ok"]'
run peal runs never -o json
expect_json '[.[] | [.state, .reason]]' '[["failed","expectation"]]'

# Learned: ten good runs of three seconds, at once, and then one that is over at once.
put learned '{duration: auto}' "sleep \$(cat $scratch/length)" 'overlap: allow'
echo 3 >"$scratch/length"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    run peal run learned
done
# shellcheck disable=SC2317 # likewise
are_good() { # JOB COUNT
    [ "$(peal runs "$1" -o json | jq '[.[] | select(.state == "ok")] | length')" = "$2" ]
}
wait_until are_good learned 10
# shellcheck disable=SC2317 # likewise
are_on_record() {
    [ "$(curl -s --unix-socket "$PEAL_DATA/api.sock" 'http://localhost/api/v1/runs?job=learned&state=ok' | jq '.items | length')" = 10 ]
}
wait_until are_on_record
echo 0 >"$scratch/length"
run peal run learned --wait
expect_status 10
expect_stderr_has 's by its last 10 good runs'
run peal runs learned -o json
expect_json '.[0] | [.reason, (.detail | test("^duration: it took 0\\.[0-9]+ s, expected at least 1\\.[0-9]+ s by its last 10 good runs$"))]' '["expectation",true]'
kill -9 "$(cat "$PEAL_DATA/peal.pid")" # nothing is learned yet when the next one ends
start_agent data
run peal run learned --wait
expect_status 10
refused '{duration: auto, min_duration: 1s, max_duration: 1h}' 'has nothing to learn'
refused '{duration: sometimes}' 'is not one of any or auto'

# No look is left over: neither with the spawner nor as output.
run sh -c "ls '$PEAL_DATA/spawn/output' 2>/dev/null | grep -e -file"
expect_stdout ''

finish
