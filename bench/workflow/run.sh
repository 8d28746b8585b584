#!/bin/sh
# Workflows: the time between two steps of a chain, and what a step costs beside a plain run, on the
# embedded store and on an etcd of one member whose writes reach the disk. The plain runs are those of a
# tick in shards, which are made together as the items of a fan-out are. Takes about a minute.
# usage: bench/workflow/run.sh [BUILD_DIR]
#   BENCH_STEPS=100   of the chain
#   BENCH_ITEMS=250   of the fan-out, and shards
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
cluster=$build/bench/cluster_bench
peal=$build/bin/peal
[ -x "$peal" ] || peal=$here/../../build/bin/peal
steps=${BENCH_STEPS:-100}
items=${BENCH_ITEMS:-250}
. "$here/../figures.sh"
. "$here/../etcd.sh"

for program in "$cluster" "$peal"; do
    if ! [ -x "$program" ]; then
        echo "bench/workflow: $program is wanted; build it first" >&2
        exit 1
    fi
done
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
data=$work/data
trap '"$peal" stop --data "$data" 2>/dev/null || true; exec 3>&-; wait; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

{
    printf 'name: chain\nschedule: "@manual"\nsteps:\n  - {name: s1, command: ["true"]}\n'
    for i in $(seq 2 "$steps"); do
        printf '  - {name: s%d, after: s%d, command: ["true"]}\n' "$i" $((i - 1))
    done
    printf -- '---\nname: wide\nschedule: "@manual"\nsteps:\n'
    printf '  - {name: s, each: {shards: %d, at_once: 64}, command: ["true"]}\n' "$items"
    printf -- '---\nname: plain\nschedule: "@manual"\nspread: shards %d\ncommand: ["true"]\n' "$items"
} >"$work/jobs.yaml"

ask() { # COMMAND [OPTION...]
    "$peal" --data "$data" "$@"
}

# Milliseconds from the end of a step to the start of the next: p50, p99.
gaps() { # RUN
    ask workflow describe "$1" -o json | jq -r '
        def ms: .[0:19] + "Z" | fromdateiso8601 * 1000;
        def at: ms + (.[20:23] | tonumber);
        [.steps | range(1; length) as $i | (.[$i].started_at | at) - (.[$i - 1].finished_at | at)]
        | sort | "\(.[length / 2 | floor]) \(.[length * 99 / 100 | floor])"'
}

# Seconds from the first start to the last end of a run's parts, or an instance's items.
span_s() { # JOB
    id=$(ask run "$1" --wait 2>/dev/null | head -n 1)
    ask runs "$1" --steps -n 1000 -o json | jq -r --arg id "$id" '
        def ms: .[0:19] + "Z" | fromdateiso8601 * 1000;
        def at: ms + (.[20:23] | tonumber);
        [.[] | select(.exit_code != null)] | ([.[].finished_at | at] | max) - ([.[].started_at | at] | min)
        | . / 1000'
}

measure() { # WHERE [OPTION...]
    where=$1
    shift
    rm -rf "$data"
    "$peal" start -d --data "$data" --listen none --default-user "$(id -un)" "$@" 3>&- >/dev/null 2>&1
    ask apply -f "$work/jobs.yaml" >/dev/null
    id=$(ask workflow run chain --wait 2>/dev/null)
    # shellcheck disable=SC2046 # words
    set -- $(gaps "$id")
    line "between two steps of $steps, p50, $where" "$1 ms" '' '' '10 ms' "$1 < 10"
    line '  p99' "$2 ms" '' '' '' ''
    plain=$(span_s plain)
    wide=$(span_s wide)
    ratio=$(calculate "$wide / $plain")
    line "fan-out of $items, $where" "$wide s" "$items plain runs $plain s" "$ratio" '2.00' "$ratio <= 2"
    "$peal" stop --data "$data" 2>/dev/null
}

heading 'what' 'peal' 'beside it' 'ratio' 'budget'
measure SQLite
start_etcd "$cluster"
if [ "$etcd" = none ]; then
    echo 'skipped: there is no etcd here; Debian has it in etcd-server'
else
    measure etcd --store "etcd://$etcd/bench"
fi
exit "$failed"
