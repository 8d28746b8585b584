#!/bin/sh
# console.sh NODE DIST
# The console's build refuses what is too large, what it does not know, and a word that one of the
# languages lacks; and takes what it has now.
set -eu

node=$1
dist=$2
web=$PEAL_SOURCE/web
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

complain()
{
    echo "$*"
    cat "$dir/log"
    exit 1
}

packs()
{
    "$node" "$web/pack.mjs" "$dir/dist" "$dir/out.c" >"$dir/log" 2>&1
}

cp -R "$dist" "$dir/dist"
packs || complain "the console is refused as it is"

# 150 KiB that can't be compressed.
head -c 153600 /dev/urandom >"$dir/dist/assets/large.js"
! packs || complain "a console that is too large is taken"
grep -q 'the console has .* it may have' "$dir/log" || complain "refused, but not because of its size"
rm "$dir/dist/assets/large.js"

# The same, of what the first screen needs.
head -c 81920 /dev/urandom >"$dir/dist/assets/index-large.js"
! packs || complain "a first screen that is too large is taken"
grep -q 'its first screen has .* it may have' "$dir/log" || complain "refused, but not because of its first screen"
rm "$dir/dist/assets/index-large.js"

: >"$dir/dist/assets/what.xyz"
! packs || complain "a file of an unknown type is taken"
rm "$dir/dist/assets/what.xyz"

# The types are those of the console; only the words differ.
checks()
{
    cat >"$dir/words.ts" <<END
import { words } from "$web/src/i18n/words";
export const t = words({ "a": "one", "b": "two", "b#one": "1" }, $1);
t("b", { n: 1 });
END
    "$node" "$web/node_modules/typescript/bin/tsc" --noEmit --strict --target es2022 --module esnext \
        --moduleResolution bundler --lib es2023,dom --skipLibCheck "$dir/words.ts" >"$dir/log" 2>&1
}
checks '{ "a": "一", "b": "二" }' || complain "whole dictionaries are refused"
! checks '{ "a": "一" }' || complain "a missing word is taken"
grep -q "'b' is missing" "$dir/log" || complain "refused, but not because of the word"
! checks '{ "a": "一", "b": "二", "c": "三" }' || complain "a word too many is taken"
