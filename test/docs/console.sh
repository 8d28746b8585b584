#!/bin/sh
# console.sh DOCUMENT...
# Runs every `$ peal ...` of the ```console blocks and compares what it prints with the document.
# Examples fix their time with --from, so that they stay true.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
PATH=$PEAL_BIN:$PATH
cd "$PEAL_SOURCE"

# One example per pair of files: N.command and N.want.
for document in "$@"; do
    awk -v dir="$dir/$(basename "$document")" '
        /^```console/ { inside = 1; next }
        /^```/ { inside = 0; next }
        inside && /^\$ peal / {
            n++
            print substr($0, 3) > (dir "." n ".command")
            printf "" > (dir "." n ".want")
            next
        }
        inside && n && /./ { print > (dir "." n ".want") }
    ' "$document"
done

count=0
status=0
for command in "$dir"/*.command; do
    [ -f "$command" ] || continue
    count=$((count + 1))
    sh "$command" 2>&1 </dev/null | sed 's/ *$//' >"$dir/got" || true
    if ! diff -u "${command%.command}.want" "$dir/got" >"$dir/diff"; then
        echo "$(basename "$command" .command): $(cat "$command")"
        cat "$dir/diff"
        status=1
    fi
done
if [ "$count" -eq 0 ]; then
    echo "no examples in: $*"
    exit 1
fi
exit $status
