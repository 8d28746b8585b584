#!/bin/sh
# The rate of starts through peal-spawn beside that of bare posix_spawn, and 5,000 at one instant.
# usage: bench/spawn/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
bench=$build/bench/spawn_bench
if ! [ -x "$bench" ]; then
    echo "bench/spawn: $bench is not there; build it first" >&2
    exit 1
fi
"$bench"
