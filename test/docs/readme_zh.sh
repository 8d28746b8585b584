#!/bin/bash
# README.zh-CN.md shows the commands, files and programs that README.md shows, but for their remarks.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

# shellcheck disable=SC2016,SC2317 # $ is the end of a line; both are called by their names
# Commands, without what is said of them behind two blanks and a #.
commands() { # DOCUMENT
    sed -n '/^```/,/^```/d; s/^    //p' "$source_dir/$1" | grep -v '^git clone' | sed -E 's/ +# .*//' | sort
}

# shellcheck disable=SC2016,SC2317 # likewise
# What is in the blocks of a language.
blocks() { # DOCUMENT LANGUAGE
    sed -n "/^\`\`\`$2\$/,/^\`\`\`\$/p" "$source_dir/$1"
}

for what in commands 'blocks yaml' 'blocks c'; do
    read -r kind language <<<"$what"
    "$kind" README.md "$language" >"$scratch/english"
    "$kind" README.zh-CN.md "$language" >"$scratch/chinese"
    run test -s "$scratch/english"
    expect_status 0
    run diff "$scratch/english" "$scratch/chinese"
    expect_status 0
done

# A row for each thing that a tick may meet.
rows() { sed -n "/^| $2 |/,/^\$/p" "$source_dir/$1" | wc -l; } # DOCUMENT FIRST
run test "$(rows README.md 'a tick meets')" -gt 10 -a \
    "$(rows README.md 'a tick meets')" -eq "$(rows README.zh-CN.md '触发时遇到')"
expect_status 0

finish
