#!/bin/bash
# bench/failover/table.sh [--write] [BUILD_DIR]
# What run.sh has measured last, as Markdown.
#   --write   puts it into docs/BENCHMARKS.md, between its marks
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
. "$here/../marks.sh"
document=$root/docs/BENCHMARKS.md
begin_mark='<!-- bench/failover/table.sh: begin -->'
end_mark='<!-- bench/failover/table.sh: end -->'
task=${1-}
case $task in
--write) shift ;;
--*)
    sed -n '2s/^# /usage: /p' "$0" >&2
    exit 2
    ;;
*) task= ;;
esac
results=$(cd "${1:-$root/build/release}" && pwd)/bench/failover
[ -f "$results/figures" ] || {
    echo "table: nothing is measured; run: bench/failover/run.sh" >&2
    exit 1
}
draw() {
    echo '| killed at | its run was | ticks | p50 | p90 | p99 | most | budget | skipped | twice |'
    echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
    awk '{
        begun = $2 == "begun"
        printf "| %s | %s | %d | %.2f s | %.2f s | %.2f s | %.2f s | %d s | %d | %d |\n",
            $1, begun ? "begun" : "not begun", $3, $4, $5, $6, $7, begun ? 2 : 1, $8, $9
    }' "$results/figures"
    echo
    echo "$(cat "$results/machine")."
}

if [ -z "$task" ]; then
    draw
    exit
fi
put_between "$document" "$begin_mark" "$end_mark" draw
