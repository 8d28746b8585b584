#!/bin/sh
# shrink_test.sh PROGRAM MIX MOST: of lives that fail (a mistake is planted into PROGRAM) the
# shortest list of steps is at most MOST long, is told in words, and fails again in the same ones.
set -eu
program=$1 mix=$2 most=$3
log=$(mktemp)
trap 'rm -f "$log"' EXIT

words() { # of the first failure, without its numbers and its seed
    sed -n 's/^FAILED with seed [0-9]* at [0-9.]* s: //p' "$1" | sed 's/[0-9]//g' | head -n 1
}

# Which life fails first is another one in every version, and some need many steps: of three at least
# one has a short list.
seed=0
for _ in 1 2 3; do
    if PEAL_SIM_MIX=$mix PEAL_SIM_FIRST_SEED=$((seed + 1)) PEAL_SIM_SEEDS=3000 "$program" >"$log" 2>&1; then
        echo "nothing was noticed"
        exit 1
    fi
    sed -n '/^FAILED/,$p' "$log"
    seed=$(sed -n 's/^FAILED with seed \([0-9]*\) at .*/\1/p' "$log" | head -n 1)
    first=$(words "$log")
    steps=$(sed -n 's/^It takes .* and these \([0-9]*\) to fail:$/\1/p' "$log")
    told=$(grep -cE '^ +[0-9]+\.[0-9]{3} s  (fault|person|rest): ' "$log" || true)
    again=$(sed -n 's/^Only these again: //p' "$log")
    if [ -z "$steps" ] || [ "$told" -ne "$steps" ]; then
        echo "the list has ${steps:-no} steps, $told of them in words"
        exit 1
    fi
    [ "$steps" -gt "$most" ] || break
done
if [ "$steps" -gt "$most" ]; then
    echo "the list has $steps steps; wanted: at most $most"
    exit 1
fi
if eval "env $again PEAL_SIM_SHRINK_S=0 \"\$program\"" >"$log" 2>&1; then
    echo "with these steps alone it does not fail: $again"
    exit 1
fi
if [ "$(words "$log")" != "$first" ]; then
    echo "it fails in other words: $(words "$log")"
    exit 1
fi
