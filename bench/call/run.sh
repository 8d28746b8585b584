#!/bin/sh
# The rate of HTTP calls through peal-call beside that of a bare loop of libcurl, and the memory of
# 5,000 calls in flight.
# usage: bench/call/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
bench=$build/bench/call_bench
if ! [ -x "$bench" ]; then
    echo "bench/call: $bench is not there; build it first" >&2
    exit 1
fi
"$bench"
