#!/bin/sh
# tools/clang.sh
# Everything compiles with clang, without a warning. The fuzzers are built; of the other files clang
# finds all that it warns of before it makes code of them, which nobody would run.
set -eu
cd "$(dirname "$0")/.."

build=build/asan-clang
tools/build.sh asan-clang --target fuzzers generated_headers

# Of files that are compiled several times one is enough. Those with planted mistakes (in the build
# directory) are compiled without warnings.
jq -r --arg root "$PWD/" '[.[] | select((.file | startswith($root)) and (.file | startswith($root + "build/") | not))]
        | group_by(.file) | map(min_by(.command | contains("/plain_")))[]
        | "cd \(.directory) && \(.command | sub(" -o [^ ]+ -c "; " -fsyntax-only "))"' \
    "$build/compile_commands.json" >"$build/looks"
xargs -d '\n' -n 1 -P "$(nproc)" sh -c <"$build/looks"
