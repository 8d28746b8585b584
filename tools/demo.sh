#!/bin/sh
# tools/demo.sh PEAL
# A short tour of what peal does today.
set -eu

peal=$1

show()
{
    echo "\$ peal $(quote "$@")"
    "$peal" "$@"
    echo
}

# The words as one would type them in a shell.
quote()
{
    line=
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_/.:=-]*) word="'$word'" ;;
        esac
        line="$line $word"
    done
    echo "${line# }"
}

echo "Every night at half past two, as the clocks of New York go forward: 02:30 does not exist on"
echo "8 March 2026, so the job starts at the end of the gap, and never twice."
show next '30 2 * * *' --tz America/New_York --from 2026-03-07 -n 3

echo "The last Friday of every month, in words and in times."
show explain '0 18 * * 5L' --tz Europe/Berlin
show next '0 18 * * 5L' --tz Europe/Berlin -n 3

echo "Seconds come first when there are six fields; an interval keeps its beat on every machine."
show next '*/20 * * * * *' -n 3
show next '@every 90s' -n 3

echo "Traps are named."
show explain '0 0 13 * 5'

echo "And so are mistakes, with the place."
echo "\$ peal validate '0 0 * * MONX'"
"$peal" validate '0 0 * * MONX' || true
