#!/bin/sh
# Runs per second through the SQLite store beside the disk's and bare SQLite's own limit, and through
# the stores in etcd, PostgreSQL and Redis beside a bare client.
# usage: bench/store/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
for bench in store_bench store_kv_bench; do
    if ! [ -x "$build/bench/$bench" ]; then
        echo "bench/store: $build/bench/$bench is not there; build it first" >&2
        exit 1
    fi
done
"$build/bench/store_bench" "$build/bench"
for server in etcd postgres redis; do
    echo "-- in $server"
    "$build/bench/store_kv_bench" "$server"
done
