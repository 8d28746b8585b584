#!/bin/bash
# Timers of systemd as jobs, and jobs as timers and CronJobs.
. "$(dirname "$0")/lib.sh"

units=$scratch/units
mkdir -p "$units/backup.timer.d"
cat >"$units/backup.timer" <<'END'
[Unit]
Description=Backup every night

[Timer]
OnCalendar=daily
RandomizedDelaySec=1h
FixedRandomDelay=true
WakeSystem=true

[Install]
WantedBy=timers.target
END
printf '[Timer]\nOnCalendar=\nOnCalendar=Mon..Fri 02:30 Asia/Tokyo\nPersistent=true\n' >"$units/backup.timer.d/when.conf"
cat >"$units/backup.service" <<'END'
[Service]
Type=oneshot
Environment="GREETING=hello world"
ExecStart=/bin/echo ${GREETING} from %n
TimeoutStartSec=10min
PrivateTmp=yes
END
printf '[Timer]\nOnCalendar=25:00\n' >"$units/broken.timer"
printf '[Service]\nExecStart=/bin/true\n' >"$units/broken.service"
ln -s /dev/null "$units/masked.timer"
cp -r "$units" "$scratch/before"

# ---- only shown, without an agent ----
run peal import systemd "$units"
expect_status 6
expect_stdout_has 'schedule: "30 2 * * MON-FRI"'
expect_stdout_has 'timezone: Asia/Tokyo'
expect_stdout_has 'jitter: 1h'
expect_stderr_has "$units/backup.timer:8:12: warning: job \"backup.timer\": WakeSystem=true is not converted"
expect_stderr_has "$units/backup.service:6:12: warning: job \"backup.timer\": PrivateTmp=yes is not converted"
expect_stderr_has "$units/broken.timer:2:12: error: job \"broken.timer\": OnCalendar: hour 25 is out of range 0-23"
expect_stderr_has '1 task could not be imported'
run peal --lang zh import systemd "$units"
expect_stderr_has '警告：任务“backup.timer”：WakeSystem=true 未转换'
run peal import systemd "$units/backup.timer"
expect_status 0
expect_stderr_has '1 job; nothing was changed'
(cd "$units" && cat <(echo '# /x/backup.timer') backup.timer <(echo '# /x/backup.service') backup.service) >"$scratch/cat"
run_with_stdin "$scratch/cat" peal import systemd - --prefix sys/
expect_status 0
expect_stdout_has 'name: sys/backup'
expect_stderr_has 'stdin:9:12: warning'
run peal import systemd "$scratch/nowhere.timer"
expect_status 3
echo 'nothing' >"$scratch/nothing"
run peal import systemd "$scratch/nothing"
expect_status 6
expect_stderr_has 'expected units of systemd'
run peal import systemd
expect_status 2
run diff -r "$units" "$scratch/before"
expect_status 0

# ---- added, and run ----
start_agent data --listen none
run peal import systemd "$units/backup.timer" --apply
expect_status 0
expect_stdout_has 'created backup'
run peal run backup --follow
expect_status 0
expect_stdout 'hello world from backup.service'

# ---- and back: the same ticks, the same job ----
run peal export systemd --dir "$scratch/timers"
expect_status 0
expect_stdout ''
run cat "$scratch/timers/backup.timer"
expect_stdout_has 'OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 02:30:00 Asia/Tokyo'
expect_stdout_has 'Persistent=true'
expect_stdout_has 'RandomizedDelaySec=3600'
if command -v systemd-analyze >/dev/null; then
    run systemd-analyze calendar 'Mon,Tue,Wed,Thu,Fri *-*-* 02:30:00 Asia/Tokyo'
    expect_status 0
fi
peal export yaml backup >"$scratch/ours"
peal import systemd "$scratch/timers" 2>"$scratch/notes" >"$scratch/again"
peal next backup -n 300 -o json >"$scratch/next"
run peal import systemd "$scratch/timers" --apply --replace
expect_status 0
peal next backup -n 300 -o json >"$scratch/next.again"
run diff <(jq -c '.. | .at? // empty' "$scratch/next") <(jq -c '.. | .at? // empty' "$scratch/next.again")
expect_status 0
run peal run backup --follow
expect_stdout 'hello world from backup.service'

# ---- what can't be carried ----
run peal add fast '@every 7m' -- true
run peal add call '@daily' --http http://127.0.0.1:1/
run peal add 'team/when' '0 0 * * 1' --tz UTC --where zone=eu --timeout 5m -- /bin/true
run peal export systemd
expect_status 0
expect_stdout_has '# /etc/systemd/system/team-when.timer'
expect_stdout_has '# not in systemd: where: zone=eu'
expect_stdout_has 'TimeoutStartSec=300'
expect_stderr_has 'fast is left out: systemd has no fixed rate but parts of a minute, an hour or a day'
expect_stderr_has 'call is left out: it is an HTTP call'
run peal --lang zh export systemd call
expect_stderr_has '略过 call：它是 HTTP 调用'

# ---- CronJobs ----
run peal export kubernetes team/when fast --image busybox:1.36 --namespace ops
expect_status 0
expect_stdout_has 'name: team-when'
expect_stdout_has 'namespace: ops'
expect_stdout_has 'schedule: "0 0 * * 1"'
expect_stdout_has 'activeDeadlineSeconds: 300'
expect_stdout_has '# left out: Kubernetes has no fixed rate'
peal export kubernetes team/when --image busybox:1.36 >"$scratch/cronjob.yaml"
run peal import kubernetes "$scratch/cronjob.yaml"
expect_status 0
expect_stdout_has 'schedule: "0 0 * * 1"'
expect_stdout_has 'command: [peal-container, podman, run, --rm, --entrypoint, /bin/true, busybox:1.36]'
run peal export kubernetes team/when
expect_stdout_has 'it is no container; name an image'
run peal export yaml --dir x
expect_status 2
run peal export crontab --image x
expect_status 2
finish
