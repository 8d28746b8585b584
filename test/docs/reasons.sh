#!/bin/sh
# reasons.sh
# docs/JOBS.md lists every state in which a tick ends and every reason that there is, and no other.
set -eu

cd "$PEAL_SOURCE"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
{
    sed -n '/reason_names\[\]/,/^};/s/.*= "\([a-z_]*\)".*/\1/p' src/job/run.c
    sed -n '/state_names\[\]/,/^};/p' src/job/run.c | grep -o '"[a-z_]*"' | tr -d '"' |
        grep -vxE 'queued|due|claimed|begun|running'
} | grep . | sort -u >"$dir/known"
# shellcheck disable=SC2016 # the backquotes are Markdown's
sed -n '/^## How it ends/,/^## What is kept/s/^|\([^|]*\)|\([^|]*\)|.*/\1 \2/p' docs/JOBS.md |
    grep -o '`[a-z_]*`' | tr -d '`' | sort -u >"$dir/listed"
if ! [ -s "$dir/known" ] || ! diff "$dir/known" "$dir/listed"; then
    echo "src/job/run.c (<) and docs/JOBS.md (>) differ"
    exit 1
fi
