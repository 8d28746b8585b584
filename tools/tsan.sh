#!/bin/sh
# tools/tsan.sh
# Builds what has threads with ThreadSanitizer and runs its tests: stores and histories that write
# from a thread of their own, and an agent with both, and commands that send from threads, from end to end.
set -eu

cd "$(dirname "$0")/.."
tests='store_sqlite history_sqlite history_postgres history_postgres_fault history_spool'
targets=
for test in $tests; do
    targets="$targets ${test}_test"
done
# shellcheck disable=SC2086 # a list of targets
tools/build.sh tsan --target peal peal-spawn peal-call $targets
export TSAN_OPTIONS=halt_on_error=1
exec tools/test.sh build/tsan \
    -R "^(contract\.($(echo "$tests" | tr ' ' '|'))|integration\.(runs|history|jobs|many))\$"
