#!/bin/bash
# bench/peers/table.sh [--write | --anew] [BUILD_DIR]
# What run.sh has measured last, as the table of the README.
#   --write   puts it into README.md, and all figures into docs/BENCHMARKS.md, between their marks, and draws
#             docs/pictures/bench-*.svg
#   --anew    measures first, row by row, then does that; BENCH_PEERS=all: beside everybody
#   BENCH_THROUGH=COMMAND   runs each row's measurement: one that waits until the machine is quiet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
. "$here/../marks.sh"
rows=(each thousand five_thousand sustained)
begin_mark='<!-- bench/peers/table.sh: begin -->'
end_mark='<!-- bench/peers/table.sh: end -->'
task=${1-}
case $task in
--*) shift ;;
*) task= ;;
esac
build=$(cd "${1:-$root/build/release}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# These are there if they were measured.
more=(jobs list gone)
files() {
    local row
    for row in "${more[@]}"; do
        [ ! -f "$build/bench/peers/$row.tsv" ] || echo "$build/bench/peers/$row.tsv"
    done
    for row in "${rows[@]}"; do
        [ -f "$build/bench/peers/$row.tsv" ] || {
            echo "table: the row \"$row\" is not measured; run: bench/peers/run.sh $build $row" >&2
            return 1
        }
        echo "$build/bench/peers/$row.tsv"
    done
}

draw() { # FORM
    files >"$scratch/files" || return 1
    xargs awk -v form="$1" -f "$here/table.awk" <"$scratch/files"
}

plot() { # NAME TITLE KEY...
    local name=$1 title=$2
    shift 2
    awk -v title="$title" -v wanted="$*" -f "$here/plot.awk" "$scratch/values" >"$scratch/$name.svg"
    [ ! -s "$scratch/$name.svg" ] || mv "$scratch/$name.svg" "$root/docs/pictures/bench-$name.svg"
}

plots() {
    draw values >"$scratch/values"
    plot late 'Late, 100 jobs at each second' p50_ms p99_ms
    plot burst 'The last start of jobs due at one instant' last_1000 last_5000
    plot rate '10,000 jobs due a second' rate
    plot cost 'Processor time and memory' cpu_s resident_mb mb_1000 mb_10000 mb_100000
    plot list 'The first 50 jobs over HTTP' list_1000 list_10000 list_100000
    plot gone 'Killed, and started again' gap_s gone_missed gone_doubled
}

# With the pictures of rows that need not be measured.
draw_long() {
    draw long || return 1
    local picture
    for picture in 'list|The first 50 jobs over HTTP' 'gone|Killed, and started again'; do
        [ ! -f "$root/docs/pictures/bench-${picture%%|*}.svg" ] ||
            printf '\n![%s](pictures/bench-%s.svg)\n' "${picture#*|}" "${picture%%|*}"
    done
}

case $task in
'') draw short ;;
--write | --anew)
    [ "$task" = --write ] || for row in "${rows[@]}" $([ "${BENCH_PEERS:-}" != all ] || echo "${more[@]}"); do
        # shellcheck disable=SC2086 # words; behind (1) is no reason to stop, an interruption is one
        ${BENCH_THROUGH-} "$here/run.sh" "$build" "$row" || [ $? -eq 1 ]
    done
    plots
    put_between "$root/README.md" "$begin_mark" "$end_mark" draw short
    put_between "$root/docs/BENCHMARKS.md" "$begin_mark" "$end_mark" draw_long
    ;;
*)
    sed -n '2s/^# /usage: /p' "$0" >&2
    exit 2
    ;;
esac
