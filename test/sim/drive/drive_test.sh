#!/bin/sh
# drive_test.sh DRIVER BROKEN SOUND: the driver, with a program into which a mistake is planted and
# with one that is sound.
set -eu
drive=$1 broken=$2 sound=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$folder/out

fail() {
    echo "$*"
    cat "$out"
    exit 1
}

# Goes on after a failure, lists all of them, and each fails alone in the same words.
export PEAL_SIM_MIX=races
"$drive" --seeds 400 --first-seed 1 --workers 2 --shrink-s 0 --logs "$folder/logs" \
    --again "$folder/again" broken="$broken" >"$out" 2>&1 && fail 'nothing was noticed'
failed=$(sed -n 's/^lives that failed: //p' "$out")
lived=$(sed -n 's/^broken: \([0-9]*\) seeds from 1 .*/\1/p' "$out")
[ "${failed:-0}" -ge 2 ] || fail 'it did not go on'
[ $((failed + lived)) -eq 400 ] || fail "of 400 lives $lived are over, and $failed failed"
[ "$(sort -u "$folder/again" | wc -l)" -eq "$failed" ] || fail 'the seeds that failed are not kept'
sed -n 's/^broken, seed [0-9]* ([^)]*): //p' "$out" >"$folder/words"
sed -n 's/^    again: //p' "$out" >"$folder/commands"
[ "$(wc -l <"$folder/commands")" -eq "$failed" ] || fail 'not all of them are listed'
for line in 1 2; do
    words=$(sed -n "${line}p" "$folder/words")
    command=$(sed -n "${line}p" "$folder/commands")
    PEAL_SIM_SHRINK_S=0 sh -c "$command" >"$folder/alone" 2>&1 && fail "does not fail: $command"
    grep -qF "$words" "$folder/alone" || fail "fails in other words: $command"
done

# What has failed is tried first; when it fails no more it is forgotten.
"$drive" --seeds 1 --first-seed 1 --shrink-s 0 --logs "$folder/logs" --again "$folder/again" \
    sound="$sound" >"$out" 2>&1 || fail 'a sound program fails'
grep -q "first the $failed seeds that failed" "$out" || fail 'what failed is not tried again'
[ ! -e "$folder/again" ] || fail 'what failed once is kept'
unset PEAL_SIM_MIX

# By node-hours, from a seed that is its own each time.
"$drive" --hours 20 --logs "$folder/logs" sound="$sound" >"$out" 2>&1 || fail 'it fails'
sed -n 's/^sound: \([0-9.]*\) node-hours in .*/\1/p' "$out" | awk '{ exit !($1 >= 20) }' ||
    fail 'fewer node-hours than wanted'
