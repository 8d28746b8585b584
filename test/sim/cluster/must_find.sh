#!/bin/sh
# must_find.sh PROGRAM FIRST COUNT: passes when the simulation finds the mistake that is planted into
# it within COUNT lives from the seed FIRST on.
if [ ! -x "$1" ]; then
    echo "there is no $1"
    exit 1
fi
out=$(PEAL_SIM_NO_SHRINK=1 PEAL_SIM_FIRST_SEED=$2 PEAL_SIM_SEEDS=$3 "$1" 2>&1)
status=$?
if [ "$status" -eq 0 ]; then
    echo "$3 seeds from $2, and nothing was noticed: $out"
    exit 1
fi
echo "$out" | grep -E 'FAILED|Assertion|ERROR' || echo "$out" | tail -n 3
