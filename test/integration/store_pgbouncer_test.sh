#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# A pooler before the store's PostgreSQL: sessions of its own are what an agent needs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"
PATH=$PATH:/usr/sbin
command -v pgbouncer >/dev/null || {
    echo 'skipped: pgbouncer is not installed'
    exit 77
}

postgres_make trust
mapfile -t ports < <(free_ports)
port=${ports[0]}

pooler_is_there() {
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}
pool() { # MODE
    folder_for_postgres "$scratch/pool"
    cat >"$scratch/pool/pgbouncer.ini" <<END
[databases]
peal = host=127.0.0.1 port=$postgres_port dbname=peal user=peal
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
pidfile = $scratch/pool/pid
logfile = $scratch/pool/log
unix_socket_dir =
auth_type = any
pool_mode = $1
ignore_startup_parameters = extra_float_digits,application_name
END
    chmod 644 "$scratch/pool/pgbouncer.ini"
    as_owner pgbouncer -q -d "$scratch/pool/pgbouncer.ini"
    wait_until pooler_is_there
}
pool_ends() {
    kill -9 "$(cat "$scratch/pool/pid")"
    rm -f "$scratch/pool/pid"
    wait_until pooler_is_gone
}
pooler_is_gone() {
    ! pooler_is_there
}
trap 'end_agents; [ ! -f "$scratch/pool/pid" ] || kill -9 "$(cat "$scratch/pool/pid")"; servers_stop; rm -rf "$scratch"' EXIT

pool transaction
run peal start -d --data "$scratch/a" --node-id a --listen none \
    --store "postgresql://peal@127.0.0.1:$port/peal"
expect_stderr_has 'a pooler there gives each transaction another session'
expect_stderr_has 'pool_mode = session'
pool_ends

pool session
start_agent a --node-id a --listen none --store "postgresql://peal@127.0.0.1:$port/peal"
run peal add now @manual -- true
expect_status 0
run peal run now --wait
expect_status 0
run peal doctor
expect_stdout_has 'ok    write: allowed'
run peal stop
pool_ends
finish
