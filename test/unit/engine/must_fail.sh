#!/bin/sh
# must_fail.sh PROGRAM: passes when the simulation finds the mistake that is planted into it.
# Some need an unlikely meeting of faults, about one life in fifty: 300 lives let one in 400 go.
[ -x "$1" ] || exit 1
out=$(PEAL_SIM_FIRST_SEED=1 PEAL_SIM_SEEDS=300 "$1" 2>&1)
status=$?
if [ "$status" -eq 0 ]; then
    echo "300 seeds, and nothing was noticed: $out"
    exit 1
fi
echo "$out" | grep -E 'FAILED|Assertion|ERROR' || echo "$out" | tail -n 3
