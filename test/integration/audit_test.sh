#!/bin/bash
# Who changed what, versions of a job and the way back, statistics: through the command line and
# plain HTTP, over a restart of the agent.
. "$(dirname "$0")/lib.sh"

export PEAL_DATA=$scratch/data
run peal start -d --listen none
expect_status 0

api() { # METHOD PATH [curl's options]
    curl -sS --unix-socket "$PEAL_DATA/api.sock" -X "$1" "http://peal/api/v1$2" "${@:3}"
}

revision() { # of the job
    peal get backup -o json | jq 'if type == "array" then .[0] else . end | .revision'
}

# Each change is a version.
peal add backup '@daily' -- echo first 2>/dev/null
first=$(revision)
peal add backup '@daily' --replace -- echo second 2>/dev/null
second=$(revision)
run peal versions backup
expect_status 0
expect_stdout_has 'REVISION'
expect_stdout_has 'create'
expect_stdout_has 'current'
run peal versions backup -o name
expect_stdout "$second
$first"

# What is different, and what was there.
run peal diff backup --revision "$first"
expect_status 1
expect_stdout_has "--- backup@$first"
expect_stdout_has '-command: [echo, first]'
expect_stdout_has '+command: [echo, second]'
run peal diff backup --revision "$second"
expect_status 0
run peal diff backup --revision 999999
expect_status 3
expect_stderr_has 'revision 999999 of "backup" is not on record'
run peal diff backup -f nowhere --revision 1
expect_status 2
run api GET "/jobs/backup/versions/$first"
expect_stdout_has '"command":["echo","first"]'
run api GET "/jobs/backup/versions/$first/diff"
expect_stdout_has '"pointer":"/command"'

# The way back; what is paused stays so.
run peal pause backup
run peal rollback backup "$first" --dry-run
expect_status 0
expect_stdout_has '+command: [echo, first]'
run peal rollback backup "$first"
expect_status 0
expect_stderr_has "backup: back to revision $first, as revision"
run peal get backup -o yaml
expect_stdout_has 'command: [echo, first]'
expect_stdout_has 'paused: true'
run peal rollback backup "$(peal get backup -o json | jq .revision)"
expect_status 0
expect_stderr_has 'is the same as the current one; nothing was changed'
run peal rollback backup 99
expect_status 3
expect_stderr_has 'See: peal versions backup'
run peal diff backup --revision x
expect_status 2
run peal versions bakup
expect_status 3
expect_stderr 'peal: no job is named "bakup"; did you mean backup?'
run peal audit --action delet
expect_status 6
expect_stderr_has 'did you mean "delete"?'
run peal runs --state faild
expect_status 6
expect_stderr_has 'did you mean "failed"?'
run peal rollback backup x
expect_status 2
run peal rollback backup
expect_status 2
run api POST /jobs/backup/rollback -H "If-Match: \"$first\"" -d "{\"revision\": $second}" \
    -o /dev/null -w '%{http_code}'
expect_stdout 412

# A trace reaches the job, and the run keeps it.
# shellcheck disable=SC2016 # the job expands it
peal add traced '@manual' -- sh -c 'echo "trace: $TRACEPARENT"' 2>/dev/null
trace=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
id=$(api POST /jobs/traced/run -H "traceparent: $trace" -H 'X-Request-Id: ask-7' | jq -r .run_id)
wait_until newest_is traced ok
run peal logs "$id"
expect_stdout "trace: $trace"
run api GET "/runs/$id"
expect_stdout_has "\"traceparent\":\"$trace\""

# It is all on record, also after a restart.
run peal delete traced --yes
run peal restart --listen none
expect_status 0
run peal audit
expect_status 0
expect_stdout_has 'rollback'
expect_stdout_has "to revision $first"
expect_stdout_has "run $id of traced"
expect_stdout_has "$(id -un)"
run peal audit --job backup --action create,rollback -o name
expect_status 0
[ "$(wc -l <"$scratch/out")" = 2 ] || mismatch 'two changes'
run peal audit --job traced --action run -o json
expect_stdout_has '"request_id": "ask-7"'
run peal audit --action nothing
expect_status 6
expect_stderr_has 'there is no action "nothing"'
run peal audit --since 2100-01-01T00:00:00Z
expect_status 0
expect_stderr_has 'no changes'
run api GET '/audit?job=backup&action=rollback'
expect_stdout_has '"before":{'
expect_stdout_has '"command":["echo","second"]'

# An agent that is killed between the commit of a definition and its record in the history: the record
# is in the store, with the definition, and is brought later.
waiting() {
    sqlite3 "$PEAL_DATA/peal.db" "SELECT count(*) FROM docs WHERE kind = 'changes'"
}
# shellcheck disable=SC2317 # called by its name
none_waits() {
    [ "$(waiting)" = 0 ]
}
command -v sqlite3 >/dev/null && {
    made=0
    caught=0
    while [ "$caught" = 0 ]; do # in the tenth of a second in which records wait for others
        made=$((made + 1))
        api PUT "/jobs/caught-$made" -d '{"schedule":"@daily","command":["true"]}' -o /dev/null
        api PUT "/jobs/caught-$made" -d '{"schedule":"@daily","command":["false"]}' -o /dev/null
        kill -9 "$(cat "$PEAL_DATA/peal.pid")"
        caught=$(waiting)
        run peal start -d --listen none
        expect_status 0
    done
    for i in $(seq "$made"); do
        run peal versions "caught-$i" -o name
        expect_stdout "2
1"
    done
    run peal audit --action change -o json
    expect_stdout_has "\"job\": \"caught-$made\""
    wait_until none_waits
    api PUT /jobs/caught-1 -d '{"schedule":"@hourly","command":["true"]}' -o /dev/null
    run peal stop # brings them before it ends
    [ "$(waiting)" = 0 ] || mismatch 'changes are left in the store'
    run peal start -d --listen none
    run peal versions caught-1 -o name
    expect_stdout "3
2
1"

    # The same amid many new jobs, and right after the answer: each job has its record, and none is
    # on record that is not there.
    many() { # FROM TO
        seq "$1" "$2" | awk '{
            printf "---\nname: many/job-%d\nschedule: 0 0 * * *\nshell: \"true\"\n", $1
        }' >"$scratch/many.yaml"
    }
    stored() {
        sqlite3 "$PEAL_DATA/peal.db" "SELECT count(*) FROM jobs WHERE name LIKE 'many/%'"
    }
    # shellcheck disable=SC2317 # called by its name
    some_are_stored() {
        [ "$(stored)" -gt 0 ]
    }
    recorded() {
        sqlite3 "$PEAL_DATA/history.db" \
            "SELECT count(*) FROM changes WHERE job_name LIKE 'many/%' AND revision = 1"
    }
    compare() {
        run peal start -d --listen none
        expect_status 0
        run peal audit --job many/job-1 -o name # waits for those before it
        wait_until none_waits
        checks=$((checks + 1))
        if [ "$(stored)" -eq 0 ] || [ "$(stored)" != "$(recorded)" ]; then
            mismatch "$(stored) jobs, $(recorded) records"
        fi
    }
    many 1 6000
    peal apply -f "$scratch/many.yaml" >"$scratch/applied" 2>&1 &
    applying=$!
    wait_until some_are_stored
    kill -9 "$(cat "$PEAL_DATA/peal.pid")"
    wait "$applying" || :
    compare
    many 6001 6500
    run peal apply -f "$scratch/many.yaml"
    expect_status 0
    kill -9 "$(cat "$PEAL_DATA/peal.pid")"
    compare
}

# Statistics.
run peal stats
expect_status 0
expect_stdout_has 'FROM'
run peal stats backup
expect_stderr_has 'no runs'
run peal stats --span day -o json
expect_stdout_has '"ok": 1'
run peal stats --span week
expect_status 2
run api GET '/jobs:recent?names=backup'
expect_stdout_has '{"items":[{"name":"backup","recent":[],"p50_ms":null}]}'

finish
