#!/bin/sh
# tools/uninstall.sh MANIFEST [DESTDIR]
# Removes the files that `make install` wrote, and the folders of peal's own that are empty then.
set -eu

manifest=$1
root=${2:-}
if ! [ -f "$manifest" ]; then
    echo "uninstall: $manifest is missing, so it is not known what was installed;" \
        "run \`make install\` with the same PREFIX first" >&2
    exit 1
fi

# CMake ends the last line of its list without a newline.
while read -r file || [ -n "$file" ]; do
    echo "-- Removing: $root$file"
    rm -f "$root$file"
    case $file in
    */peal/*) rmdir "$root${file%/*}" 2>/dev/null || true ;;
    esac
done <"$manifest"
