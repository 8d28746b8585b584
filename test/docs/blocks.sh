#!/bin/bash
# Every document is one whose blocks are tried (documents.txt), every row of blocks.txt is needed; and a new block that is neither
# tried nor named, a command that fails, a file that is wrong and an answer that is another one are found.
# shellcheck disable=SC2016 # the backquotes are Markdown's
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"
# shellcheck source=test/docs/blocks_lib.sh
. "$PEAL_SOURCE/test/docs/blocks_lib.sh"
receiver=$1
cd "$source_dir" || exit

# ---- documents ----

documents_there() {
    find . \( -name build -o -name node_modules -o -name '.*' ! -name . -o -path ./src -o -path ./bin -o -path ./test -o -path ./bench -o -path ./fuzz \) \
        -prune -o -name '*.md' -print | sed 's#^\./##' | sort
}
mapfile -t documents < <(sed '/^#/d; s/^[a-z_]* *//' test/docs/documents.txt | tr ' ' '\n' | grep . | sort)
run diff <(printf '%s\n' "${documents[@]}") <(documents_there)
ran='the documents of test/docs/documents.txt, and those that there are'
expect_status 0

# ---- rows ----

read_rules test/docs/blocks.txt
used=()
for document in "${documents[@]}"; do
    read_blocks "$document"
    for i in "${!block_texts[@]}"; do
        while IFS= read -r line; do
            line=${line#"${line%%[! ]*}"}
            for j in "${!rule_texts[@]}"; do
                [[ ${rule_documents[j]} != "$document" && ${rule_documents[j]} != '*' || $line != "${rule_texts[j]}"* ]] || used[j]=:
            done
        done <<<"\`\`\`${block_languages[i]}"$'\n'"${block_texts[i]}"
    done
done
for j in "${!rule_texts[@]}"; do
    checks=$((checks + 1))
    : >"$scratch/out"
    ran="${rule_documents[j]}: ${rule_texts[j]}"
    [ -n "${used[j]:-}" ] || mismatch 'test/docs/blocks.txt has a row that no document needs'
    case ${rule_hows[j]} in
    skip | skip-block | text | status | says | field | fields | step | steps | calendar | config) ;;
    *) mismatch "test/docs/blocks.txt has a row of an unknown kind: ${rule_hows[j]}" ;;
    esac
done

# ---- mistakes ----

mkdir -p "$scratch/tree/test"
ln -s "$source_dir/test/integration" "$source_dir/test/docs" "$scratch/tree/test/"
planted() { # BLOCK WHY
    printf '# A\n\n%s\n' "$1" >"$scratch/tree/A.md"
    run env PEAL_SOURCE="$scratch/tree" test/docs/examples.sh "$receiver" A.md
    expect_status 1
    expect_stdout_has "$2"
}
planted '    due at 10:00 and at 11:00' 'A.md:3: due at 10:00 and at 11:00'
planted '    due at 10:00 and at 11:00' 'neither tried nor named'
planted '    peal explain "* * * * *" "75 * * * *"' 'status 2 instead of 0'
planted $'```yaml\nname: a\nshedule: "@daily"\n```' 'did you mean "schedule"?'
planted $'```console\n$ peal explain @daily --tz UTC\nAt noon.\n```' '-At noon.'
planted $'- a list\n\n  ```sh\n  peal no-such-command\n  ```' 'A.md:6: peal no-such-command'
finish
