#!/bin/sh
# model_test.sh REAL SIM: the same operations on a real etcd and on the simulated one.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for seed in 1 2 3 4; do
    status=0
    "$1" "$seed" 1500 >"$folder/real" || status=$?
    if [ "$status" -ne 0 ]; then
        tail -n 1 "$folder/real"
        exit "$status"
    fi
    "$2" "$seed" 1500 >"$folder/sim"
    if ! diff "$folder/real" "$folder/sim" >"$folder/diff"; then
        echo "seed $seed: they differ (<: etcd, >: simulated)"
        head -n 10 "$folder/diff"
        exit 1
    fi
    echo "seed $seed: $(wc -l <"$folder/sim") lines, all the same"
done
