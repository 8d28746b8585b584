#!/bin/bash
# The crontabs of many machines: collected over a stand-in for ssh, and put together.
. "$(dirname "$0")/lib.sh"

collector=$(dirname "$0")/../../packaging/fleet/collect-crontabs
root=$scratch/root
for host in web-1 web-2 db-1; do
    mkdir -p "$root/$host/etc/cron.d" "$root/$host/etc/cron.daily" "$root/$host/var/spool/cron/crontabs"
    printf 'SHELL=/bin/sh\n17 * * * * root echo hourly\n' >"$root/$host/etc/crontab"
    echo 'Europe/Berlin' >"$root/$host/etc/timezone"
done
printf '0 3 * * * www /srv/deploy.sh --all\n' | tee "$root/web-1/etc/cron.d/deploy" >"$root/web-2/etc/cron.d/deploy"
printf '61 * * * * root broken\n' >>"$root/web-2/etc/cron.d/deploy"
printf '5 4 * * * nobody skipped\n' >"$root/web-2/etc/cron.d/deploy.dpkg-old"
printf '30 1 * * * /usr/local/bin/backup\n30 1 * * * /usr/local/bin/backup\n' >"$root/db-1/var/spool/cron/crontabs/postgres"
cat >"$root/db-1/etc/anacrontab" <<'END'
RANDOM_DELAY=45
START_HOURS_RANGE=4-22
1 5 cron.daily nice run-parts /etc/cron.daily
7 25 cron.weekly date +%F
3 5 odd true
END
echo 'Asia/Tokyo' >"$root/db-1/etc/timezone"
touch "$root/db-1/etc/cron.daily/logrotate"

# ssh HOST sh, with the machine's files in place of this one's.
cat >"$scratch/ssh" <<END
#!/bin/sh
[ "\$1" != gone ] || { echo 'no route to host' >&2; exit 255; }
sed "s,/etc/,$root/\${1##*@}/etc/,g; s,/var/spool,$root/\${1##*@}/var/spool,g" | sh
END
chmod +x "$scratch/ssh"
export SSH=$scratch/ssh

# ---- collecting ----
run "$collector" "$scratch/fleet" root@web-1 web-2 db-1
expect_status 0
expect_stdout $'web-1\nweb-2\ndb-1'
run cat "$scratch/fleet/db-1/users/postgres"
expect_stdout_has /usr/local/bin/backup
run cat "$scratch/fleet/db-1/timezone"
expect_stdout Asia/Tokyo
run cat "$scratch/fleet/db-1/periodic"
expect_stdout_has cron.daily/logrotate
run "$collector" "$scratch/fleet" gone '../x' web-1
expect_status 1
expect_stdout web-1
expect_stderr_has 'gone: not collected'
expect_stderr_has '../x: not a name'
run ls "$scratch/fleet"
expect_stdout $'db-1\nweb-1\nweb-2'
run "$collector" "$scratch/fleet"
expect_status 2

# ---- put together ----
run peal import fleet "$scratch/fleet"
expect_status 6
expect_stderr_has "$scratch/fleet/web-2/cron.d/deploy:2:1: error: minute 61 is out of range"
expect_stderr_has "$scratch/fleet/db-1/users/postgres:2: warning: the host has this job already"
expect_stderr_has "$scratch/fleet/db-1/anacrontab:5:"
expect_stderr_has 'the label fleet-1 is for the nodes web-1,web-2'
expect_stderr_has 'peal start --label host=HOST'
expect_stdout_lacks skipped
run peal --lang zh import fleet "$scratch/fleet"
expect_stderr_has '标签 fleet-1 用于节点 web-1,web-2'

start_agent data --listen none
run peal import fleet "$scratch/fleet" --prefix cron/ --apply
expect_status 6
run peal get cron/fleet/deploy -o json
expect_json '[.schedule, .user, .where, .spread, .timezone]' '["0 3 * * *","www","fleet-1","all","Europe/Berlin"]'
run peal get cron/db-1/backup -o json
expect_json '[.schedule, .user, .where, .timezone]' '["30 1 * * *","postgres","host=db-1","Asia/Tokyo"]'
run peal get cron/db-1/run-parts -o json
expect_json '[.schedule, .jitter, .catch_up, .overlap, .shell]' '["5 4 * * *","45m",null,null,"nice run-parts /etc/cron.daily"]'
run peal get cron/db-1/date -o json
expect_json '[.schedule, .shell]' '["25 4 * * 0","date +%F"]'
run peal list -o name
expect_stdout_has cron/fleet/echo
expect_stdout_has cron/db-1/echo

# ---- what is no fleet ----
mkdir "$scratch/empty" "$scratch/odd" "$scratch/odd/a,b"
run peal import fleet "$scratch/empty"
expect_status 6
expect_stderr_has 'has no folders of hosts'
run peal import fleet "$scratch/odd"
expect_status 6
expect_stderr_has 'a,b is not a name that a label can have'
run peal import fleet "$scratch/nowhere"
expect_status 3
run peal import fleet
expect_status 2
finish
