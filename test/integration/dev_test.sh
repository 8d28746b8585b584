#!/bin/bash
# peal dev: shows runs at once, and leaves nothing behind.
. "$(dirname "$0")/lib.sh"

mkdir "$scratch/tmp"
export PEAL_STORE=etcd://127.0.0.1:1 # a cluster is none of its business
TMPDIR=$scratch/tmp "$(command -v peal)" dev >"$scratch/shown" 2>"$scratch/talk" &
dev=$!
wait_until grep -q 'clock    | ✓ ok after' "$scratch/shown"

# What it says about another terminal is true there.
grep '^  export' "$scratch/shown" >"$scratch/exports"
# shellcheck disable=SC2016 # the inner shell is to expand it
run env -i PATH=/usr/bin:/bin sh -c '. "$1" && peal list -o name' sh "$scratch/exports"
expect_status 0
expect_stdout "clock
flaky
long
relay"
run cat "$scratch/shown"
expect_stdout_has 'clock    | it is '
expect_stdout_has 'started (manual)'
kill -INT $dev
wait $dev
status=$?
ran='peal dev, interrupted'
expect_status 0
run ls -A "$scratch/tmp"
expect_stdout ''
run cat "$scratch/talk"
expect_stdout ''
run processes_with "$scratch/tmp"
expect_stdout ''

finish
