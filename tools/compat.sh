#!/bin/sh
# tools/compat.sh [VERSION]...
# Runs what speaks to etcd against newer servers than Debian's, each built from its source.
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- v3.5.35 v3.6.16
status=0
for version in "$@"; do
    programs=$(tools/etcd.sh "$version")
    echo "== etcd $version"
    PEAL_ETCD=$programs/etcd PATH=$programs:$PATH tools/test.sh build/asan \
        -R '^(contract\.store_etcd.*|integration\.(cluster.*|etcd_.*|doctor|restore)|fault\.cluster_.*)$' ||
        status=1
done
exit "$status"
