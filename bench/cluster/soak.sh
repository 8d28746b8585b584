#!/bin/sh
# Many runs through one node whose processes cost nothing: memory, descriptors, etcd and the history
# must not grow with them. Prints a table; status 1 if something grows.
# usage: bench/cluster/soak.sh BUILD_DIR [RUNS [JOBS]]   JOBS are due every second
set -eu

folder=$(mktemp -d "${TMPDIR:-/tmp}/peal-soak-XXXXXX")
trap 'rm -rf "$folder"' EXIT
# What AddressSanitizer holds back of freed memory would be taken for growth.
export ASAN_OPTIONS="quarantine_size_mb=1:thread_local_quarantine_size_kb=64:${ASAN_OPTIONS:-}"
"$1/bench/cluster_bench" soak "${2:-1000000}" "${3:-2000}" "$folder"
