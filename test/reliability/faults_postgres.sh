# Sourced by run.sh: what happens to PostgreSQL, beside faults_server.sh. See faults_process.sh for how
# faults are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $cannot, $primary are the driver's

# ---- the primary ----

hurt_kill_postgres() {
    goes_away etcd
    kill_postgres "$primary"
}
mend_kill_postgres() {
    start_postgres "$primary"
    is_back etcd
}

hurt_freeze_postgres() {
    goes_away etcd
    signal_postgres "$primary" STOP
}
mend_freeze_postgres() {
    signal_postgres "$primary" CONT
    is_back etcd
}

hurt_cut_postgres() {
    needs_network || return
    goes_away etcd
    add_rule "pg-$primary" input drop
    add_rule "pg-$primary" output drop
}
mend_cut_postgres() {
    remove_rules "pg-$primary"
    is_back etcd
}

# It may hold the row that all wait for; nothing but its own end, or the end of the server, frees that.
hurt_freeze_session() {
    goes_away etcd
    session=$(sql "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'peal kv %' ORDER BY random() LIMIT 1")
    cannot='nobody is connected'
    [ -n "$session" ] && kill -STOP "$session"
}
mend_freeze_session() {
    kill -CONT "$session"
    is_back etcd
}

end_some() {
    sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'peal kv %' AND random() < 0.4" >/dev/null
}

hurt_full_postgres() { # tables, or the log, without which it stops
    needs_disks || return
    goes_away etcd
    fill_disk "pg-$primary"
    sql "CREATE TABLE IF NOT EXISTS filler (x text); INSERT INTO filler SELECT repeat('x', 900) FROM generate_series(1, 100000)"
    return 0
}
mend_full_postgres() {
    empty_disk "pg-$primary"
    takes_writes || start_postgres "$primary"
    wait_for 30 takes_writes
    sql 'DROP TABLE IF EXISTS filler'
    have_replica
    is_back etcd
}

# ---- what others do there ----

hurt_lock_tables() {
    goes_away etcd
    sql 'SET statement_timeout = 0; BEGIN; LOCK TABLE jobs.kv_feed, jobs.kv IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(5); COMMIT' >/dev/null &
    locker=$!
}
mend_lock_tables() {
    { wait "$locker"; } 2>/dev/null
    is_back etcd
}

hurt_vacuum_full() {
    local table
    goes_away etcd
    for table in kv kv_feed kv_changes kv_leases; do
        sql "VACUUM FULL jobs.$table"
    done
    return 0
}
mend_vacuum_full() { is_back etcd; }

# ---- fail-over ----

fail_over() { # to the replica, which takes its place; the old one is copied anew from it
    kill_postgres "$primary"
    primary=$(replica)
    sql 'SELECT pg_promote()' >/dev/null
    wait_for 30 takes_writes
}

is_synchronous() {
    [ "$(sql "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")" = 1 ]
}
set_standbys() { # NAMES
    sql "ALTER SYSTEM SET synchronous_standby_names = '$1'"
    sql 'SELECT pg_reload_conf()' >/dev/null
}

hurt_promote() { # commits waited for it: it lacks nothing, and nobody needs help
    cannot='there is no replica'
    is_streaming || make_replica || return
    set_standbys '*'
    wait_for 10 is_synchronous || return
    nap 1
    goes_away etcd
    fail_over
    set_standbys ''
}
mend_promote() {
    make_replica
    is_back etcd
}

hurt_promote_behind() { # it lacks the last commits, which were acknowledged
    cannot='there is no replica'
    is_streaming || make_replica || return
    local receiver
    receiver=$(sql 'SELECT pid FROM pg_stat_wal_receiver' "$(replica)")
    behind_ms=$(now_ms)
    kill -STOP "$receiver" || return
    nap 3
    goes_away etcd
    signal_postgres "$primary" KILL
    kill -KILL "$receiver"
    wait_for 10 is_stopped "$primary"
    primary=$(replica)
    wait_for 20 sql 'SELECT 1' "$primary" # one of its processes was killed, so it begins again
    sql 'SELECT pg_promote()' >/dev/null
    wait_for 30 takes_writes
    forgets_changes "$behind_ms" "$(($(now_ms) + 1000))"
}
mend_promote_behind() { mend_restore; }

# ---- a backup that is put back ----

save_backup() {
    rm -rf "$scratch/pg-$primary/backup"
    backup_ms=$(now_ms)
    as_postgres "$primary" "$pg_bin/pg_basebackup" -h "${pg_hosts[primary]}" -p "${pg_ports[primary]}" -U peal \
        -D "$scratch/pg-$primary/backup" -c fast >/dev/null 2>&1
}
put_back() {
    kill_postgres "$primary"
    forgets_changes "$backup_ms" "$(($(now_ms) + 1000))" # one may be answered, and not noted yet
    rm -rf "$scratch/pg-$primary/data"
    cp -a "$scratch/pg-$primary/backup" "$scratch/pg-$primary/data"
    start_postgres "$primary"
    wait_for 30 takes_writes
}
