#!/bin/sh
# build.sh OUT: makes OUT/cron, which takes the work as all peers do, and prints its version. Debian's cron is unpacked there, not
# installed: that would start it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" -eq 0 ] || { echo 'it is for root, who alone may start it' >&2 && exit 1; }
[ -x "$1/cron-root/usr/sbin/cron" ] || {
    mkdir -p "$1/cron-root"
    (cd "$1" && rm -f cron_*.deb && apt-get -qq download cron && dpkg-deb -x cron_*.deb cron-root) >&2
}
cp "$here/start.sh" "$1/cron"
apt-cache show cron | sed -n '/^Version: /{s///p;q;}'
