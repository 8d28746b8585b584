#!/bin/bash
# Every kind of document that a header names has its row in the table of `peal cluster import`, which
# says whether it is imported.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

grep -rhoE --include='*.h' '^#define [A-Z_]*DOC[A-Z_]* +"[a-z-]+"' "$source_dir/src" | awk '{print $2}' |
    grep -v '_NAME$' | sort -u >"$scratch/kinds"
run grep -c . "$scratch/kinds"
checks=$((checks + 1))
[ "$(cat "$scratch/out")" -ge 18 ] || mismatch 'expected the kinds of documents'
sed -n 's/^    {\([A-Z_]*DOC[A-Z_]*\), .*/\1/p' "$source_dir/bin/peal/jobs/import_docs.c" | sort >"$scratch/rows"
run diff "$scratch/kinds" "$scratch/rows"
expect_stdout ''
finish
