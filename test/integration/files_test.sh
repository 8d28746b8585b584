#!/bin/bash
# Jobs in files: apply, diff, prune; crontabs in and out.
. "$(dirname "$0")/lib.sh"
start_agent data

mkdir "$scratch/jobs"
cat >"$scratch/jobs/a.yaml" <<'END'
name: one
schedule: "@daily"
command: [echo, one]
---
name: two
schedule: "@manual"
shell: echo two
END
echo '{"name": "three", "schedule": "@manual", "command": ["true"]}' >"$scratch/jobs/b.json"
echo 'not: read' >"$scratch/jobs/c.txt"

# diff says what apply would do, apply does it, and diff is silent.
run peal diff -f "$scratch/jobs"
expect_status 1
expect_stdout_has '+++ files/one'
expect_stdout_has '--- /dev/null'
run peal apply -f "$scratch/jobs" --dry-run
expect_status 0
expect_stdout "would create one
would create two
would create three"
expect_stderr_has 'nothing was changed'
run peal list -o name
expect_stdout ''
run peal apply -f "$scratch/jobs"
expect_status 0
run peal list -o name
expect_stdout "one
three
two"
run peal diff -f "$scratch/jobs"
expect_status 0
expect_stdout ''
run peal apply -f "$scratch/jobs"
expect_status 0
expect_stdout ''
expect_stderr '3 unchanged'

sed -i 's/echo two/echo 2/' "$scratch/jobs/a.yaml"
run peal diff -f "$scratch/jobs/a.yaml"
expect_status 1
expect_stdout '--- agent/two
+++ files/two
@@ -1,4 +1,4 @@
 name: two
 schedule: "@manual"
 timezone: UTC
-shell: echo two
+shell: echo 2'
run_with_stdin "$scratch/jobs/a.yaml" peal apply -f -
expect_status 0
expect_stdout 'changed two'

# prune
rm "$scratch/jobs/b.json"
run peal diff -f "$scratch/jobs"
expect_status 0
run peal diff -f "$scratch/jobs" --prune
expect_status 1
expect_stdout_has '--- agent/three'
run peal apply -f "$scratch/jobs" --prune --dry-run
expect_stdout 'would delete three'
run peal get three -o name
expect_stdout three
run peal apply -f "$scratch/jobs" --prune # nobody can be asked
expect_status 2
expect_stderr_has 'to be deleted:'
expect_stderr_has '--yes is needed'
run peal get three -o name
expect_stdout three
run peal apply -f "$scratch/jobs" --prune --yes
expect_status 0
expect_stdout 'deleted three'
expect_stderr_has 'to be deleted:'
run peal get three
expect_status 3

# Only what was applied is pruned. A job that somebody else made is adopted by its first file, and
# is a file's from then on, whoever changes it.
run peal add by-hand @manual --shell true
run curl -sS --unix-socket "$PEAL_DATA/api.sock" -X POST http://peal/api/v1/jobs \
    -d '{"name":"by-api","schedule":"@manual","shell":"true"}'
run peal apply -f "$scratch/jobs" --prune --yes
expect_status 0
expect_stdout ''
run peal diff -f "$scratch/jobs" --prune
expect_status 0
run peal get by-hand -o json
expect_json .applied_at null
cp -r "$scratch/jobs" "$scratch/more"
peal get by-hand -o yaml >"$scratch/more/by-hand.yaml"
run peal apply -f "$scratch/more" --dry-run
expect_stdout 'would adopt by-hand'
run peal apply -f "$scratch/more"
expect_stdout 'adopted by-hand'
run peal apply -f "$scratch/more"
expect_stdout ''
EDITOR="sed -i 's/shell: .*/shell: date/'" run peal edit by-hand
expect_status 0
run peal describe by-hand
expect_stdout_has 'Applied'
run peal apply -f "$scratch/jobs" --prune --yes
expect_stdout 'deleted by-hand'
run peal add by-hand @manual --shell true # a new job of that name
run peal get by-hand -o json
expect_json .applied_at null
run peal delete by-hand by-api # nobody can be asked
expect_status 2
expect_stderr 'peal: nothing was deleted: without a terminal to ask on, --yes is needed'
run peal delete --query by-
expect_status 2
run peal delete by-hand by-api --yes
expect_status 0

# One mistake, and nothing is changed; the place is told.
cat >"$scratch/bad.yaml" <<'END'
name: four
schedule: "@daily"
command: [x]
---
name: five
schedule: "0 25 * * *"
command: [x]
END
run peal apply -f "$scratch/bad.yaml"
expect_status 6
expect_stderr_has "$scratch/bad.yaml:6:"
expect_stderr_has 'hour 25 is out of range 0-23'
expect_stderr_has '^'
run peal get four
expect_status 3
sed 's/0 25/0 5/; s/command/comand/' "$scratch/bad.yaml" >"$scratch/field.yaml"
run peal apply -f "$scratch/field.yaml"
expect_status 6
expect_stderr_has 'did you mean'
run peal apply -f "$scratch/jobs/a.yaml" -f "$scratch/jobs/a.yaml"
expect_status 6
expect_stderr_has 'defined twice'
run peal apply -f "$scratch/nowhere"
expect_status 3
run peal apply
expect_status 2

# What is exported can be applied, and changes nothing.
run peal export yaml
expect_status 0
cp "$scratch/out" "$scratch/all.yaml"
run peal diff -f "$scratch/all.yaml" --prune
expect_status 0
run peal list -o yaml
expect_stdout "$(cat "$scratch/all.yaml")"
run peal export json one
expect_json '[.[].name]' '["one"]'
run peal export crontab one
expect_stdout_has '0 0 * * * echo one'
run peal export toml
expect_status 2
run peal export yaml nope
expect_status 3

# crontab
cat >"$scratch/crontab" <<'END'
MAILTO=ops@example.org
PATH=/usr/bin:/bin
*/5 * * * * /opt/check.sh --fast
@daily echo done 100\%
61 * * * * broken
END
cp "$scratch/crontab" "$scratch/before"
run peal import crontab /etc/crontab # whether there is one or not
expect_stderr_has 'name a user before the command: add --system'
run peal import crontab /etc/crontab --system
expect_stderr_lacks 'add --system'
run peal import crontab "$scratch/crontab"
expect_status 6
expect_stdout_has 'name: check'
expect_stderr_has "$scratch/crontab:5:1: error: minute 61"
expect_stderr_has "$scratch/crontab:1: warning: MAILTO"
expect_stderr_has 'nothing was changed, --apply adds them'
run peal get check
expect_status 3
run peal import crontab "$scratch/crontab" --mail-channel cron-mail
expect_status 6
expect_stdout_has 'notify: cron-mail'
expect_stderr_has 'peal channel set cron-mail --type mail'
run peal import crontab "$scratch/crontab" --apply
expect_status 6
expect_stdout_has 'created check'
run peal get check -o json
expect_json '.schedule' '"*/5 * * * *"'
run peal import crontab "$scratch/crontab" --apply
expect_stderr_has '2 unchanged'
run peal add check @manual --replace -- true
run peal import crontab "$scratch/crontab" --apply
expect_status 4
expect_stderr_has 'there is another job named check'
run peal import crontab "$scratch/crontab" --apply --replace
expect_stdout_has 'changed check'
run cmp "$scratch/crontab" "$scratch/before"
expect_status 0
run peal import
expect_status 2
# Folders: a spool of the users' crontabs, and one like /etc/cron.d.
mkdir "$scratch/spool" "$scratch/cron.d"
echo '5 4 * * * /opt/report' >"$scratch/spool/anna"
echo '6 4 * * * /opt/report' >"$scratch/spool/b.berg"
echo 'no crontab' >"$scratch/spool/tmp.XXYYZZ"
echo '7 4 * * * daemon /opt/sweep' >"$scratch/cron.d/sweep"
echo '8 4 * * * daemon /opt/left-out' >"$scratch/cron.d/old.dpkg-dist"
run peal import crontab "$scratch/spool" --prefix users/
expect_status 0
expect_stdout_has 'name: users/report'
expect_stdout_has 'user: anna'
expect_stdout_has 'name: users/report-2'
expect_stdout_has 'user: b.berg'
expect_stderr_has 'note: the files of '
expect_stderr_has '2 jobs; nothing was changed'
run peal import crontab "$scratch/cron.d" --system --prefix etc/ --apply
expect_status 0
expect_stdout 'created etc/sweep'
run peal get etc/sweep -o json
expect_json '[.user, .applied_at]' '["daemon",null]'
run peal import crontab "$scratch/cron.d" --system --prefix 'etc etera'
expect_status 2
expect_stderr_has '--prefix: a name that starts with "etc etera" may hold letters'
run peal import crontab "$scratch/nowhere"
expect_status 3

finish
