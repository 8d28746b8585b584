#!/bin/sh
# start.sh COUNT each|UNIX_S PROGRAM [ARGUMENT]...: the work, done by supercronic. It starts each line with a shell, and
# reads both outputs.
set -eu

count=$1 when=$2
shift 2
case $when in
each) spec='* * * * * * *' ;;
*) spec=$(date -u -d "@$when" '+%-S %-M %-H %-d %-m * %Y') ;;
esac
crontab=$(mktemp)
yes "$spec $*" | head -n "$count" >"$crontab"
exec 3>&1
(sleep 1 && rm "$crontab" && echo ready >&3) &
exec env TZ=UTC "$(dirname "$0")/supercronic-bin/supercronic" -quiet "$crontab" >/dev/null 2>&1 3>&-
