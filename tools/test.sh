#!/bin/sh
# tools/test.sh BUILD-DIR [argument of ctest]...
# Runs the tests of a build directory, quick ones first, and ends with one line of totals:
#   N passed, N failed, N skipped
# Status 1 when something failed. Test cases are counted, see report.awk. Up to ten test programs
# that failed are run once more, alone: on a machine that others use, too, something may be late that
# a test does not wait for. They are named, and kept in the list that PEAL_UNSTEADY names, if it does.
set -eu

here=$(dirname "$0")
build=$1
shift

# mawk waits for a full buffer unless it is told that someone is watching.
interactive=
case $(awk -W version </dev/null 2>&1 | head -n 1) in
mawk*) interactive='-W interactive' ;;
esac

# Each test takes some slots of a processor; see cmake/PealTest.cmake. Five are given away for each:
# what is said to work waits now and then, and with four a quarter of the machine was idle.
slots=5
jobs=$(($(nproc) * slots))

again=10
failures=$build/Testing/Temporary/LastTestsFailed.log

run_tests()
{
    rm -f "$failures"
    ctest --test-dir "$build" -j "$jobs" -V "$@" && return
    [ "$(wc -l <"$failures")" -le "$again" ] || return 0
    echo "== again"
    ctest --test-dir "$build" -j 1 -V --rerun-failed
}

# shellcheck disable=SC2086 # two words or none
run_tests "$@" 2>&1 </dev/null | awk $interactive -v list="${PEAL_UNSTEADY:-}" -f "$here/report.awk"
