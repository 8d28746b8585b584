#!/bin/bash
# written_test.sh KIND: what every released version has written is opened by this one: jobs, documents, runs and
# their output are as that version told them, and its jobs go on.
# shellcheck disable=SC2046,SC2317 # lists of words; run calls functions
. "$(dirname "$0")/written_lib.sh"

kind=$1
[ "$kind" != postgres ] || postgres_make trust

# Fills the store of the kind with the data of a version.
restore() { # FOLDER
    case $kind in
    sqlite) tar -C "$PEAL_DATA" -xf "$1/sqlite.tar.gz" ;;
    etcd)
        gunzip <"$1/etcd.db.gz" >"$scratch/snapshot"
        # etcd 3.5 and later have it in another program.
        if command -v etcdutl >/dev/null; then
            etcdutl snapshot restore "$scratch/snapshot" --data-dir "$scratch/restored" >/dev/null 2>&1
        else
            ETCDCTL_API=3 etcdctl snapshot restore "$scratch/snapshot" --data-dir "$scratch/restored" >/dev/null 2>&1
        fi
        mapfile -t ports < <(free_ports)
        etcd_endpoint=127.0.0.1:${ports[0]}
        etcd_peer=http://127.0.0.1:${ports[1]}
        etcd_url=etcd://$etcd_endpoint
        etcd_serve "$scratch/restored"
        ;;
    postgres)
        gunzip <"$1/postgres.sql.gz" |
            "$postgres_bin/psql" -q -h 127.0.0.1 -p "$postgres_port" -U peal -v ON_ERROR_STOP=1 peal >/dev/null
        ;;
    esac
}

for folder in "$source_dir"/test/versions/written/*/; do
    PEAL_DATA=$scratch/${kind}_of_$(basename "$folder")
    export PEAL_DATA
    mkdir -m 700 "$PEAL_DATA"
    node=reader
    [ "$kind" != sqlite ] || node=writer
    run restore "${folder%/}"
    expect_status 0
    run peal start -d --node-id $node --listen none $(options_of "$kind")
    expect_status 0
    # A later version may tell more, not less.
    { tell_store; [ "$kind" = etcd ] || tell_history; } >"$scratch/told"
    run diff "$folder/$kind.expected" "$scratch/told"
    grep '^<' "$scratch/out" >"$scratch/missing"
    run cat "$scratch/missing"
    expect_stdout ''
    if [ "$kind" != sqlite ]; then
        # Another server with these data is a backup that was restored: somebody has to look at it first.
        run peal run ok
        expect_status 5
        expect_stderr_has 'peal cluster advance-cursors'
        run peal cluster advance-cursors --yes
        expect_status 0
    fi
    run peal doctor
    expect_stdout_lacks FAIL
    run peal run ok --follow
    expect_status 0
    expect_stdout_has out
    run peal resume often
    expect_status 0
    run peal undelete team/gone
    run peal stop
    expect_status 0
    [ "$kind" != etcd ] || etcd_stop
done
finish
