#!/bin/bash
# Documents in Chinese are in step with those in English: they show the same commands, but for remarks, and have as many headings
# and rows of tables, and the same links.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"
cd "$source_dir" || exit

# shellcheck disable=SC2016,SC2317 # $ is the end of a line; all are called by their names
{
    # Commands, without what is said of them behind two blanks and a #.
    commands() { # DOCUMENT
        sed -n '/^```/,/^```/d; s/^    //p' "$1" | grep -v '^git clone' | sed -E 's/ +# .*//'
    }
    # What is in the blocks of a language.
    blocks() { # DOCUMENT LANGUAGE
        sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/p" "$1"
    }
    headings() { # DOCUMENT: their levels
        grep -oE '^#+ ' "$1"
    }
    rows() { # DOCUMENT: how many columns each has
        sed -n '/^```/,/^```/d; /^|/p' "$1" | sed 's/\\|//g; s/[^|]//g'
    }
    # Where its links lead, but for that to the other language, and for what is in a place of the other language.
    links() { # DOCUMENT
        grep -oE '\]\([^)#]+' "$1" | sed -E 's/^\]\(//; s#^(\.\./)?##; s#^zh/##' | grep -vxF -e "${1##*/}" | grep -v '^https\?:' | sort -u
    }
}

same() { # ENGLISH CHINESE WHAT...
    run "${@:3:1}" "$1" "${@:4}"
    cp "$scratch/out" "$scratch/english"
    run "${@:3:1}" "$2" "${@:4}"
    cp "$scratch/out" "$scratch/chinese"
    run diff "$scratch/english" "$scratch/chinese"
    ran="$2: ${*:3} as in $1"
    expect_status 0
}

for what in commands 'blocks yaml' 'blocks c'; do
    # shellcheck disable=SC2086 # a name and its argument
    same README.md README.zh-CN.md $what
    run test -s "$scratch/english"
    expect_status 0
done
# A row for each thing that a tick may meet, and for each promise.
rows_below() { sed -n "/^| $2 |/,/^\$/p" "$1" | wc -l; } # DOCUMENT FIRST
run test "$(rows_below README.md 'a tick meets')" -gt 10 -a \
    "$(rows_below README.md 'a tick meets')" -eq "$(rows_below README.zh-CN.md '触发时遇到')"
expect_status 0
run test "$(rows_below README.md 'what is promised')" -gt 8 -a \
    "$(rows_below README.md 'what is promised')" -eq "$(rows_below README.zh-CN.md '承诺')"
expect_status 0

pages=(docs/zh/*.md)
run test "${#pages[@]}" -ge 3
expect_status 0
for chinese in "${pages[@]}"; do
    english=docs/${chinese#docs/zh/}
    for what in commands headings rows links; do
        same "$english" "$chinese" "$what"
    done
    run grep -c "(zh/${chinese##*/})" "$english"
    expect_stdout 1
    run grep -c "(../${chinese##*/})" "$chinese"
    expect_stdout 1
done
finish
