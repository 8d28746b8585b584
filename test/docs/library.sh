#!/bin/bash
# What documents show of the library is compiled: each C and C++ block is a program of its own, whose
# functions the library has. Blocks of other languages are parsed where there is something that parses them.
# usage: library.sh LIBRARY
set -euo pipefail
cd "$PEAL_SOURCE"

library=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
warnings=(-Wall -Wextra -Werror -Wno-unused-parameter)

# Its blocks as files, N.LANGUAGE
split() { # DOCUMENT
    rm -f "$scratch"/[0-9]*
    awk -v folder="$scratch" '
        /^```[a-z]+$/ { file = folder "/" ++count "." substr($0, 4); printf "" >file; next }
        /^```$/ && file { close(file); file = ""; next }
        file { print >file }' "$1"
}

check() { # FILE
    case $1 in
    *.c) cc -std=c11 -D_GNU_SOURCE "${warnings[@]}" -Iinclude -c -o "$scratch/block.o" "$1" ;;
    *.cpp) c++ -std=c++17 "${warnings[@]}" -Iinclude -c -o "$scratch/block.o" "$1" ;;
    *.python) ! command -v python3 >/dev/null || python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$1" ;;
    *.go) ! command -v gofmt >/dev/null || [ -z "$(gofmt -l <"$1")" ] ;;
    esac
}

# Does the library have what it calls?
has_functions() {
    local name
    for name in $(nm -u "$scratch/block.o" | sed -n 's/^ *U \(peal_[a-z_]*\)$/\1/p'); do
        nm -D --defined-only "$library" | grep -q " $name\(@\|$\)" || {
            echo "$name is not in the library"
            return 1
        }
    done
}

for document in README.md README.zh-CN.md docs/LIBRARY.md docs/FROM-LIBRARIES.md docs/COORDINATION.md; do
    split "$document"
    for file in "$scratch"/[0-9]*; do
        rm -f "$scratch/block.o"
        if ! check "$file" || { [ -f "$scratch/block.o" ] && ! has_functions; }; then
            echo "$document: this block is wrong:"
            cat "$file"
            failed=1
        fi
    done
done

[ -z "${PEAL_WRITE-}" ] || tools/reference.sh --write
if ! tools/reference.sh | diff -u docs/LIBRARY-REFERENCE.md - >"$scratch/diff"; then
    cat "$scratch/diff"
    echo 'docs/LIBRARY-REFERENCE.md is not as include/peal.h: PEAL_WRITE=1 ctest -R library_docs, or tools/reference.sh --write'
    failed=1
fi
exit $failed
