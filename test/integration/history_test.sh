#!/bin/bash
# peal start --history: two nodes on one PostgreSQL, which goes away and comes back.
. "$(dirname "$0")/lib.sh"

bin=${PEAL_POSTGRES_BIN:-$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)}
[ -x "$bin/initdb" ] || {
    echo 'PostgreSQL is not installed'
    exit 77
}

# PostgreSQL refuses to run as root.
as_owner() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    else
        "$@"
    fi
}

postgres=$scratch/postgres
postgres_start() {
    as_owner "$bin/pg_ctl" -D "$postgres/data" -l "$postgres/log" -w -t 60 \
        -o "-p $port -k $postgres -h 127.0.0.1 -c fsync=off" start >/dev/null 2>&1
}

postgres_stop() {
    as_owner "$bin/pg_ctl" -D "$postgres/data" -m immediate stop >/dev/null 2>&1
}

# shellcheck disable=SC2317 # called by wait_until
ask() { # SQL
    "$bin/psql" -h 127.0.0.1 -p "$port" -U peal -Atc "$1" peal
}

trap 'end_agents; etcd_stop; postgres_stop; rm -rf "$scratch"' EXIT

# What can't be meant is refused at once.
run peal start --data "$scratch/a" --history mysql://localhost/peal
expect_status 6
expect_stderr_has 'peal: --history: a history is sqlite, postgresql://USER@HOST/DATABASE or mongodb://USER@HOST/DATABASE'

mapfile -t ports < <(free_ports)
port=${ports[0]}
mkdir "$postgres"
chmod 711 "$scratch"
[ "$(id -u)" != 0 ] || chown postgres "$postgres"
as_owner "$bin/initdb" -D "$postgres/data" -U peal -A trust -E UTF8 --locale=C >/dev/null 2>&1
postgres_start
"$bin/createdb" -h 127.0.0.1 -p "$port" -U peal peal
etcd_start
url=postgresql://peal@127.0.0.1:$port/peal

for node in a b; do
    run peal start -d --data "$scratch/$node" --store "$etcd_url" --node-id "$node" \
        --history "$url" --listen none
    expect_status 0
done
export PEAL_DATA=$scratch/a
# shellcheck disable=SC2016 # the job expands it
peal add shared '@manual' -- sh -c 'echo it ran on $PEAL_NODE' 2>/dev/null
for _ in 1 2 3 4 5 6; do
    run peal run shared --wait
    expect_status 0
done

# Both nodes see all of it, whoever ran it, and its output.
# shellcheck disable=SC2317 # called by wait_until
all_there() { [ "$(peal runs shared --data "$1" -o json | jq 'length')" = 6 ]; }
wait_until all_there "$scratch/a"
wait_until all_there "$scratch/b"
for node in a b; do
    for id in $(peal runs shared --data "$scratch/$node" -o json | jq -r '.[].run_id'); do
        run peal logs "$id" --data "$scratch/$node"
        expect_stdout_has 'it ran on'
    done
done

# Away: runs go on, and what they leave waits on disk.
postgres_stop
run peal run shared
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
says_so() {
    peal state --data "$scratch/a" | grep 'is away.*on disk' ||
        peal state --data "$scratch/b" | grep 'is away.*on disk'
}
wait_until says_so

# Back: it is delivered, once.
postgres_start
# shellcheck disable=SC2317 # called by wait_until
delivered() { [ "$(ask "select count(*) from peal.runs")" = 7 ]; }
wait_until delivered

# A restarted agent remembers its history; sqlite leaves it.
run peal restart --data "$scratch/b"
expect_status 0
run peal runs shared --data "$scratch/b"
expect_stdout_has shared
run peal restart --data "$scratch/b" --history sqlite
expect_status 0
run peal runs shared --data "$scratch/b"
expect_stderr_has "no runs"
finish
