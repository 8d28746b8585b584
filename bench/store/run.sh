#!/bin/sh
# Runs per second through the SQLite store beside the disk's and bare SQLite's own limit.
# usage: bench/store/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
bench=$build/bench/store_bench
if ! [ -x "$bench" ]; then
    echo "bench/store: $bench is not there; build it first" >&2
    exit 1
fi
exec "$bench" "$build/bench"
