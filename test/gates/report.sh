#!/bin/sh
# report.sh PLANTED-PROGRAM SANITIZERS(ON|OFF)
# Runs test.sh on build directories with planted tests and looks at its last line and status.
set -eu

unset PEAL_UNSTEADY # of the run that this test is part of
planted=$1
sanitizers=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# expect STATUS LAST-LINE PATTERN, the tests on stdin as CTest writes them down; PATTERN must be in
# the output.
expect()
{
    cat >"$dir/CTestTestfile.cmake"
    status=0
    "$PEAL_SOURCE/tools/test.sh" "$dir" >"$dir/log" || status=$?
    last=$(tail -n 1 "$dir/log")
    if [ "$status" -ne "$1" ] || [ "$last" != "$2" ] || ! grep -q -- "$3" "$dir/log"; then
        echo "wanted status $1, \"$2\" and \"$3\"; got status $status and:"
        cat "$dir/log"
        exit 1
    fi
}

expect 0 '5 passed, 0 failed, 0 skipped' 'passed .*two *2 cases' <<END
add_test(two $planted)
add_test(two_more $planted)
add_test(script true)
END

expect 1 '1 passed, 1 failed, 0 skipped' '2 != 0x3' <<END
add_test(one_fails $planted fail)
END

if grep -q 'OK' "$dir/log"; then
    echo "shows the case that passed:"
    cat "$dir/log"
    exit 1
fi

expect 1 '0 passed, 1 failed, 0 skipped' 'the reason' <<END
add_test(script_fails sh -c "echo the reason; exit 3")
END

expect 0 '2 passed, 0 failed, 2 skipped' '^skipped: .*no such server here' <<END
add_test(one_skips $planted skip)
add_test(script_skips sh -c "echo no such server here; exit 77")
set_tests_properties(script_skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(script true)
END

# A case that takes its program with it is a failure; so is a program that never ends, one that
# is not there, one killed after its last case, and a directory without tests.
expect 1 '1 passed, 1 failed, 0 skipped' '^failed: .*crashes: abort' <<END
add_test(crashes $planted abort)
END

expect 1 '0 passed, 1 failed, 0 skipped' '^failed: .*hangs.*Timeout' <<END
add_test(hangs sleep 30)
set_tests_properties(hangs PROPERTIES TIMEOUT 1)
END

expect 1 '0 passed, 1 failed, 0 skipped' '^failed: .*absent' <<END
add_test(absent $dir/no_such_program)
END

expect 1 '2 passed, 1 failed, 0 skipped' '^failed: .*late' <<END
add_test(late sh -c "$planted; kill -9 \$\$")
END

expect 1 '0 passed, 1 failed, 0 skipped' 'no tests were found' </dev/null

# What fails once and then passes is named. It fails if it told of a memory error, or was not alone.
# once NAME WORDS FAULT: says the words and has the fault, the first time.
once()
{
    first="touch $dir/$1; echo $2; $planted $3; exit 1"
    echo "add_test($1 sh -c \"test -e $dir/$1 || { $first; }; $planted\")"
}

once unsteady late fail | expect 0 '2 passed, 0 failed, 0 skipped' '^unsteady: unsteady: fail'
once grave AddressSanitizer fail | expect 1 '1 passed, 1 failed, 0 skipped' '^failed: .*grave'
for i in $(seq 11); do once "many$i" late fail; done |
    expect 1 '11 passed, 11 failed, 0 skipped' '^failed: .*many2'

# The list of those has it until it was steady for a while; what the list says besides stays.
list()
{
    if [ "$(cat "$dir/list")" != "$1" ]; then
        echo "the list is not \"$1\", but:"
        cat "$dir/list"
        exit 1
    fi
}
export PEAL_UNSTEADY="$dir/list"
printf '# words\nolder 18\nnot_run 3\n' >"$PEAL_UNSTEADY"
{
    once wavers late fail
    echo "add_test(older true)"
} | expect 0 '3 passed, 0 failed, 0 skipped' '^unsteady: wavers'
list "$(printf '# words\nolder 19\nnot_run 3\nwavers 0')"
printf 'add_test(older true)\nadd_test(wavers true)\n' |
    expect 0 '2 passed, 0 failed, 0 skipped' '^passed'
list "$(printf '# words\nnot_run 3\nwavers 1')"
echo 'add_test(wavers false)' | expect 1 '0 passed, 1 failed, 0 skipped' '^failed: .*wavers'
list "$(printf '# words\nnot_run 3\nwavers 1')"
unset PEAL_UNSTEADY

if [ "$sanitizers" = ON ]; then
    expect 1 '1 passed, 1 failed, 0 skipped' 'heap-use-after-free' <<END
add_test(broken $planted memory)
END
    expect 1 '2 passed, 1 failed, 0 skipped' 'LeakSanitizer' <<END
add_test(broken $planted leak)
END
    # Not its leak, but its failure.
    once leaves late fail-leaking | expect 0 '2 passed, 0 failed, 0 skipped' '^unsteady: leaves'
fi
