#!/bin/bash
# What can be wrong with a PostgreSQL: each time peal state, peal doctor, peal cluster status and
# /readyz say what it is and what to do, in the same words, and stop saying it when it is over.
# Meanwhile jobs run, and nothing of them is lost.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"

certificate() { # FILE: and its key, FILE.key
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout "$1.key" -out "$1" \
        2>/dev/null
}

password_is() { # WORD
    echo "*:*:*:peal:$1" >"$scratch/pgpass"
    chmod 600 "$scratch/pgpass"
}

# The agent of the test, with another address of its history.
history_is() { # PORT [OPTIONS]
    run peal restart --history \
        "postgresql://peal@127.0.0.1:$1/peal?passfile=$scratch/pgpass&${2:-}"
    expect_status 0
}

runs=0
run_job() {
    run peal run job
    expect_status 0
    runs=$((runs + 1))
}

expect_all_runs() {
    expect_well
    expect_runs job "$runs" 'it ran'
}

postgres_make scram-sha-256
ask "ALTER ROLE peal PASSWORD 'correct-horse'" >/dev/null
password_is correct-horse
start_agent a --listen none \
    --history "postgresql://peal@127.0.0.1:$postgres_port/peal?passfile=$scratch/pgpass"
peal add job '@manual' --overlap allow -- echo it ran 2>/dev/null
run_job
expect_all_runs

# ---- the password ----

password_is wrong-horse
history_is "$postgres_port"
run_job
expect_trouble 'password authentication failed for user "peal". Put the right password into'
password_is correct-horse
expect_all_runs

# ---- a newer peal ----

ask 'INSERT INTO peal.migrations (version) VALUES (999)' >/dev/null
history_is "$postgres_port"
run_job
expect_trouble 'was written by a newer peal (its format is 999'
ask 'DELETE FROM peal.migrations WHERE version = 999' >/dev/null
expect_all_runs

# ---- TLS ----

certificate "$scratch/other.pem"
certificate "$postgres/server.pem"
[ "$(id -u)" != 0 ] || chown postgres "$postgres/server.pem.key"
cp "$postgres/server.pem" "$scratch/right.pem"
history_is "$postgres_port" "sslmode=verify-full&sslrootcert=$scratch/right.pem"
expect_trouble 'server does not support SSL'
postgres_stop "$postgres"
postgres_start "$postgres" "$postgres_port" -c ssl=on \
    -c "ssl_cert_file=$postgres/server.pem" -c "ssl_key_file=$postgres/server.pem.key"
run_job
expect_all_runs
history_is "$postgres_port" "sslmode=verify-full&sslrootcert=$scratch/other.pem"
run_job
expect_trouble 'certificate verify failed. Check sslmode and sslrootcert'
history_is "$postgres_port" "sslmode=verify-full&sslrootcert=$scratch/none.pem"
expect_trouble 'Check sslmode and sslrootcert'
cp "$scratch/right.pem" "$scratch/none.pem"
expect_all_runs

# ---- a full disk ----

if [ "$(id -u)" = 0 ] && mkdir "$scratch/small" &&
    mount -t tmpfs -o size=8m none "$scratch/small" 2>/dev/null; then
    folder_for_postgres "$scratch/small/space"
    ask "CREATE TABLESPACE small LOCATION '$scratch/small/space'" >/dev/null
    ask 'ALTER DATABASE peal SET default_tablespace = small' >/dev/null
    history_is "$postgres_port" schema=small
    wait_until is_well
    cat /dev/zero >"$scratch/small/full" 2>/dev/null
    peal add large '@manual' -- sh -c 'head -c 500000 /dev/urandom | base64; echo large' 2>/dev/null
    run peal run large
    expect_status 0
    expect_trouble 'Its disk is full: make room there.'
    rm "$scratch/small/full"
    expect_well
    expect_runs large 1 large
else
    echo 'not tested: a full disk, as no file system can be mounted'
fi

# ---- a replica ----

mapfile -t ports < <(free_ports)
replica=$scratch/postgres-replica
folder_for_postgres "$replica"
rm -rf "$scratch/small/full"
as_owner "$postgres_bin/pg_basebackup" -h "$postgres" -p "$postgres_port" -U peal -R -c fast \
    -D "$replica/data" -T "$scratch/small/space=$replica/space" >/dev/null 2>&1 ||
    mismatch 'no replica could be made'
postgres_start "$replica" "${ports[0]}"
history_is "${ports[0]}"
run_job
expect_trouble 'it is read-only (a replica). Name the primary'
run peal runs job -o json # what it has can be read, and so can what waits
expect_json 'length' "$runs"
as_owner "$postgres_bin/pg_ctl" -D "$replica/data" -w promote >/dev/null 2>&1
expect_all_runs
finish
