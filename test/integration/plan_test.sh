#!/bin/bash
# peal plan: what files would change, with the ticks of the next year.
. "$(dirname "$0")/lib.sh"

mkdir "$scratch/old" "$scratch/new"
cat >"$scratch/old/jobs.yaml" <<'END'
name: backup
schedule: 0 2 * * *
timezone: Europe/Berlin
command: [backup]
env: {PASSWORD: one-secret}
---
name: same
schedule: "@daily"
timezone: UTC
command: [a]
---
name: gone
schedule: 0 4 * * *
timezone: UTC
command: [a]
END
cat >"$scratch/new/jobs.yaml" <<'END'
name: backup
schedule: 5 2 * * *
timezone: Europe/Berlin
command: [backup]
env: {PASSWORD: other-secret}
---
name: same
schedule: "@daily"
timezone: UTC
command: [a]
---
name: fresh
schedule: 0 5 * * 6
timezone: UTC
command: [a]
calendars: [saturdays]
END
cd "$scratch" || exit 1

# Between folders, without an agent. Errors are 1, also those that are 2 elsewhere.
run peal plan -f new --against new
expect_status 0
expect_stdout '0 to create, 0 to change, 0 to delete; 3 stay as they are'
expect_stderr ''
run peal plan -f new --against old
expect_status 2
expect_stdout_has '~ backup   new/jobs.yaml:1:7'
expect_stdout_has 'schedule   0 2 * * * -> 5 2 * * *   new/jobs.yaml:2:11'
expect_stdout_has 'moved by +5m'
expect_stdout_has '02:05 does not exist, fires when the clock has jumped'
expect_stdout_has '02:05 comes twice, fires the first time'
expect_stdout_has '+ fresh'
expect_stdout_has '- gone'
expect_stdout_has '1 to create, 1 to change, 1 to delete; 1 stay as they are'
expect_stderr_has 'calendar saturdays is not known here'
for output in text json markdown; do
    run peal plan -f new --against old --detail -o "$output"
    expect_status 2
    expect_stdout_lacks secret
done
run peal plan
expect_status 1
run peal plan -f new --nonsense
expect_status 1
run peal plan -f missing --against old
expect_status 1
run peal plan -f new --against old --prune
expect_status 1
run peal plan -f new --against old --lang zh
expect_status 2
expect_stdout_has '新增 1 个，修改 1 个，删除 1 个'

# Calendars of a folder.
mkdir calendars
echo 'weekdays: [sat]' >calendars/saturdays.yaml
run peal plan -f new --against old --calendars calendars -o json
expect_status 2
expect_stderr ''
expect_json '.jobs[] | select(.name == "fresh") | .ticks.after == 0 and .ticks.excluded > 50' true
expect_json '.jobs[] | select(.name == "backup") | .ticks.moved > 360, .ticks.moved_least_s,
    .place.line, (.fields | length)' 'true
300
1
2'
echo 'weekdays: [someday]' >calendars/wrong.yaml
run peal plan -f new --against old --calendars calendars
expect_status 1
expect_stderr_has 'calendars/wrong.yaml:1:'
rm calendars/wrong.yaml

# A revision of the files' repository.
if command -v git >/dev/null; then
    mkdir repository
    cp old/jobs.yaml repository
    git -C repository init -q
    git -C repository add .
    git -C repository -c user.name=a -c user.email=a@example.com commit -qm first
    cp new/jobs.yaml repository
    run peal plan -f repository --git HEAD
    expect_status 2
    expect_stdout_has '1 to create, 1 to change, 1 to delete; 1 stay as they are'
    run peal plan -f repository/jobs.yaml --git HEAD
    expect_status 2
    run peal plan -f repository --git no-such-branch
    expect_status 1
    expect_stderr_has 'git has no revision "no-such-branch"'
    run peal plan -f repository --git --help-me
    expect_status 1
fi

# Many jobs in one second.
mkdir many
for i in $(seq 30); do
    printf -- '---\nname: m/%d\nschedule: 0 6 * * *\ntimezone: UTC\ncommand: [a]\n' "$i"
done >many/jobs.yaml
run peal plan -f many --against old
expect_status 2
expect_stdout_has 'starts in one second with 29 others'

# With an agent.
start_agent data --label zone=eu
run peal plan -f old
expect_status 2
expect_stdout_has '3 to create, 0 to change, 0 to delete; 0 stay as they are'
run peal apply -f old
expect_status 0
run peal plan -f old
expect_status 0
run peal calendar set saturdays --weekday sat
run peal plan -f new --prune -o json
expect_status 2
expect_json '[.create, .change, .delete, .same]' '[1,1,1,1]'
run peal plan -f new
expect_status 2
expect_stdout_has '1 to create, 1 to change, 0 to delete; 1 stay as they are'
run peal plan -f new --calendars calendars
expect_status 1

# What keeps ticks from starting: maintenance of the agent, a pause, and full groups.
day=$(date -u -d '+10 days' +%F) next=$(date -u -d '+12 days' +%F)
run peal maintenance add --from "${day}T04:00:00Z" --to "${next}T04:30:00Z" --namespace shop --reason 'new disks'
expect_status 0
run peal pause --namespace store
run peal group set db --cluster 2
run peal group set shop/ --cluster 3
mkdir gates
for i in 1 2 3 4; do
    printf -- '---\nname: shop/%d\nschedule: 0 5 * * *\ntimezone: UTC\ncommand: [a]\ngroups: [db]\n' "$i"
done >gates/jobs.yaml
printf -- '---\nname: store/a\nschedule: 0 5 * * *\ntimezone: UTC\ncommand: [a]\n' >>gates/jobs.yaml
printf -- '---\nname: free\nschedule: 0 5 * * *\ntimezone: UTC\ncommand: [a]\n' >>gates/jobs.yaml
run peal plan -f gates -o json
expect_status 2
expect_json '.jobs[] | select(.name == "shop/1") | [.maintenance[] | [.kind, .namespace, .reason, .ticks]], [.groups[] | [.group, .most, .starts]]' \
    '[["maintenance","shop","new disks",2]]
[["db",2,4],["shop/",3,4]]'
expect_json '.jobs[] | select(.name == "store/a") | [.maintenance[] | [.kind, .namespace, .to, .ticks]], .groups' '[["pause","store",null,365]]
[]'
expect_json '.jobs[] | select(.name == "free") | [.maintenance, .groups]' '[[],[]]'
run peal plan -f gates
expect_status 2
expect_stdout_has "skipped    2 ticks fall in maintenance of namespace shop: ${day}T04:00:00Z to ${next}T04:30:00Z (new disks)"
expect_stdout_has 'skipped    365 ticks fall in the pause of namespace store: '
expect_stdout_has 'groups     4 runs of db start in one second, of which 2 may run: '
run peal plan -f gates -o markdown
expect_status 2
expect_stdout_has '2 ticks fall in maintenance of namespace shop'
# Limits by node and by label: of the nodes that there are, and of those that a job may run on. Steps that begin with
# their workflow count, each item of a fan-out, and those that name a job; groups of the files are those of the agent then.
mkdir limits
cat >limits/jobs.yaml <<'END'
kind: group
name: by-node
node: 2
---
kind: group
name: by-label
labels: {zone: 3, "zone=eu": 1}
---
kind: group
name: elsewhere
labels: {zone: 1}
---
name: nightly
schedule: 0 6 * * *
timezone: UTC
steps:
- {name: one, command: [a], groups: [by-node]}
- {name: many, command: [a], groups: [by-label], each: {items: [a, b, c]}}
- {name: refers, job: referred}
- {name: later, command: [a], groups: [by-node], after: [one]}
---
name: referred
schedule: "@manual"
command: [a]
groups: [by-node]
---
name: other
schedule: 0 6 * * *
timezone: UTC
command: [a]
groups: [by-node]
---
name: far
schedule: 0 6 * * *
timezone: UTC
command: [a]
where: zone=us
groups: [elsewhere]
END
run peal plan -f limits -o json
expect_status 2
expect_json '.jobs[] | select(.name == "nightly") | [.groups[] | [.group, .where, .most, .starts]]' '[["by-label",null,1,3],["by-node",null,2,3]]'
expect_json '.jobs[] | select(.name == "other") | [.groups[] | [.group, .most, .starts]]' '[["by-node",2,3]]'
expect_json '.jobs[] | select(.name == "far") | .groups' '[]'
expect_json '[.documents[] | [.kind, .name, .action]]' '[["group","by-label","create"],["group","by-node","create"],["group","elsewhere","create"]]'
run peal plan -f limits
expect_stdout_has 'groups     3 runs of by-label start in one second, of which 1 may run: '
expect_stdout_has '+ group by-node   limits/jobs.yaml:2:7'
expect_stdout_has 'beside jobs 3 to create, 0 to change, 0 to delete; 0 stay as they are'

# A calendar of the files moves ticks of jobs that stay as they are, in the files and elsewhere.
mkdir dates
cat >dates/jobs.yaml <<'END'
kind: calendar
name: closed
dates: [12-25, 12-26]
---
name: mine
schedule: 0 7 * * *
timezone: UTC
command: [a]
calendars: [closed]
END
run peal apply -f dates
expect_status 0
run peal add theirs '0 8 * * *' --tz UTC --calendar closed -- a
sed -i 's/, 12-26//' dates/jobs.yaml
run peal plan -f dates -o json
expect_status 2
expect_json '[.documents[] | [.kind, .action, .fields[0].place.line]]' '[["calendar","change",3]]'
expect_json '[.jobs[] | [.name, .action, .ticks.gained, .ticks.lost]]' '[["mine","move",1,0],["theirs","move",1,0]]'
run peal plan -f dates
expect_stdout_has '* theirs'
run peal plan -f dates -o markdown
expect_stdout_has '#### other ticks of theirs'
expect_stdout_has '#### change calendar closed'
# The same between files.
mkdir dates-old
sed 's/12-25/12-24/' dates/jobs.yaml >dates-old/jobs.yaml
run peal plan -f dates --against dates-old -o json
expect_status 2
expect_json '[.jobs[] | [.name, .action, .ticks.moved]]' '[["mine","move",1]]'
rm dates-old/jobs.yaml
sed -n '/^name: mine/,$p' dates/jobs.yaml >dates-old/jobs.yaml
run peal plan -f dates-old --against dates
expect_status 2
expect_stdout_has '- calendar closed'

run peal apply -f gates
run peal plan -f gates # nothing changes, whatever is in maintenance
expect_status 0
finish
