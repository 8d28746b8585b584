#!/bin/bash
# A job gets another name: its uid, its runs, its ticks and its dependents stay, whatever dies in the
# middle.
. "$(dirname "$0")/lib.sh"
start_agent data

api() { # METHOD PATH [BODY]
    run curl -sS --unix-socket "$PEAL_DATA/api.sock" -X "$1" -H 'Content-Type: application/json' \
        ${3:+-d "$3"} "http://localhost/api/v1$2"
}

# shellcheck disable=SC2317 # called by wait_until
has_runs() { # JOB COUNT
    [ "$(peal runs "$1" -o json | jq '[.[] | select(.state == "ok")] | length')" = "$2" ]
}

# ---- with history, dependents, and a run that is running ----
run peal add extract @manual --shell "while [ ! -e '$scratch/go' ]; do sleep 0.05; done; echo done"
run peal add hashed 'H H * * *' -- true
run peal add probe @manual -- true
run peal add load --after extract -- true
run peal add report --after extract --after probe -- true
run peal add alarm --after extract:failure -- true
expect_status 0
touch "$scratch/go"
run peal run extract --wait
wait_until has_runs load 1
rm "$scratch/go"
run peal get extract -o json
uid=$(jq -r .uid "$scratch/out")
run peal run extract
running=$(cat "$scratch/out")
wait_until newest_is extract running

run peal rename extract etl/extract --dry-run
expect_status 0
expect_stderr 'extract: would be renamed to etl/extract; jobs whose after would be rewritten: 3'
run peal get extract -o name
expect_stdout extract
run peal rename extract etl/extract
expect_status 0
expect_stderr 'extract: renamed to etl/extract; jobs whose after was rewritten: 3'
sort "$scratch/out" >"$scratch/sorted"
run cat "$scratch/sorted"
expect_stdout 'alarm
load
report'
run peal get etl/extract -o json
expect_json '[.name, .uid]' "[\"etl/extract\",\"$uid\"]"
run peal get report -o json
expect_json .after '[{"job":"etl/extract"},{"job":"probe"}]'
run peal get alarm -o json
expect_json .after '[{"job":"etl/extract","on":"failure"}]'

# The run that was running ends as a run of the renamed job, and is followed once.
touch "$scratch/go"
wait_until has_runs etl/extract 2
wait_until has_runs load 2
run peal runs etl/extract -o json
expect_json length 2
expect_json '[.[].job] | unique' '["etl/extract"]'
expect_json "[.[].run_id] | contains([\"$running\"])" true
run peal logs etl/extract
expect_stdout "done"
run peal run probe --wait
wait_until has_runs report 1

# The former name: nothing is there, and what it is now is told.
run peal get extract
expect_status 3
expect_stderr_has '"extract" was renamed to "etl/extract"'
run peal add late --after extract -- true
expect_status 6
expect_stderr_has 'after: there is no job "extract"; did you mean "etl/extract"?'
run peal rename extract etl/extract # again: nothing is left to do
expect_status 0
expect_stdout ''

# A new job of the former name has no runs of the other one.
run peal add extract @manual -- true
expect_status 0
run peal runs extract -o json
expect_json length 0
run peal run extract --wait
run peal runs extract -o json
expect_json length 1
run peal runs etl/extract -o json
expect_json length 2
run peal runs load -o json
expect_json length 2

# Ticks stay where they are, though H is made from the name.
run peal next hashed -n 2 -o json
ticks=$(jq -c '[.fires[].at]' "$scratch/out")
run peal rename hashed night
expect_status 0
run peal next night -n 2 -o json
expect_json '[.fires[].at]' "$ticks"

# The trail, and a way back to a version from before.
run peal audit --job etl/extract -o json
expect_json '[.[].action] | contains(["rename"])' true
run peal audit --action rename -o json
expect_json '[.[] | [.job, .detail]]' '[["night","from \"hashed\""],["etl/extract","from \"extract\""]]'
run peal get load -o json
run peal rollback load 1 # which names it "extract"
expect_status 0
run peal get load -o json
expect_json .after '[{"job":"etl/extract"}]'

# ---- refused, each with its exit status ----
run peal add both --after night --after probe -- true
run peal add spare @manual -- true
while IFS='|' read -r want_status want args; do
    eval "run peal rename $args"
    expect_status "$want_status"
    expect_stderr_has "$want"
done <<'TABLE'
2|which job, and what is its new name? peal rename OLD NEW|spare
3|no job is named "absent"|absent other
4|there is another job "probe" now|spare probe
6|may hold letters, digits|spare 'a b'
TABLE

# A name that jobs wait for in vain may be taken, but not twice by one of them, nor in a circle.
run peal delete probe --yes
run peal rename night probe
expect_status 4
expect_stderr_has '"both" waits for "night" and for "probe"; take one of them out of its after first'
run peal add chain --after both -- true
run peal rename chain probe
expect_status 6
expect_stderr_has 'after: a job would wait for itself'
run peal rename spare probe
expect_status 0
run peal undelete probe
expect_status 4
expect_stderr_has 'there is a job "probe" now; delete it first, or rename it'
run peal rename probe spare
expect_status 0

# A deleted job comes back, and waits for the job that it waited for.
run peal add returning --after spare -- true
run peal delete returning --yes
run peal rename spare spare-2
run peal add spare @manual -- true
run peal undelete returning
expect_status 0
run peal get returning -o json
expect_json .after '[{"job":"spare-2"}]'

# ---- the agent dies between the rename and the rewriting ----
# As after a crash: dependents that still have the former name.
run peal add first @manual -- true
run peal add second --after first -- true
run peal rename first renamed
run peal stop
run sqlite3 "$PEAL_DATA/peal.db" \
    "UPDATE definitions SET json = replace(json, '{\"job\":\"renamed\"}', '{\"job\":\"first\"}')"
expect_status 0
run peal start -d
run peal get second -o json
expect_json .after '[{"job":"first"}]'
run peal run renamed --wait
wait_until has_runs second 1
run peal describe second
expect_stdout_has renamed
run peal why second
expect_stdout_lacks "can't run"
run peal add first @manual -- true
expect_status 6
expect_stderr_has 'finish that rename first: peal rename first renamed'
run peal rename first renamed
expect_status 0
expect_stdout second
run peal add first @manual -- true
expect_status 0
run peal run first --wait
run peal run renamed --wait
wait_until has_runs second 2

# It is killed at any moment: all dependents wait for the job, by whichever name.
names=$(seq -f 'd%02.0f' 1 90)
run peal add fan-0 @manual -- true
for name in $names; do
    printf 'name: %s\nafter: fan-0\ncommand: ["true"]\n---\n' "$name"
done >"$scratch/fan.yaml"
run peal apply -f "$scratch/fan.yaml"
expect_status 0
job=fan-0 between=0
for round in 1 2 3 4 5 6; do
    api GET /agent
    pid=$(jq .pid "$scratch/out")
    peal rename $job "fan-$round" >/dev/null 2>&1 &
    read -r -t "0.0$((round * 2))" <> <(:) # any moment will do
    kill -9 "$pid"
    wait $!
    run peal start -d
    expect_status 0
    peal get "fan-$round" >/dev/null 2>&1 && job=fan-$round
    api GET "/jobs/$job/dependencies"
    expect_json '[.before[].job] | length' 90
    api GET '/jobs?limit=1000&fields=name,after'
    left=$(jq "[.items[] | select(.after != null and .after[0].job != \"$job\" and (.name | startswith(\"d\")))] | length" "$scratch/out")
    [ "$left" = 0 ] || between=$((between + 1))
done
echo "killed between the rename and the rewriting of all dependents: $between of 6"
run peal run "$job" --wait
for name in $names; do
    wait_until has_runs "$name" 1
done
run peal rename $job fan
expect_status 0
api GET '/jobs?limit=1000&fields=name,after'
expect_json '[.items[] | select(.name | startswith("d")) | .after[0].job] | unique' '["fan"]'

finish
