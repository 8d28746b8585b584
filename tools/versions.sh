#!/bin/bash
# tools/versions.sh [VERSION|COMMIT...]
# Runs clusters of an earlier peal and this one: of each that is named, what test/versions and test/reliability have for it. By default
# these are the last released version (test/versions/released.txt), and the last one without retries, parameters, spread and place.
#
# tools/versions.sh --programs VERSION|COMMIT
# Prints the folder of its programs. They are built from this repository's history, without the console and with the modules, and
# kept in build/versions.
set -euo pipefail

cd "$(dirname "$0")/.."
before_places=33e22b621f1ba819ca20ed4d83fe6ebde8610d99
released=test/versions/released.txt

commit_of() # VERSION|COMMIT
{
    local commit
    commit=$(awk -v version="${1#v}" '$1 == version { print $2 }' "$released")
    git rev-parse --short=12 --verify "${commit:-$1}^{commit}" 2>/dev/null || {
        echo "versions: $1 is neither in $released nor a commit that is here" >&2
        return 1
    }
}

# Prints the folder of the programs.
build_version() # VERSION|COMMIT
{
    local commit folder
    commit=$(commit_of "$1")
    folder=build/versions/$commit
    if [ ! -e "$folder/done" ]; then
        rm -rf "$folder"
        mkdir -p "$folder/source"
        git archive "$commit" | tar -x -C "$folder/source"
        cmake -S "$folder/source" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DPEAL_REVISION=$commit" \
            -DPEAL_CONSOLE=OFF "-DCMAKE_RUNTIME_OUTPUT_DIRECTORY=$PWD/$folder/bin" >&2
        cmake --build "$folder" --target peal peal-spawn >&2
        cmake --build "$folder" --target peal-call >&2 || true # since HTTP calls have one
        touch "$folder/done"
    fi
    echo "$PWD/$folder/bin"
}

if [ "${1-}" = --programs ]; then
    build_version "${2:?name a version or a commit}"
    exit
fi

status=0
is_released=$(awk '!/^#/ { print $1 }' "$released")
[ $# -gt 0 ] || set -- "$before_places" "$(tail -n 1 <<<"$is_released")"
for version in "$@"; do
    programs=$(build_version "$version")
    echo "== $version beside this version"
    if grep -qxF -e "${version#v}" <<<"$is_released"; then
        PEAL_OLD_BIN=$programs test/versions/back_test.sh || status=1
        for store in etcd postgresql redis; do
            "$programs/peal" help start | grep -q "$store://" || {
                echo "skipped: $version knows no store in $store"
                continue
            }
            test/reliability/run.sh --store "$store" --earlier "$programs" --duration 3m || status=1
        done
    else
        PEAL_OLD_BIN=$programs test/versions/mixed_test.sh || status=1
    fi
done
exit "$status"
