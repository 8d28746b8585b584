#!/bin/sh
# start.sh COUNT UNIX_S PROGRAM [ARGUMENT]...: the work, done by Debian's cron, with folders of its own in place of the
# machine's. It knows minutes only, and starts each line with a shell.
set -eu

if [ "${CRON_INSIDE:-}" != 1 ]; then
    CRON_INSIDE=1 exec unshare --mount --propagation private "$0" "$@"
fi
count=$1 when=$2
shift 2
work=$(mktemp -d)
mkdir "$work/cron.d" "$work/spool" "$work/run"
yes "$(TZ=UTC date -d "@$when" '+%-M %-H %-d %-m') * root $*" | head -n "$count" >"$work/cron.d/work"
: >"$work/crontab"
chmod 0755 "$work" "$work/cron.d"
chmod 0644 "$work/cron.d/work" "$work/crontab"
mkdir -p /etc/cron.d /var/spool/cron/crontabs
[ -e /etc/crontab ] || : >/etc/crontab
mount --bind "$work/cron.d" /etc/cron.d
mount --bind "$work/spool" /var/spool/cron/crontabs
mount --bind "$work/crontab" /etc/crontab
mount --bind "$work/run" "$(readlink -f /var/run)"
echo ready
exec env TZ=UTC "$(dirname "$0")/cron-root/usr/sbin/cron" -f >/dev/null 2>&1
