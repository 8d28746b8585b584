#!/bin/sh
# pictures.sh
# Every picture of docs/CONSOLE.md and of the READMEs is there, none is there for nothing, and together they are small.
set -eu

BYTES_MAX=3000000

cd "$PEAL_SOURCE/docs"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
grep -oh 'console/[a-z-]*\.\(webp\|gif\)' CONSOLE.md ../README.md ../README.zh-CN.md | sort -u >"$dir/shown"
find console -type f | sort >"$dir/there"
if ! diff "$dir/shown" "$dir/there"; then
    echo "the documents (<) and docs/console (>) differ; make pictures takes them anew"
    exit 1
fi
bytes=$(cat console/* | wc -c)
if [ "$bytes" -gt "$BYTES_MAX" ]; then
    echo "the pictures have $bytes bytes; they may have $BYTES_MAX"
    exit 1
fi
