#!/bin/bash
# The library as a guest in a process: hygiene.c, each of its tests in a process and a folder of its own,
# shared and static. LIBRARY_UNDER is a program that runs them, such as valgrind.
. "$(dirname "$0")/lib.sh"

read -r -d '' -a under <<<"${LIBRARY_UNDER-}" || :
install_library
export LD_LIBRARY_PATH=$prefix/lib

for archive in lpeal l:libpeal.a; do
    program=$scratch/hygiene-${archive//[!a-z]/-}
    # shellcheck disable=SC2046 # lists of options
    run "$built_by" -std=gnu11 -Wall -Wextra -Werror "${sanitizers[@]}" "$here/hygiene.c" \
        $(pkg-config --static --cflags --libs peal | sed "s/-lpeal/-$archive/") -o "$program"
    expect_status 0
    for test in $("$program"); do
        PEAL_DATA=$program.data/$test run timeout "$patience" "${under[@]}" \
            "$program" "$test" "$scratch/report"
        cat "$scratch/report" >>"$scratch/err"
        expect_status 0
        grep -v '^peal: ' "$scratch/err" >"$scratch/out" || :
        expect_stdout ''
    done
done

finish
