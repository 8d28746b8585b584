#!/bin/bash
# The crontabs of many machines, imported as shadows: collected with their logs, compared host by host and in all, taken over host by host.
. "$(dirname "$0")/lib.sh"

collector=$source_dir/packaging/fleet/collect-crontabs
root=$scratch/root
for host in web-1 web-2 db-1 new-1; do
    mkdir -p "$root/$host/etc/cron.d" "$root/$host/var/spool/cron/crontabs" "$root/$host/var/log"
    echo 'UTC' >"$root/$host/etc/timezone"
done
echo 'Asia/Tokyo' >"$root/db-1/etc/timezone"
printf '*/10 * * * * www /srv/deploy.sh --all\n' | tee "$root/web-1/etc/cron.d/deploy" >"$root/web-2/etc/cron.d/deploy"
printf '0 * * * * root echo web-1 alone\n' >"$root/web-1/etc/crontab"
printf '30 12 * * * /usr/local/bin/backup\n' >"$root/db-1/var/spool/cron/crontabs/postgres"
printf '1 5 daily nice true\n' >"$root/db-1/etc/anacrontab"
cat >"$scratch/ssh" <<END
#!/bin/sh
sed "s,/etc/,$root/\$1/etc/,g; s,/var/spool,$root/\$1/var/spool,g; s,/var/log,$root/\$1/var/log,g; s,journalctl,false,g" | sh
END
chmod +x "$scratch/ssh"
export SSH=$scratch/ssh

# ---- logs: a whole hour of two hosts, with a gap and something strange, and half a day of the third by its own clock ----

line() { # MINUTE USER COMMAND: of 18 November, in UTC, as syslog has it
    printf 'Nov 18 02:%02d:01 host CRON[17]: (%s) CMD (%s)\n' "$1" "$2" "$3"
}
{
    line 0 root 'echo web-1 alone'
    for minute in 0 10 20 30 40 50; do
        line $minute www '/srv/deploy.sh --all'
    done
    printf 'Nov 18 02:59:01 host sshd[5]: of something else\nNov 18 02:59:02 host CRON[18]: (root) CMD (true)\n'
} >"$root/web-1/var/log/syslog"
{
    for minute in 0 10 30 31 40; do
        line $minute www '/srv/deploy.sh --all'
    done
    line 50 root 'echo nobody knows'
} >"$root/web-2/var/log/cron.log"
# Tokyo is nine hours ahead.
echo 'Nov 18 12:30:01 db CROND[17]: (postgres) CMD (/usr/local/bin/backup)' >"$root/db-1/var/log/cron"

run "$collector" --log 2 "$scratch/fleet" web-1 web-2 db-1 new-1
expect_status 0
expect_stderr 'no log with lines of cron can be read'
run grep -c . "$scratch/fleet/web-1/cron.log" "$scratch/fleet/web-2/cron.log" "$scratch/fleet/db-1/cron.log"
expect_stdout "$scratch/fleet/web-1/cron.log:8
$scratch/fleet/web-2/cron.log:6
$scratch/fleet/db-1/cron.log:1"
for wrong in 0 x -1 ''; do
    run "$collector" --log "$wrong" "$scratch/fleet" web-1
    expect_status 2
done

# ---- shadows: paused, and not started ----

start_agent node --listen none
run peal shadow report --fleet "$scratch/fleet"
expect_status 3
expect_stderr_has "peal import fleet $scratch/fleet --shadow --apply"
run peal import fleet "$scratch/fleet" --shadow --prefix cron/ --apply
expect_status 0
run peal list -o name
expect_stdout 'cron/db-1/backup
cron/db-1/true
cron/fleet/deploy
cron/web-1/echo'
for job in cron/fleet/deploy cron/db-1/backup; do
    run peal get $job -o json
    expect_json '[.paused, .labels.shadow]' '[true,"cron"]'
done

# ---- the report ----

run peal shadow report --fleet "$scratch/fleet" -o json
expect_status 1
cp "$scratch/out" "$scratch/report.json"
expect_json '[.hosts[] | [.host, .jobs, .equal, .only_cron, .only_peal, .others, .problem]]' \
    '[["db-1",1,1,0,0,0,null],["new-1",0,0,0,0,0,"no cron.log"],["web-1",2,7,0,0,1,null],["web-2",1,4,1,2,1,null]]'
expect_json '[.all.jobs, .all.equal, .all.only_cron, .all.only_peal, .all.others]' '[4,12,1,2,2]'
expect_json '.missing' '[]'
expect_json '[.hosts[] | select(.host == "web-2") | .compared[].differences[] | [.at[11:16], .only, .why]] | sort' \
    '[["02:20","peal","cron has logged nothing then"],["02:31","cron","not a tick of the job'"'"'s schedule"],["02:50","peal","cron has logged other commands then"]]'
expect_json '[.hosts[] | .commands[] | [.user, .command]]' '[["root","true"],["root","echo nobody knows"]]'
run peal shadow report --fleet "$scratch/fleet"
expect_status 1
expect_stdout_has 'in all'
expect_stdout_has 'no job has the command of root: echo nobody knows'
expect_stderr_has '1 jobs of anacron are not compared'
run peal --lang zh shadow report --fleet "$scratch/fleet"
expect_stdout_has '没有任务对应 root 的命令：echo nobody knows'
run peal shadow report --fleet "$scratch/fleet" -o name
expect_stdout 'db-1
new-1
web-1
web-2'

# What is in a crontab, and no job; a span; a fleet in which all is the same.
printf '5 5 5 5 * root echo later\n' >"$scratch/fleet/web-2/crontab"
run peal shadow report --fleet "$scratch/fleet" -o json
expect_json '[.missing[] | [.job, .hosts, .schedule]]' '[["web-2/echo","web-2","5 5 5 5 *"]]'
run peal shadow report --fleet "$scratch/fleet"
expect_stdout_has 'NO JOB FOR'
rm "$scratch/fleet/web-2/crontab"
rm -r "$scratch/fleet/new-1"
year=$(peal shadow report --fleet "$scratch/fleet" -o json | jq -r '.hosts[] | select(.host == "web-2") | .compared[0].differences[0].at[0:4]')
run peal shadow report --fleet "$scratch/fleet" --since "$year-11-18T02:00:00Z" --until "$year-11-18T02:19:00Z"
expect_status 0
run peal shadow report --fleet "$scratch/fleet" --since "$year-11-18T02:00:00Z" --until "$year-11-18T02:19:00Z" -o json
expect_json '[.hosts[] | [.host, .equal, .only_cron, .only_peal, .others]]' '[["db-1",0,0,0,0],["web-1",3,0,0,0],["web-2",2,0,0,0]]'

# ---- what is no fleet ----

run peal shadow report --fleet "$scratch/nowhere"
expect_status 3
run peal shadow report --fleet "$scratch/fleet" --log x
expect_status 2
expect_stderr_has 'exclude each other'

# ---- taken over: each host its own, what they share by the label of the node ----

cp "$root/web-1/etc/cron.d/deploy" "$scratch/deploy-1"
cp "$root/web-2/etc/cron.d/deploy" "$scratch/deploy-2"
printf '30 12 * * * postgres /usr/local/bin/backup\n' >"$scratch/backup"
run peal shadow takeover "$scratch/backup" --system --host web-1
expect_status 3
run peal shadow takeover "$scratch/backup" --system --host db-1
expect_status 0
run peal get cron/db-1/backup -o json
expect_json '[.paused // false, .labels.shadow]' '[false,"taken"]'

# A node that has the label already would run the job while its crontab does, too.
run peal restart --label host=web-2 --label fleet-1
run peal shadow takeover "$scratch/deploy-1" --system --host web-1
expect_status 4
expect_stderr_has 'cron/fleet/deploy would also run on the node'
run cat "$scratch/deploy-1"
expect_stdout_lacks '#peal#'
run peal get cron/fleet/deploy -o json
expect_json '[.paused, .labels.shadow]' '[true,"cron"]'
run peal restart --fresh --listen none
run peal shadow takeover "$scratch/deploy-1" --system --host web-1
expect_status 0
expect_stderr_has 'cron/fleet/deploy runs on each node with the label fleet-1'
run peal get cron/fleet/deploy -o json
expect_json '[.paused // false, .labels.shadow]' '[false,"taken"]'
# The second host finds the job taken, and takes its line away all the same.
run peal shadow takeover "$scratch/deploy-2" --system --host web-2
expect_status 0
run cat "$scratch/deploy-2"
expect_stdout '#peal# */10 * * * * www /srv/deploy.sh --all'

# ---- and back ----

run peal shadow back "$scratch/deploy-1" --system --host web-1
expect_status 0
expect_stderr_has 'is paused for all of its hosts'
run peal get cron/fleet/deploy -o json
expect_json '[.paused, .labels.shadow]' '[true,"cron"]'
run peal shadow back "$scratch/deploy-2" --system --host web-2
expect_status 0
run cmp "$scratch/deploy-2" "$root/web-2/etc/cron.d/deploy"
expect_status 0
finish
