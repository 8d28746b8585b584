#!/bin/sh
# Claims per second through the etcd client, beside the same requests prebuilt and fired bare, with
# one member and with three.
# usage: bench/etcd/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
bench=$build/bench/etcd_bench
if ! [ -x "$bench" ]; then
    echo "bench/etcd: $bench is not there; build it first" >&2
    exit 1
fi
"$bench"
