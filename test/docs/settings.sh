#!/bin/bash
# docs/CONFIG.md has the sample file as the program prints it, from the table of settings.
# shellcheck disable=SC2016 # the backquotes are Markdown's
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

peal config sample >"$scratch/sample"
sed -n '/^```yaml$/,/^```$/p' "$source_dir/docs/CONFIG.md" | sed '1d;$d' >"$scratch/told"
run diff "$scratch/told" "$scratch/sample"
expect_status 0

# Completion asks for their names.
run peal completion bash
expect_stdout_has "'config show') below='' options="
expect_stdout_has "arguments=( 'config show')"
run env PEAL_CONFIG=/nowhere peal config show -o name
expect_status 0
checks=$((checks + 1))
[ "$(grep -c . "$scratch/out")" -ge 40 ] || mismatch 'expected all settings'
finish
