#!/bin/bash
# threats.sh BUILD
# Each line of the table of threats in docs/SECURITY.md has a test, and each test that it names is one.
# shellcheck disable=SC2016 # the backquotes are Markdown's
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

ctest --test-dir "$1" -N | sed -n 's/^ *Test *#[0-9]*: //p' | sort >"$scratch/tests"
sed -n '/^## Against whom/,/^## On/p' "$source_dir/docs/SECURITY.md" | grep '^|' | tail -n +3 >"$scratch/lines"

run grep -c . "$scratch/lines"
expect_status 0
rows=$(cat "$scratch/out")
checks=$((checks + 1))
[ "$rows" -ge 15 ] || mismatch 'expected the table of threats'
run grep -vE '`[a-z]+[.][a-z_]+` [|]$' "$scratch/lines"
expect_stdout '' # a line without a test

grep -oE '`(unit|integration|security|fuzz|contract|fault)[.][a-z_]+`' "$scratch/lines" | tr -d '`' | sort -u >"$scratch/named"
run comm -23 "$scratch/named" "$scratch/tests"
expect_stdout '' # a test that ctest does not know
# What is tried on the real binary is in the table.
grep '^security[.]' "$scratch/tests" >"$scratch/attacks"
run comm -13 "$scratch/named" "$scratch/attacks"
expect_stdout ''
finish
