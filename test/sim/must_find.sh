#!/bin/sh
# must_find.sh PROGRAM MIX COUNT NAME BREAKS: passes when the simulation finds the mistake that is
# planted into it within COUNT drills with this mix of faults; prints what it was, the seed, when in
# that life, and in which words.
if [ ! -x "$1" ]; then
    echo "there is no $1"
    exit 1
fi
out=$(PEAL_SIM_SHRINK_S=0 PEAL_SIM_MIX=$2 PEAL_SIM_FIRST_SEED=1 PEAL_SIM_SEEDS=$3 "$1" 2>&1)
status=$?
if [ "$status" -eq 0 ]; then
    echo "$4 ($5): $3 drills with $2, and nothing was noticed: $out"
    exit 1
fi
found=$(echo "$out" | grep -E 'FAILED|Assertion|ERROR' || echo "$out" | tail -n 3)
echo "$4 ($5): $2: $found"
