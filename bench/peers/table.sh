#!/bin/bash
# bench/peers/table.sh [--write | --anew] [BUILD_DIR]
# What run.sh has measured last, as the table of the README.
#   --write   puts it into README.md, and all figures into docs/BENCHMARKS.md, between their marks
#   --anew    measures first, row by row, then does that
#   BENCH_THROUGH=COMMAND   runs each row's measurement: one that waits until the machine is quiet
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
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

files() {
    local row
    for row in "${rows[@]}"; do
        [ -f "$build/bench/peers/$row.tsv" ] || {
            echo "table: the row \"$row\" is not measured; run: bench/peers/run.sh $build $row" >&2
            return 1
        }
        echo "$build/bench/peers/$row.tsv"
    done
}

draw() { # FORM
    files >"$scratch/files"
    xargs awk -v form="$1" -f "$here/table.awk" <"$scratch/files"
}

write_into() { # DOCUMENT FORM
    printf '%s\n\n%s\n\n%s\n' "$begin_mark" "$(draw "$2")" "$end_mark" >"$scratch/drawn"
    awk -v begin="$begin_mark" -v end="$end_mark" -v drawn="$scratch/drawn" '
        $0 == begin {
            while ((getline line <drawn) > 0)
                print line
            skip = 1
        }
        !skip
        $0 == end { skip = 0 }' "$1" >"$scratch/document"
    cat "$scratch/document" >"$1"
}

case $task in
'') draw short ;;
--write | --anew)
    [ "$task" = --write ] || for row in "${rows[@]}"; do
        # shellcheck disable=SC2086 # words; behind is no reason to stop
        ${BENCH_THROUGH-} "$here/run.sh" "$build" "$row" || true
    done
    write_into "$root/README.md" short
    write_into "$root/docs/BENCHMARKS.md" long
    ;;
*)
    sed -n '2s/^# /usage: /p' "$0" >&2
    exit 2
    ;;
esac
