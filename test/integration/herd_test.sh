#!/bin/bash
# peal herd: the seconds in which many jobs start, a proposal, and making it so.
. "$(dirname "$0")/lib.sh"
cd "$scratch" || exit 1

job() { # NAME SCHEDULE [LINE]...
    printf -- '---\nname: %s\nschedule: "%s"\ntimezone: UTC\ncommand: ["true"]\n' "$1" "$2"
    shift 2
    [ $# -eq 0 ] || printf '%s\n' "$@"
}
for i in $(seq 40); do
    job "many/$i" '0 3 * * *'
done >jobs.yaml
{
    job kept '0 3 * * *' 'labels: {herd: keep}'
    job awaited '0 3 * * *'
    printf -- '---\nname: waits\nafter: [awaited]\ncommand: ["true"]\n'
    job a-soon '0 3 * * *' 'deadline: 3s'
    job interval '@every 10m'
} >>jobs.yaml

# Of files, without an agent.
run peal herd -f jobs.yaml
expect_status 0
expect_stdout_has '0 3 * * *   H 3 * * *'
expect_stdout_has 'they have the label herd=keep'
expect_stdout_has 'other jobs wait for them'
expect_stdout_has 'a later start could miss their deadline'
run peal herd -f jobs.yaml -o json
expect_status 0
expect_json '[.now.worst, .spread.worst <= 10, .kept.label, .kept.awaited, .kept.deadline]' \
    '[44,true,1,1,1]'
proposals=$(jq -c .proposals out)
run peal herd -f jobs.yaml -o json --lang zh
expect_json .proposals "$proposals" # the same again
run peal herd -f jobs.yaml --at-most 100
expect_status 0
expect_stdout_has 'no second has more than 100 starts'
run peal herd -f jobs.yaml --within 1m
expect_status 0
expect_stdout_has 'jitter: 1m'
run peal herd -f jobs.yaml --lang zh
expect_stdout_has '个任务可以错开'
run peal herd -f jobs.yaml --apply
expect_status 2
expect_stderr_has 'change the files'
run peal herd -f jobs.yaml --horizon 8d
expect_status 2
run peal herd -f missing.yaml
expect_status 3
run peal herd --calendars .
expect_status 2

# Of an agent: those that files define stay as they are.
start_agent data
run peal apply -f jobs.yaml
expect_status 0
run peal herd --apply --yes
expect_status 0
expect_stderr_has 'many/1 is defined by files (peal apply): change it there'
expect_stderr_has '0 changed, '
run peal get many/1 -o json
expect_json 'if type == "array" then .[0].schedule else .schedule end' '"0 3 * * *"'

for i in $(seq 15); do
    peal add "own/$i" '0 3 * * *' -- true >/dev/null 2>&1
done
run peal herd -o json
expect_status 0
expect_json '[.now.worst, (.seconds | length), (.seconds[0].jobs | length)]' '[59,7,10]'
run peal herd --apply --yes
expect_status 0
expect_stdout_has 'changed own/1'
expect_stderr_has ' changed meanwhile'
run peal get own/1 -o json
expect_json 'if type == "array" then .[0].schedule else .schedule end' '"H 3 * * *"'
run peal audit --job own/1
expect_stdout_has 'own/1'


# What falls in maintenance is named.
day=$(date -u -d '+2 days' +%F)
run peal maintenance add --from "${day}T09:00:00Z" --to "${day}T11:00:00Z" --namespace shop --reason disks
expect_status 0
for i in 1 2 3; do
    run peal add "shop/$i" '0 10 * * *' --tz UTC -- true
    expect_status 0
done
run peal herd -o json --horizon 7d
expect_json '[.maintenance[] | [.kind, .namespace, .reason, .starts]]' '[["maintenance","shop","disks",3]]'
expect_json "[.seconds[] | select(.at == \"${day}T10:00:00Z\") | .skipped]" "[3]"
expect_json '[.seconds[] | select(.skipped > 0)] | length' 1
run peal herd
expect_status 0
expect_stdout_has "3 of them fall in maintenance of namespace shop: ${day}T09:00:00Z to ${day}T11:00:00Z (disks)"

# Groups of which more runs start in one second than may be under way: by what the nodes that there are let run.
run peal group set both --cluster 2
run peal group set alone --node 1
run peal group set wide --cluster 9
for i in 1 2 3; do
    run peal add "limited/$i" '0 11 * * *' --tz UTC --group both --group alone --group wide -- true
    expect_status 0
done
cat >"$scratch/flow.yaml" <<'END'
name: limited/flow
schedule: 0 11 * * *
timezone: UTC
steps:
- {name: a, command: [x], groups: [both]}
- {name: b, job: limited/1}
- {name: c, command: [x], groups: [both], after: [a]}
END
run peal apply -f "$scratch/flow.yaml"
expect_status 0
run peal herd -o json --horizon 2d
expect_json '[.groups[] | [.group, .where, .most, .starts, .seconds, .waiting]]' '[["alone",null,1,4,2,6],["both",null,2,5,2,6]]'
run peal herd
expect_stdout_has 'group both: at most 2 at once, and up to 5 start in one second ('
cat "$scratch/flow.yaml" - >"$scratch/file.yaml" <<'END'
---
kind: group
name: both
cluster: 1
---
name: limited/1
schedule: 0 11 * * *
timezone: UTC
command: [x]
groups: [both]
END
run peal herd -f "$scratch/file.yaml" -o json --horizon 1d
expect_json '[.groups[] | [.group, .most, .starts, .seconds, .waiting]]' '[["both",1,3,1,2]]'
finish
