# Sourced by the tests of libpeal: what those of ../integration have, and a tree that the library was
# installed into. $1 is the folder of the build, LIBRARY_COMPILER what it was built with (gcc or clang),
# LIBRARY_FLAGS its sanitizers.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"

build=${1:-$source_dir/build/asan}
header=$source_dir/include/peal.h
map=$source_dir/src/lib/libpeal.map
built_by=${LIBRARY_COMPILER:-gcc}
# shellcheck disable=SC2034 # for the tests
here=$source_dir/test/library
# shellcheck disable=SC2034 # for the tests
read -r -a sanitizers <<<"${LIBRARY_FLAGS-}"
prefix=$scratch/prefix
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig

fail() { # WHAT
    ran=$1
    mismatch "${2-}"
}

install_library() {
    run cmake --install "$build" --component library --prefix "$prefix"
    expect_status 0
    [ "$failures" -eq 0 ] || finish
}

# The compilers of this machine that programs are built with.
compilers() {
    local compiler
    for compiler in gcc clang; do
        if command -v "$compiler" >/dev/null; then
            echo "$compiler"
        fi
    done
}

# How COMPILER compiles FILE: as C or C++.
compiler_for() { # COMPILER FILE
    case $2 in
    *.cpp) echo "${1/#gcc/g}++" ;;
    *) echo "$1" ;;
    esac
}

# The header without what it includes and comments: one line for each { } and ;.
plain_header() {
    grep -v '^#include' "$header" | "$built_by" -E -P - | tr -s '\n ' ' ' | sed 's/[{};]/&\n/g' | sed 's/^ *//; s/ *$//'
}

# The functions that the header declares for C, as it declares them.
prototypes() {
    plain_header | tr '\n' ' ' | sed 's/{[^{}]*}//g; s/ *__attribute__((format([^)]*)))//g' | tr ';' '\n' |
        sed -n '/typedef/d; s/^ *\([^(]*\<peal_[a-z_]*(.*)\) *$/\1/p'
}

declared() {
    prototypes | sed 's/(.*//; s/.*[ *]//' | sort -u
}

# The functions that the map lists.
mapped() {
    sed -n 's/^ *\(peal_[a-z_]*\);.*/\1/p' "$map" | sort -u
}
