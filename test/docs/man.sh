#!/bin/bash
# The manual pages: both formatters find nothing in them, and no command, option, field of a job, setting or function is
# missing.
# shellcheck disable=SC2016,SC2317 # the backquotes are Markdown's; `run` calls the functions
# usage: man.sh FOLDER    of the pages that are made from documents
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

mkdir "$scratch/man"
run peal completion man "$scratch/man"
expect_status 0
cp "$1"/*.[35] "$source_dir"/packaging/man/*.1 "$scratch/man/"
cd "$scratch/man" || exit

# ---- form ----

lint() {
    # Words of examples may be long; a page in English has no name of an operating system.
    mandoc -T lint -W style -- * 2>&1 | grep -v -e 'referenced manual not found' -e 'text line longer than 80 bytes' \
        -e 'missing.*Xr'
}
if command -v mandoc >/dev/null; then
    run lint
    expect_stdout ''
else
    echo 'skipped: there is no mandoc'
fi
warnings() {
    for page in *; do
        MANWIDTH=100 man --warnings --encoding=UTF-8 --local-file "./$page" 2>&1 >/dev/null | sed "s/^/$page: /"
    done
}
if command -v man >/dev/null && command -v groff >/dev/null; then
    run warnings
    expect_stdout ''
else
    echo 'skipped: there is no man, or no groff'
fi

# ---- content ----

# The page as text: hyphens as they are typed, no fonts.
text_of() { # PAGE
    sed -e 's/\\-/-/g' -e 's/\\f[BIRP]//g' -e 's/\\&//g' "$1"
}
expect_terms() { # PAGE: terms on stdin, each a line of its own or a key of the sample
    text_of "$1" >"$scratch/text"
    while read -r term; do
        checks=$((checks + 1))
        grep -qE "^(#? *|\.S[HS] \"|.*[ ,])$term(:.*|\"?|,.*|\(.*)?$" "$scratch/text" || mismatch "expected $term in $1"
    done
}
peal help | sed -n 's/^  \([a-z-]*\)  .*/peal-\1/p' | grep -v '^peal-help$' | sort -u >"$scratch/commands"
checks=$((checks + 1))
[ "$(grep -c . "$scratch/commands")" -ge 55 ] || mismatch "expected all commands"
text_of peal.1 >"$scratch/text"
while read -r command; do
    checks=$((checks + 1))
    [ -e "$command.1" ] || mismatch "expected a page $command.1"
    grep -q "^.BR $command (1)" "$scratch/text" || mismatch "expected $command in peal.1"
done <"$scratch/commands"

sed -n 's/^    {\?"\([a-z_]*\)", FIELD_.*/\1/p; s/^    {\.name = "\([a-z_]*\)",.*/\1/p' \
    "$source_dir/src/job/definition/job_fields.c" | sort -u >"$scratch/fields"
sed -n 's/^| \[\{0,1\}`\([a-z_.]*\)`.*/\1/p' <(sed -n '/<!-- fields: /,/<!-- fields: end/p' "$source_dir/docs/JOBS.md") |
    sort -u >"$scratch/told"
checks=$((checks + 1))
[ "$(grep -c . "$scratch/told")" -ge 50 ] || mismatch 'expected the fields of a job'
expect_terms peal-job.5 <"$scratch/told"
peal config show -o name | sed 's/.*\.//' | expect_terms peal.yaml.5
sed -n 's/^    \(peal_[a-z_]*\);$/\1/p' "$source_dir/src/lib/libpeal.map" | sed 's/_sized$//' >"$scratch/functions"
checks=$((checks + 1))
[ "$(grep -c . "$scratch/functions")" -ge 20 ] || mismatch 'expected the functions of the library'
expect_terms peal.h.3 <"$scratch/functions"
finish
