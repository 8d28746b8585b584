#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# The disk of a PostgreSQL that is the store of three nodes fills up: that of its tables, then that of
# its log, without which it stops. Nothing is started that can't be put on record, it is said why, and all
# goes on once there is room.
. "$(dirname "$0")/store_cluster_lib.sh"

skip() { # REASON
    echo "skipped: $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip 'a small disk can only be mounted by root'
mkdir "$scratch/small"
mount -t tmpfs -o size=400m none "$scratch/small" 2>/dev/null || skip 'this root may not mount a tmpfs'
chmod 777 "$scratch/small"
postgres=$scratch/small/postgres
trap 'end_agents; [ ! -f "$postgres/data/postmaster.pid" ] || postgres_stop "$postgres"; umount -l "$scratch/small"; rm -rf "$scratch"' EXIT
chmod 711 "$scratch"
postgres_make trust

fill() { # but for a little
    head -c "$(($(stat -f -c '%a * %S' "$scratch/small")))" /dev/zero >"$scratch/small/filler" 2>/dev/null
}
is_up() {
    ask 'SELECT 1' >/dev/null 2>&1
}
is_unwell() {
    peal state -o json | jq -e '.store.ok | not' >/dev/null
}

start_cluster "postgresql://peal@127.0.0.1:$postgres_port/peal?schema=jobs"

# Nothing can be written any more: the server stops when its log has no room, and can't come back.
fill
(ask "CREATE TABLE filler AS SELECT repeat('x', 900) FROM generate_series(1, 200000)" >/dev/null 2>&1)
wait_until is_unwell
run peal state
expect_status 8
expect_stdout_has 'not well: '
nap 4 # what still finds room in a page goes on
rm "$scratch/small/filler"
is_up || postgres_start "$postgres" "$postgres_port"
expect_goes_on 'a full disk'
expect_all_accounted
finish
