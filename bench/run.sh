#!/bin/sh
# Runs every benchmark below bench/, one after the other, and fails if one does.
# usage: bench/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../build/release}
status=0
for script in "$here"/*/run.sh; do
    echo "== $(basename "$(dirname "$script")")"
    "$script" "$build" || status=1
done
exit "$status"
