#!/bin/bash
# The header alone, as strict compilers see it: in C and in C++, with all that it offers.
. "$(dirname "$0")/lib.sh"

strict='-pedantic -Wall -Wextra -Wshadow -Wconversion -Werror -fsyntax-only'
languages='c:c11 c:c17 c:gnu17 c++:c++17 c++:c++20'

printf '#include <peal.h>\n' >"$scratch/alone"
cp "$here/header_use.c" "$scratch/use.c"
cp "$here/header_use.cpp" "$scratch/use.c++"

for compiler in $(compilers); do
    for language in $languages; do
        # shellcheck disable=SC2086 # a list of options
        for file in "$scratch/alone" "$scratch/use.${language%:*}"; do
            run "$compiler" -x "${language%:*}" "-std=${language#*:}" $strict \
                -I"$source_dir/include" "$file"
            expect_status 0
            expect_stderr ''
        done
    done
done

# What is forgotten is told by the compiler, not by the program's users.
for compiler in $(compilers); do
    printf '#include <peal.h>\nvoid f(peal_run *run) { peal_log(run, "%%s", 1); }\n' >"$scratch/wrong.c"
    run "$compiler" -Wall -Werror -fsyntax-only -I"$source_dir/include" "$scratch/wrong.c"
    expect_status 1
    expect_stderr_has format
done

finish
