#!/bin/bash
# bench/lib/table.sh [--write | --anew] [BUILD_DIR]
# What run.sh has measured last, as a table.
#   --write   puts it into docs/BENCHMARKS.md, between its marks
#   --anew    measures first, row by row, then does that
#   BENCH_THROUGH=COMMAND   runs each row's measurement: one that waits until the machine is quiet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
. "$here/../marks.sh"
rows=(each thousand rate many small)
begin_mark='<!-- bench/lib/table.sh: begin -->'
end_mark='<!-- bench/lib/table.sh: end -->'
task=${1-}
case $task in
--*) shift ;;
*) task= ;;
esac
build=$(cd "${1:-$root/build/release}" && pwd)

draw() {
    local row files=()
    for row in "${rows[@]}"; do
        [ -f "$build/bench/lib_figures/$row.tsv" ] || {
            echo "table: the row \"$row\" is not measured; run: bench/lib/run.sh $build $row" >&2
            return 1
        }
        files+=("$build/bench/lib_figures/$row.tsv")
    done
    awk -v form=long -f "$here/table.awk" "${files[@]}"
}

case $task in
'') draw ;;
--write | --anew)
    [ "$task" = --write ] || for row in "${rows[@]}"; do
        # shellcheck disable=SC2086 # words; behind (1) is no reason to stop, an interruption is one
        ${BENCH_THROUGH-} "$here/run.sh" "$build" "$row" || [ $? -eq 1 ]
    done
    put_between "$root/docs/BENCHMARKS.md" "$begin_mark" "$end_mark" draw
    ;;
*)
    sed -n '2s/^# /usage: /p' "$0" >&2
    exit 2
    ;;
esac
