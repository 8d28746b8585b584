# Sourced by run.sh: PostgreSQL as the store, a primary and a streaming replica on machines of their
# own. Both are in the nodes' address; $primary is the one that takes writes. See place.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # what place.sh has and asks for

members=(0 1)
primary=0
address+=([pg-0]=$subnet.21 [pg-1]=$subnet.22)
pg_ports=(5432 5432)
pg_hosts=("${address[pg-0]}" "${address[pg-1]}")
pg_bin=${PEAL_POSTGRES_BIN:-$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)}
does_to+=([kill_postgres]=store [freeze_postgres]=store [cut_postgres]=store [freeze_session]=store
    [end_connections]=store [full_postgres]=store [lock_tables]=store [vacuum_full]=store
    [promote]=store [promote_behind]=store [restore]=store [restore_twice]=store)

# ---- a server: its data are in $scratch/pg-NUMBER/data, on a disk of its own where that can be ----

as_postgres() { # NUMBER COMMAND...: on its machine, by its user
    if [ "$(id -u)" = 0 ]; then
        inside "pg-$1" setpriv --reuid=postgres --regid=postgres --clear-groups "${@:2}"
    else
        "${@:2}"
    fi
}

sql() { # TEXT [NUMBER]: the primary, unless another is named
    local at=${2:-$primary}
    PGCONNECT_TIMEOUT=3 PGOPTIONS='-c statement_timeout=8000' inside hub timeout 20 "$pg_bin/psql" -qXAt \
        -h "${pg_hosts[at]}" -p "${pg_ports[at]}" -U peal -d postgres -c "$1" 2>/dev/null
}

start_postgres() { # NUMBER
    local folder=$scratch/pg-$1
    as_postgres "$1" "$pg_bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 \
        -o "-p ${pg_ports[$1]} -k $folder -h ${pg_hosts[$1]} -c fsync=off -c wal_keep_size=64MB -c max_wal_size=64MB" \
        start >/dev/null 2>&1
}

signal_postgres() { # NUMBER SIGNAL: all its processes
    local first others
    first=$(head -n 1 "$scratch/pg-$1/data/postmaster.pid") || return
    [ "$2" = CONT ] || kill -STOP "$first"
    mapfile -t others < <(pgrep -P "$first")
    kill -"$2" "$first" "${others[@]}" 2>/dev/null
}

kill_postgres() { # NUMBER: as a crash of its machine
    signal_postgres "$1" KILL
    wait_for 10 is_stopped "$1"
    # Another server of this machine may get the process id that these name, and then this one does not start.
    rm -f "$scratch/pg-$1"/.s.PGSQL.* "$scratch/pg-$1/data/postmaster.pid"
}

is_stopped() { # NUMBER
    ! pgrep -f "^[^ ]*postgres.* -D $scratch/pg-$1/data " >/dev/null
}

takes_writes() {
    [ "$(sql 'SELECT pg_is_in_recovery()')" = f ]
}

is_streaming() {
    [ "$(sql "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")" = 1 ]
}

replica() { echo $((1 - primary)); }

# What the other one has is thrown away, and copied anew.
make_replica() {
    local to
    to=$(replica)
    rm -rf "$scratch/pg-$to/data"
    as_postgres "$to" "$pg_bin/pg_basebackup" -h "${pg_hosts[primary]}" -p "${pg_ports[primary]}" -U peal \
        -D "$scratch/pg-$to/data" -R -c fast >/dev/null 2>&1 && start_postgres "$to" && wait_for 20 is_streaming
}

have_replica() { is_streaming || make_replica; }

# ---- what place.sh asks for ----

start_servers() {
    local i ports
    [ -x "$pg_bin/initdb" ] || {
        echo 'skipped: there is no PostgreSQL here; Debian has it in postgresql'
        exit 77
    }
    chmod 711 "$scratch"
    if [ -z "$can_cut" ]; then
        mapfile -t ports < <(free_ports)
        pg_hosts=(127.0.0.1 127.0.0.1) pg_ports=("${ports[@]}")
    fi
    for i in "${members[@]}"; do
        mkdir "$scratch/pg-$i"
        [ -z "$can_fill" ] || mount -t tmpfs -o size=400m "$tag" "$scratch/pg-$i"
        [ "$(id -u)" != 0 ] || chown postgres "$scratch/pg-$i"
    done
    as_postgres 0 "$pg_bin/initdb" -D "$scratch/pg-0/data" -U peal -A trust -E UTF8 --locale=C >/dev/null 2>&1
    printf 'host %s all samenet trust\n' all replication >>"$scratch/pg-0/data/pg_hba.conf"
    start_postgres 0
    store_url="postgresql://peal@${pg_hosts[0]}:${pg_ports[0]},${pg_hosts[1]}:${pg_ports[1]}/postgres?schema=jobs"
    wait_for 30 takes_writes
    make_replica
}

end_servers() {
    local i
    for i in "${members[@]}"; do
        [ ! -e "$scratch/pg-$i/data/postmaster.pid" ] || signal_postgres "$i" KILL
        ! mountpoint -q "$scratch/pg-$i" || umount -l "$scratch/pg-$i"
    done
}

store_is_well() { takes_writes; }
store_version() { "$pg_bin/postgres" --version; }

is_member() { # NODE, as the store has it, whatever the agents say
    [ "$(sql "SELECT count(*) FROM jobs.kv WHERE key = '$prefix/nodes/$1'")" = 1 ]
}
has_no_keys() { # PREFIX
    [ "$(sql "SELECT count(*) FROM jobs.kv_shown WHERE starts_with(key, '$prefix/$1')")" = 0 ]
}
leader() { # the node that is a candidate for the longest time
    sql "SELECT value FROM jobs.kv_shown WHERE starts_with(key, '$prefix/leader/') ORDER BY create_rev LIMIT 1"
}
compact() { # all changes
    sql "SET search_path = jobs; SELECT kv_compact_1(rev + 1) FROM kv_feed" >/dev/null
}

# Tells each state of runs that wait for nothing when it is written: TIMES VALUE.
tell_runs() {
    local seen newest
    seen=$(sql 'SELECT rev FROM jobs.kv_feed')
    while newest=$(sql 'SELECT rev FROM jobs.kv_feed'); do
        sql "SELECT u.version, encode(u.val, 'escape') FROM jobs.kv_changes c,
            unnest(c.keys, c.vals, c.versions) AS u (key, val, version)
            WHERE c.rev > $seen AND c.rev <= $newest AND u.val IS NOT NULL
            AND starts_with(encode(u.key, 'escape'), '$prefix/runs/')" | tr '|' ' '
        seen=$newest
    done
}
