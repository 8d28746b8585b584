#!/bin/bash
# hold_test.sh ATTACK
# Strangers who hold all the memory that requests may have, or all connections: health checks, and
# those who are known, are served all the same.
. "$(dirname "$0")/lib.sh"

start_target plain
run "$1" hold "$port" "$token"
expect_status 0
cat "$scratch/out"

descriptors=1024
start_target narrow
run "$1" silent "$port" "$token"
expect_status 0
cat "$scratch/out"
run curl -s "http://127.0.0.1:$port/metrics?jobs=false" -H "Authorization: Bearer $token"
expect_stdout_has peal_api_cut_total
finish
