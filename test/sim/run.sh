#!/bin/sh
# run.sh FOLDER FIRST COUNT: lives in both worlds, with the programs in FOLDER; those over the wire,
# which take most of the time, in two halves at once.
set -u
folder=$1 first=$2 count=$3
half=$((count / 2))
world() { # PROGRAM FIRST COUNT
    [ "$3" -eq 0 ] || PEAL_SIM_FIRST_SEED=$2 PEAL_SIM_SEEDS=$3 "$folder/$1"
}
world sim_memory_test "$first" "$count" || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
world sim_etcd_test "$first" "$half" >"$log" 2>&1 &
other=$!
world sim_etcd_test $((first + half)) $((count - half))
status=$?
wait "$other" || status=1
cat "$log"
exit "$status"
