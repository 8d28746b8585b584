#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# A streaming replica of the PostgreSQL that is the store of three nodes is promoted. Both are in the
# nodes' address; the one that takes writes is used.
# store_postgres_promote_test.sh whole|behind
#
#   whole    commits wait for the replica: it lacks nothing, and all goes on by itself, within half a
#            second of what the fail-over itself took
#   behind   it has not had the last commits: nothing is started until somebody says so, whoever has seen them
. "$(dirname "$0")/store_cluster_lib.sh"
how=$1

postgres_make trust
mapfile -t ports < <(free_ports)
replica=$scratch/postgres.2 replica_port=${ports[0]}

is_streaming() {
    [ "$(ask "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")" = 1 ]
}
ask_replica() { # SQL
    "$postgres_bin/psql" -h "$replica" -p "$replica_port" -U peal -Atc "$1" peal
}
replica_lacks() { # REVISIONS, at least
    [ $(($(ask 'SELECT rev FROM jobs.kv_feed') - $(ask_replica 'SELECT rev FROM jobs.kv_feed'))) -ge "$1" ]
}
folder_for_postgres "$replica"
as_owner "$postgres_bin/pg_basebackup" -h "$postgres" -p "$postgres_port" -U peal -D "$replica/data" -R \
    -c fast >/dev/null 2>&1
postgres_start "$replica" "$replica_port"
wait_until is_streaming
if [ "$how" = whole ]; then
    ask "ALTER SYSTEM SET synchronous_standby_names = '*'" >/dev/null
    ask 'SELECT pg_reload_conf()' >/dev/null
fi

start_cluster "postgresql://peal@127.0.0.1:$postgres_port,127.0.0.1:$replica_port/peal?schema=jobs&target_session_attrs=read-write"
run peal doctor
expect_stdout_has 'ok    PostgreSQL'

if [ "$how" = behind ]; then
    receiver=$(ask_replica 'SELECT pid FROM pg_stat_wal_receiver')
    kill -STOP "$receiver"
    wait_until replica_lacks 10
    kill -KILL "$receiver" & # the replica restarts it, or not: the primary is gone first
fi
postgres_signal "$postgres" KILL
killed_ms=$(now_ms)
as_owner "$postgres_bin/pg_ctl" -D "$replica/data" -w promote >/dev/null
promoted_ms=$(now_ms)

if [ "$how" = whole ]; then
    expect_goes_on 'the promotion'
    tell_first_start "$killed_ms" "$promoted_ms"
    expect_all_accounted
    finish
fi

expect_halts 'a replica was promoted that lacks changes' 'PostgreSQL'
expect_goes_on 'a person has looked'
expect_none_doubled
finish
