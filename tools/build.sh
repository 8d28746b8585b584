#!/bin/sh
# tools/build.sh PRESET [argument of cmake --build]...
# Configures and builds a preset; says nothing about what is already as it should be.
set -eu

preset=$1
shift

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! cmake --preset "$preset" >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
cmake --build --preset "$preset" "$@"
