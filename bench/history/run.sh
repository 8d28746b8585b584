#!/bin/sh
# Recording runs and reading pages of them, beside bare SQLite and bare PostgreSQL with the same rows
# and tables, and beside the bare driver of MongoDB; there with 1,000 runs (BENCH_MONGO_ROWS), as
# FerretDB, which stands in for it, looks at all of them for each question. A ratio of 1 means as fast as that; more is faster. No answer of peal's should take 50 ms.
# BENCH_ROWS: a million unless set; ten million take a quarter of an hour and 10 GB of disk.
# usage: bench/history/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
bench=$build/bench/history_bench
postgres_bench=$build/bench/history_postgres_bench
mongo_bench=$build/bench/history_mongo_bench
rows=${BENCH_ROWS:-1000000}
work=$build/bench/history

if ! [ -x "$bench" ] || ! [ -x "$postgres_bench" ]; then
    echo "bench/history: $bench is not there; build it first" >&2
    exit 1
fi
rm -rf "$work"
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT
echo "SQLite"
"$bench" "$work" "$rows"
echo
echo "PostgreSQL"
"$postgres_bench" "$rows"
if [ -x "$mongo_bench" ]; then
    echo
    echo "MongoDB"
    "$mongo_bench" "${BENCH_MONGO_ROWS:-1000}"
fi
