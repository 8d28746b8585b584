#!/bin/sh
# must_find.sh PROGRAM SHARE: passes when the simulation finds the mistake that is planted into it
# within SHARE lives.
out=$(PEAL_SIM_NO_SHRINK=1 PEAL_SIM_FIRST_SEED=1 PEAL_SIM_SEEDS=$2 "$1" 2>&1)
status=$?
if [ "$status" -eq 0 ]; then
    echo "$2 seeds, and nothing was noticed: $out"
    exit 1
fi
echo "$out" | grep -E 'FAILED|Assertion|ERROR' || echo "$out" | tail -n 3
