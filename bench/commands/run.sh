#!/bin/sh
# Commands that handle many jobs: the time that each takes, and beside it what the store and the trail
# of changes alone take for the same new jobs, in batches of a thousand, in SQLite and in an etcd of one
# member whose writes reach the disk. Takes about two minutes.
# usage: bench/commands/run.sh [BUILD_DIR]
#   BENCH_JOBS=100000   jobs
# shellcheck disable=SC2317 # functions are called by their names
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
alone=$build/bench/commands_bench
cluster=$build/bench/cluster_bench
peal=$build/bin/peal
[ -x "$peal" ] || peal=$here/../../build/bin/peal
many=${BENCH_JOBS:-100000}
. "$here/../figures.sh"
. "$here/../etcd.sh"

for program in "$alone" "$cluster" "$peal"; do
    if ! [ -x "$program" ]; then
        echo "bench/commands: $program is wanted; build it first" >&2
        exit 1
    fi
done
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
data=$work/data
jobs=$work/jobs.yaml
trap '"$peal" stop --data "$data" 2>/dev/null || true; exec 3>&-; wait; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

seq "$many" | awk '{
    printf "---\nname: bench/job-%06d\nschedule: %d %d * * *\nshell: report --number %d\n", $1, $1 % 60, $1 % 24, $1
}' >"$jobs"

took_s() { # COMMAND...
    before=$(now_ms)
    "$@" >"$work/out" 2>"$work/err" || {
        cat "$work/err" >&2
        exit 1
    }
    calculate "($(now_ms) - $before) / 1000"
}

start() { # [OPTION...]
    rm -rf "$data"
    took_s "$peal" start -d --data "$data" --listen none "$@" 3>&- >/dev/null
}

command_s() { # COMMAND [OPTION...]
    took_s "$peal" --data "$data" "$@"
}

first_row() {
    "$peal" --data "$data" list | head -n 1
}

# The median of the rounds, by the ratio of the store's time to the command's.
new_jobs() { # WHERE ROUND_FUNCTION
    for i in $(seq $rounds); do
        "$2" "$i"
    done >"$work/rounds"
    # shellcheck disable=SC2046 # words
    set -- "$1" $(median <"$work/rounds")
    line "apply of $many new jobs, $1" "$3 s" "store and history alone $4 s" "$2" '0.80' "$2 >= 0.8"
    line '  until the history has their records, too' "$5 s more" '' '' '' ''
}

bare_s() { # sqlite|ETCD
    rm -rf "$work/alone"
    mkdir "$work/alone"
    "$alone" "$1" "$work/alone" "$many" 3>&-
}

round_of_sqlite() {
    bare=$(bare_s sqlite)
    start
    all=$(command_s apply -f "$jobs")
    later=$(command_s audit --count 1)
    [ "$1" -eq "$rounds" ] || "$peal" stop --data "$data" 2>/dev/null
    echo "$(calculate "$bare / $all") $all $bare $later"
}

round_of_etcd() {
    start_etcd "$cluster"
    bare=$(bare_s "$etcd")
    start_etcd "$cluster"
    start --store "etcd://$etcd/bench"
    all=$(command_s apply -f "$jobs")
    later=$(command_s audit --count 1)
    "$peal" stop --data "$data" 2>/dev/null
    echo "$(calculate "$bare / $all") $all $bare $later"
}

heading 'what' 'peal' 'the machine' 'ratio' 'budget'
new_jobs SQLite round_of_sqlite
read_s=$(took_s cat "$jobs")
for command in 'validate' 'apply -f' 'diff -f'; do
    # shellcheck disable=SC2086 # words
    s=$(command_s $command "$jobs")
    line "${command% -f} of $many unchanged jobs" "$s s" "cat $read_s s" '' '5 s' "$s <= 5"
done
s=$(took_s first_row)
page_s=$(command_s list -q job-000001)
line "first row of a list of $many jobs" "$s s" "a list of one $page_s s" '' '' ''
s=$(command_s list)
line '  the whole list' "$s s" '' '' '' ''
"$peal" stop --data "$data" 2>/dev/null
start_etcd "$cluster"
if [ "$etcd" = none ]; then
    echo 'skipped: there is no etcd here; Debian has it in etcd-server'
else
    new_jobs etcd round_of_etcd
fi
exit $failed
