#!/bin/bash
# tools/versions.sh [COMMIT]...
# Runs clusters of an earlier peal and this one: test/versions/mixed_test.sh, once for each commit. The
# earlier one is built from this repository's history, without the console, and kept in build/versions.
# By default it is the last one without retries, parameters, spread and place.
set -euo pipefail

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- 33e22b621f1ba819ca20ed4d83fe6ebde8610d99

# Prints the folder of the programs.
build_version() # COMMIT
{
    local commit folder
    commit=$(git rev-parse --short=12 "$1^{commit}")
    folder=build/versions/$commit
    if [ ! -e "$folder/done" ]; then
        rm -rf "$folder"
        mkdir -p "$folder/source"
        git archive "$commit" | tar -x -C "$folder/source"
        cmake -S "$folder/source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
            -DPEAL_CONSOLE=OFF "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$PWD/$folder/bin" >&2
        cmake --build "$folder" --target peal peal-spawn >&2
        cmake --build "$folder" --target peal-call >&2 || true # since HTTP calls have one
        touch "$folder/done"
    fi
    echo "$PWD/$folder/bin"
}

status=0
for commit in "$@"; do
    programs=$(build_version "$commit")
    echo "== $commit beside this version"
    PEAL_OLD_BIN=$programs test/versions/mixed_test.sh || status=1
done
exit "$status"
