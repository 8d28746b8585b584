#!/bin/bash
# One format of files for jobs and what they name: there and back by peal export and apply, what is
# refused and where, secrets, rights, selections, and files that are made up. PEAL_SEED repeats a run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/file_docs_lib.sh"
unset PEAL_URL PEAL_TOKEN PEAL_TOKEN_FILE PEAL_CA PEAL_LISTEN
cd "$scratch" || exit 1
export_secrets

# ---- there and back ----
start_agent one --listen 127.0.0.1:0
fill_agent >filled 2>&1
run cat filled
expect_stdout_has 'created shop/dump'
run peal export yaml
expect_status 0
cp out all.yaml
expect_no_secrets all.yaml
run peal export yaml
expect_stdout "$(cat all.yaml)"
run grep -c '^kind: [^w]' all.yaml
expect_stdout 20
run grep -n -e '^kind: group' -e '^name: shop/dump' all.yaml
expect_stdout_has '1:kind: group'
run peal apply -f all.yaml
expect_status 0
expect_stdout_lacks 'created'
expect_stdout_lacks 'changed'
run peal diff -f all.yaml
expect_status 0
run peal plan -f all.yaml
expect_status 0
expect_stdout_has 'beside jobs 0 to create, 0 to change, 0 to delete; 20 stay as they are'
run peal validate all.yaml
expect_status 0
expect_stdout_has 'ok group db-backup'
run peal export json
expect_status 0
cp out all.json
expect_no_secrets all.json
expect_json '[.[] | .kind // "job"] | group_by(.) | map([.[0], length])' \
    '[["calendar",4],["channel",10],["group",3],["job",3],["maintenance",3],["workflow",1]]'

for form in yaml json; do
    start_agent "two-$form"
    run peal apply -f "all.$form" --dry-run
    expect_status 0
    expect_stdout_has 'would create channel pager'
    expect_stdout_has 'would create shop/dump'
    run peal export "$form"
    expect_stdout_lacks shop
    run peal apply -f "all.$form"
    expect_status 0
    expect_stdout_has 'created calendar events'
    run peal export "$form"
    expect_stdout "$(cat "all.$form")"
    run peal apply -f "all.$form"
    expect_status 0
    expect_stdout ''
    expect_stderr_has '24 unchanged'
    run peal stop
done

# By import, which shows, and adds, but changes nothing that is there.
run peal import yaml all.yaml
expect_status 0
expect_stderr_has '4 jobs, and 20 more; nothing was changed, --apply adds them'
expect_stdout "$(cat all.yaml)"
start_agent three
run peal group set db-backup --cluster 9
run peal import yaml all.yaml --apply
expect_status 4
expect_stderr_has 'group db-backup: there is another one of this name'
expect_stderr_has '--replace changes them'
run peal list -o name
expect_stdout ''
run peal import yaml - --apply --replace
expect_status 6
run_with_stdin all.yaml peal import yaml - --apply --replace
expect_status 0
expect_stdout_has 'changed group db-backup'
run peal export yaml
expect_stdout "$(cat all.yaml)"
run peal get shop/dump -o json
expect_json .applied_at null

# ---- secrets ----
# What is not in the environment stays as the target has it; without either it is said what to do.
env -u PEAL_CHANNEL_PAGER_TOKEN -u PEAL_CHANNEL_ROOM_URL peal apply -f all.yaml >out 2>err
status=$? ran='peal apply without two secrets'
expect_status 0
expect_stderr_has '20 unchanged'
start_agent four
run env -u PEAL_CHANNEL_PAGER_TOKEN -u PEAL_CHANNEL_ROOM_URL -u PEAL_CHANNEL_HOOK_HEADER_AUTHORIZATION peal apply -f all.yaml
expect_status 6
line=$(grep -n PEAL_CHANNEL_PAGER_TOKEN all.yaml | cut -d : -f 1)
expect_stderr_has "all.yaml:$line:3: token: there is no value for it, neither here (environment variable PEAL_CHANNEL_PAGER_TOKEN) nor on the agent"
expect_stderr_has 'peal channel set pager --type pagerduty --key-file FILE'
expect_stderr_has 'peal channel set room --type slack --hook-file FILE'
expect_stderr_has 'headers/Authorization: there is no value'
expect_stderr_has 'nothing was changed'
run peal group list -o name
expect_stdout ''
run peal list -o name
expect_stdout ''
cat >channel.yaml <<'END'
kind: channel
name: sub
type: ntfy
url: https://ntfy.sh/topic
token: {file: keys/token}
END
mkdir keys
run peal apply -f channel.yaml
expect_status 6
expect_stderr_has 'channel.yaml:5:8: token: there is no value for it, neither here (file keys/token)'
echo tk_one >keys/token
run peal apply -f channel.yaml
expect_stdout 'created channel sub'
run peal apply -f channel.yaml
expect_stderr_has '1 unchanged'
echo tk_two >keys/token
run peal apply -f channel.yaml --dry-run
expect_stdout 'would change channel sub'
run peal apply -f channel.yaml
expect_stdout 'changed channel sub'
rm -r keys
run peal apply -f channel.yaml
expect_status 0
expect_stdout ''
sed 's/{file: keys.token}/"********"/' channel.yaml >mask.yaml
run peal apply -f mask.yaml
expect_status 0
sed 's/name: sub/name: other/' mask.yaml >other.yaml
run peal apply -f other.yaml
expect_status 6
expect_stderr_has 'other.yaml:5:8: token: the asterisks stand for no value that the agent has. First: peal channel set other --type ntfy --key-file FILE'
sed 's/{file: .*/{vault: x}/' channel.yaml >vault.yaml
run peal apply -f vault.yaml
expect_status 6
expect_stderr_has 'vault.yaml:5:8: token: expected the value itself, {env: NAME} or {file: PATH}'

# ---- one decision ----
cat >wrong.yaml <<'END'
kind: group
name: fresh
cluster: 0
---
- kind: calendar
  name: dates
  dates: [12-25, 02-30]
- kind: channel
  name: c
  type: slak
- kind: group
  name: fine
  node: 2
- name: a
  schedule: 0 25 * * *
  command: [x]
END
run peal apply -f wrong.yaml
expect_status 6
expect_stderr_has 'wrong.yaml:3:10: cluster:'
expect_stderr_has 'wrong.yaml:7:18: dates[1]:'
expect_stderr_has 'wrong.yaml:10:9: type: "slak" is not one of'
expect_stderr_has 'wrong.yaml:15:'
run peal group show fine
expect_status 3
# What is wrong with one job keeps everything else from being written, too.
cat >half.yaml <<'END'
kind: group
name: fine
node: 2
---
name: a
schedule: "@daily"
command: [x]
groups: [fine]
---
name: b
schedule: "@daily"
command: [x]
groups: [fine, missing]
END
run peal apply -f half.yaml
expect_status 6
expect_stderr_has 'half.yaml:13:16: groups[1]: there is no group "missing"'
expect_stderr_lacks '"fine"'
run peal validate half.yaml
expect_status 6
expect_stderr_has 'groups: there is no group "missing"'
run peal group show fine
expect_status 3
run peal get a
expect_status 3
sed -i 's/, missing//' half.yaml
run peal apply -f half.yaml
expect_status 0
expect_stdout 'created group fine
created a
created b'
# Twins, unknown kinds, names.
printf 'kind: group\nname: fine\nnode: 3\n' >twin.yaml
run peal apply -f half.yaml -f twin.yaml
expect_status 6
expect_stderr_has 'twin.yaml:2:7: group "fine" is defined twice: in half.yaml:1, too'
printf 'name: j\nschedule: "@daily"\ncommand: [x]\n---\nkind: quota\nname: q\nlimit: 3\n' >newer.yaml
run peal apply -f newer.yaml
expect_status 6
expect_stderr_has 'newer.yaml:5:7: kind: this peal does not know "quota"'
expect_stderr_has 'If a newer one wrote the file, use that one'
run peal get j
expect_status 3
printf 'kind: calender\nname: q\n' >typo.yaml
run peal apply -f typo.yaml
expect_stderr_has 'did you mean "calendar"?'
printf 'kind: group\nnode: 1\n' >unnamed.yaml
run peal apply -f unnamed.yaml
expect_status 6
expect_stderr_has 'unnamed.yaml:1:1: a group needs a name'
printf 'kind: group\nname: a b\nnode: 1\n' >unnamed.yaml
run peal apply -f unnamed.yaml
expect_stderr_has 'unnamed.yaml:2:7: name: "a b"'
# An older file has no kinds; a job may have its own.
printf 'kind: job\nname: plain\nschedule: "@daily"\ncommand: [x]\n' >plain.yaml
run peal apply -f plain.yaml
expect_stdout 'created plain'
# Maintenance that is over stays away.
printf 'kind: maintenance\nnamespace: x\nto: 2020-01-01T00:00:00Z\n' >over.yaml
run peal apply -f over.yaml
expect_status 0
expect_stdout ''
expect_stderr_has 'maintenance x to 2020-01-01T00:00:00Z is over, and left out'

# ---- what nobody needs ----
run peal group set idle --cluster 1
run peal calendar set unused 12-25
run peal apply -f half.yaml --prune --yes
expect_status 0
expect_stdout_has 'deleted plain'
expect_stdout_lacks idle
run peal group show idle
expect_status 0
run peal plan -f half.yaml --prune --prune-documents
expect_status 2
expect_stdout_has '- group idle'
expect_stdout_has '- calendar unused'
expect_stdout_has '- channel sub'
run peal apply -f half.yaml --prune --prune-documents
expect_status 2
expect_stderr_has 'group idle'
run peal group show idle
expect_status 0
run peal apply -f half.yaml --prune --prune-documents --dry-run
expect_stdout_has 'would delete group idle'
run peal group set used --cluster 1
run peal add by-hand @daily --group used -- x
run peal apply -f half.yaml --prune --prune-documents --yes
expect_status 0
expect_stdout_has 'deleted group idle'
expect_stdout_has 'deleted calendar unused'
run peal group list -o name
expect_stdout 'fine
used'
# A group goes with the last job that names it.
run peal delete by-hand --yes
printf 'name: only\nschedule: "@daily"\ncommand: [x]\n' >only.yaml
run peal apply -f only.yaml --prune --prune-documents --yes
expect_status 0
expect_stdout 'created only
deleted a
deleted b
deleted group fine
deleted group used'

# ---- selections ----
export PEAL_DATA=$scratch/one
run peal export yaml flow
expect_status 0
expect_stderr_has 'shop/late is in it, too'
expect_stderr_has 'shop/dump is in it, too'
cp out some.yaml
run grep -c . some.yaml
run peal validate some.yaml
expect_status 0
run grep -e '^kind' -e '^name' some.yaml
expect_stdout 'kind: group
name: db-backup
kind: group
name: scans
kind: group
name: shop/
kind: calendar
name: events
kind: calendar
name: holidays
kind: calendar
name: office
kind: channel
name: mail
kind: channel
name: pager
kind: channel
name: room
name: shop/dump
name: shop/late
kind: workflow
name: flow'
start_agent five
run peal apply -f some.yaml
expect_status 0
run peal export yaml
expect_status 0
cp out five.yaml
run diff <(sort some.yaml) <(sort five.yaml)
expect_status 0
export PEAL_DATA=$scratch/one
run peal export yaml flow --bare
expect_status 0
expect_stderr ''
expect_stdout_lacks 'kind: group'
run peal export crontab flow --bare
expect_status 2

# ---- rights ----
run peal user add root --role admin --no-password
run peal user add anna --role editor --no-password
run peal user add otto --namespace shop=editor --no-password
for user in anna otto; do
    peal token create "$user" --user "$user" >"$user.token" 2>/dev/null
done
url=http://127.0.0.1:$(sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' one/peal.log | tail -n 1)
as() { # USER COMMAND...
    local user=$1
    shift
    run env PEAL_URL="$url" PEAL_TOKEN="$(cat "$user.token")" "$@"
}
cat >rights.yaml <<'END'
kind: group
name: db-backup
cluster: 30
---
kind: calendar
name: mine
weekdays: [sun]
---
name: shop/new
schedule: "@daily"
command: [x]
calendars: [mine]
END
as otto peal apply -f rights.yaml
expect_status 1
expect_stderr_has 'rights.yaml:1:1: group db-backup: otto may not do this: it needs the right "admin"'
expect_stderr_has 'rights.yaml:5:1: calendar mine: otto may not do this: it needs the right "edit"'
expect_stderr_has 'nothing was changed'
run peal get shop/new
expect_status 3
as anna peal apply -f rights.yaml
expect_status 1
expect_stderr_has 'group db-backup: anna may not'
expect_stderr_lacks 'calendar mine:'
run peal calendar show mine
expect_status 3
# What is the same needs no right.
sed 's/cluster: 30/cluster: 3\nnode: 1\nnotes: "the storage: \\"slow\\", 慢"/' rights.yaml >same.yaml
as anna peal apply -f same.yaml
expect_status 0
expect_stdout 'created calendar mine
created shop/new'
as anna peal export yaml
expect_status 0
expect_stderr_has 'channel hook is left out: only an admin sees all of it'
expect_stdout_lacks 'kind: channel'
as otto peal export yaml shop/late
expect_status 0
expect_stdout_has 'name: shop/'

# ---- made up ----
seed=${PEAL_SEED:-$(($(date +%s%N) % 1000000007))}
echo "PEAL_SEED=$seed"
made_up() { # SEED
    awk -v seed="$1" '
    function pick(n) { return int(rand() * n) }
    function word(   i, text) {
        text = ""
        for (i = 0; i <= pick(6); i++)
            text = text substr("abcdefghijklmnopqrstuvwxyz0123456789", 1 + pick(36), 1)
        return "n" text
    }
    function text(   texts) {
        split("plain|two words|a: b|# hash|- dash|\"quoted\"|it'"'"'s|yes|12|1.10|null|~|[x]|{y}|100%|é 慢 ☃|  spaces  |back\\slash|@at|*star|&and|!bang|>more|`tick`|a#b|a: |::|---|...|0x1F|1e3|2026-01-01|22:30", texts, "|")
        return texts[1 + pick(33)]
    }
    function quoted(t) { gsub(/\\/, "\\\\\\\\", t); gsub(/"/, "\\\"", t); return "\"" t "\"" }
    BEGIN {
        srand(seed)
        for (i = 0; i < 12; i++) {
            group[i] = word() i
            printf "---\nkind: group\nname: %s\n", group[i]
            printf "cluster: %d\n", 1 + pick(100000)
            if (pick(2)) printf "node: %d\n", 1 + pick(9)
            if (pick(2)) printf "labels: {zone: %d, \"zone=%s\": %d, \"%s\": 1}\n", 1 + pick(9), word(), 1 + pick(9), word()
            if (pick(2)) printf "notes: %s\n", quoted(text())
        }
        for (i = 0; i < 12; i++) {
            calendar[i] = word() i
            printf "---\nkind: calendar\nname: %s\n", calendar[i]
            printf "dates: [%d-%02d-%02d", 2026 + pick(20), 1 + pick(12), 1 + pick(28)
            if (pick(2)) printf ", %02d-%02d", 1 + pick(12), 1 + pick(28)
            if (pick(2)) printf ", 2027-03-%02d/2027-04-%02d", 1 + pick(28), 1 + pick(28)
            print "]"
            if (pick(2)) print "weekdays: [sun, mon]"
            if (pick(2)) printf "windows: [\"%02d:%02d-%02d:00\", \"sat 22:00-%02d:30\"]\n", pick(12), pick(60), 12 + pick(12), pick(20)
            if (pick(2)) print "timezone: Asia/Shanghai"
            if (pick(2)) printf "notes: %s\n", quoted(text())
        }
        for (i = 0; i < 8; i++) {
            channel[i] = word() i
            printf "---\nkind: channel\nname: %s\ntype: webhook\n", channel[i]
            printf "url: https://example.com/%s%s\n", word(), pick(2) ? "?key=made-up" : ""
            if (pick(2)) printf "secret: {env: MADE_UP}\n"
            if (pick(2)) printf "headers: {X-%s: made-up}\n", word()
            if (pick(2)) printf "title: %s\n", quoted("T " text())
            if (pick(2)) printf "text: |\n  first\n    second: %s\n\n  last\n", "x"
            if (pick(2)) printf "notes: %s\n", quoted(text())
            if (pick(2)) printf "\"on\": [failure, late]\nquiet: %ds\n", 1 + pick(10000)
        }
        for (i = 0; i < 30; i++) {
            printf "---\nname: %s/%s%d\nschedule: %d %d * * *\ntimezone: UTC\ncommand: [%s, %s]\n", word(), word(), i, pick(60), pick(24), quoted(word()), quoted(text())
            if (pick(2)) printf "groups: [%s]\n", group[pick(12)]
            if (pick(2)) printf "calendars: [%s]\n", calendar[pick(12)]
            if (pick(2)) printf "only_on: [%s]\n", calendar[pick(12)]
            if (pick(2)) printf "notify: [%s]\n", channel[pick(8)]
            if (pick(2)) printf "labels: {%s: %s}\n", word(), quoted(text())
        }
    }'
}
export MADE_UP=made-up
for round in 1 2; do
    made_up $((seed + round)) >"made$round.yaml"
    start_agent "made-$round"
    run peal apply -f "made$round.yaml"
    expect_status 0
    run peal export yaml
    expect_status 0
    cp out "first$round.yaml"
    checks=$((checks + 1))
    ! grep -q made-up "first$round.yaml" || mismatch 'a secret was exported'
    # The secrets under the names that the export has for them.
    while read -r name; do
        case $name in
        *_URL) export "$name=https://example.com/other?key=made-up" ;;
        *) export "$name=made-up" ;;
        esac
    done < <(sed -n 's/^ *env: \(PEAL_CHANNEL_.*\)/\1/p' "first$round.yaml")
    start_agent "again-$round"
    run peal apply -f "first$round.yaml"
    expect_status 0
    run peal export yaml
    expect_stdout "$(cat "first$round.yaml")"
    run peal export json
    cp out first.json
    run peal apply -f first.json
    expect_stderr_has '62 unchanged'
done
finish
