#!/bin/bash
# test/versions/write.sh VERSION [KIND...]
# Writes the data of a version, as test/versions/written/VERSION/KIND.*, by the programs in $PEAL_BIN. Once for every version
# that is released; nothing of a released version is ever written again. Needs etcd and PostgreSQL.
# shellcheck disable=SC2046 # lists of words
. "$(dirname "$0")/written_lib.sh"

folder=$source_dir/test/versions/written/${1:?name the version}
shift
[ $# -gt 0 ] || set -- sqlite etcd postgres
mkdir -p "$folder"

for kind; do
    export PEAL_DATA=$scratch/data_$kind
    [ "$kind" != etcd ] || etcd_start
    [ "$kind" != postgres ] || postgres_make trust
    peal start -d --node-id writer --listen none $(options_of "$kind") || exit
    fill >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
    { tell_store; [ "$kind" = etcd ] || tell_history; } >"$folder/$kind.expected"
    peal stop || exit
    case $kind in
    sqlite) tar -C "$PEAL_DATA" --sort=name --owner=0 --group=0 -cf - peal.db history.db node | gzip -n9 >"$folder/$kind.tar.gz" ;;
    etcd)
        ETCDCTL_API=3 etcdctl --endpoints "$etcd_endpoint" snapshot save "$scratch/snapshot" >/dev/null || exit
        gzip -n9 <"$scratch/snapshot" >"$folder/$kind.db.gz"
        ;;
    postgres)
        "$postgres_bin/pg_dump" -h 127.0.0.1 -p "$postgres_port" -U peal --no-owner peal | gzip -n9 >"$folder/$kind.sql.gz" || exit
        ;;
    esac
    wc -c "$folder/$kind".*
done
