#!/bin/sh
# must_find.sh PROGRAM MIX COUNT NAME BREAKS: passes when the simulation finds the mistake that is
# planted into it within COUNT drills with this mix of faults; prints what it was, the seed, when in
# that life, and in which words. The drill that found it the last time (seeds.txt), which may be beyond
# COUNT, is the first.
if [ ! -x "$1" ]; then
    echo "there is no $1"
    exit 1
fi
program=$1 mix=$2 count=$3
known=$(sed -n "s/^$4 //p" "$(dirname "$0")/seeds.txt")

finds() { # FIRST COUNT
    ! out=$(PEAL_SIM_SHRINK_S=0 PEAL_SIM_MIX=$mix PEAL_SIM_FIRST_SEED=$1 PEAL_SIM_SEEDS=$2 "$program" 2>&1)
}

if ! { [ -n "$known" ] && finds "$known" 1; }; then
    [ -z "$known" ] || echo "seeds.txt: in this version it is not seed $known"
    if ! finds 1 "$count"; then
        echo "$4 ($5): $count drills with $mix, and nothing was noticed: $out"
        exit 1
    fi
fi
found=$(echo "$out" | grep -E 'FAILED|Assertion|ERROR' || echo "$out" | tail -n 3)
echo "$4 ($5): $mix: $found"
