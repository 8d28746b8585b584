#!/bin/sh
# Runs per second through the SQLite store beside the disk's and bare SQLite's own limit, and through
# the store in etcd beside a bare client.
# usage: bench/store/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
for bench in store_bench store_etcd_bench; do
    if ! [ -x "$build/bench/$bench" ]; then
        echo "bench/store: $build/bench/$bench is not there; build it first" >&2
        exit 1
    fi
done
"$build/bench/store_bench" "$build/bench"
echo "-- in etcd"
exec "$build/bench/store_etcd_bench"
