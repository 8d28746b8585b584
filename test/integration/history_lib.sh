# Sourced after lib.sh by the tests of histories in a server: servers of the test's own, on loopback
# ports that were free, and what peal says about them.
# shellcheck shell=bash
# shellcheck disable=SC2317 # most of it is called by wait_until
# shellcheck disable=SC2154,SC2034 # scratch and patience are of lib.sh

trap 'end_agents; etcd_stop; servers_stop; rm -rf "$scratch"' EXIT
patience=60 # a server takes a while to start

servers_stop() {
    local data pid
    for pid in "$scratch"/redis*/pid "$scratch"/sentinel*/pid; do
        [ ! -f "$pid" ] || kill -9 "$(cat "$pid")"
    done
    [ -z "${mongo_pid:-}" ] || mongo_kill
    for data in "$scratch"/postgres*/data; do
        [ ! -f "$data/postmaster.pid" ] || postgres_stop "${data%/data}"
    done
    ! mountpoint -q "$scratch/small" || umount -l "$scratch/small"
}

# ---- PostgreSQL: a server is a folder ----

postgres_bin=${PEAL_POSTGRES_BIN:-$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)}
postgres=$scratch/postgres
postgres_port=

# It refuses to run as root.
as_owner() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
    else
        "$@"
    fi
}

# The first one, with the database "peal", which peal owns. Takes the authentication of TCP.
postgres_make() { # trust|scram-sha-256
    local ports
    [ -x "$postgres_bin/initdb" ] || {
        echo 'skipped: PostgreSQL is not installed'
        exit 77
    }
    mapfile -t ports < <(free_ports)
    postgres_port=${ports[0]}
    folder_for_postgres "$postgres"
    as_owner "$postgres_bin/initdb" -D "$postgres/data" -U peal --auth-local=trust \
        --auth-host="$1" -E UTF8 --locale=C >/dev/null 2>&1
    postgres_start "$postgres" "$postgres_port"
    ask 'CREATE DATABASE peal' postgres >/dev/null
}

folder_for_postgres() { # FOLDER
    chmod 711 "$scratch"
    mkdir -p "$1"
    [ "$(id -u)" != 0 ] || chown postgres "$1"
}

postgres_start() { # FOLDER PORT [OPTION...]
    local folder=$1 port=$2
    shift 2
    as_owner "$postgres_bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 60 \
        -o "-p $port -k $folder -h 127.0.0.1 -c fsync=off $*" start >/dev/null 2>&1
}

postgres_stop() { # FOLDER
    as_owner "$postgres_bin/pg_ctl" -D "$1/data" -m immediate stop >/dev/null 2>&1
}

# To all its processes: STOP freezes it, CONT lets it go on, KILL is a crash. The first one starts others.
postgres_signal() { # FOLDER SIGNAL
    local first others
    first=$(head -n 1 "$1/data/postmaster.pid")
    [ "$2" = CONT ] || kill -STOP "$first"
    mapfile -t others < <(pgrep -P "$first")
    kill -"$2" "$first" "${others[@]}"
}

ask() { # SQL [DATABASE]
    "$postgres_bin/psql" -h "$postgres" -p "$postgres_port" -U peal -Atc "$1" "${2:-peal}"
}

# ---- MongoDB's protocol: mongod, or the FerretDB that tools/ferretdb.sh built ----

mongo=$scratch/mongo
mongo_port=
mongo_pid=
mongo_program=

mongo_make() {
    local ports cache=${XDG_CACHE_HOME:-$HOME/.cache}
    mongo_program=$(command -v mongod || command -v "$cache/peal/ferretdb") || {
        echo 'skipped: no MongoDB server; tools/ferretdb.sh builds one'
        exit 77
    }
    mapfile -t ports < <(free_ports)
    mongo_port=${ports[0]}
    mkdir -p "$mongo/data"
    mongo_start
}

# FerretDB wants to see a password, mongod none.
mongo_has_users() { [ "${mongo_program##*/}" = ferretdb ]; }

mongo_start() {
    if mongo_has_users; then
        "$mongo_program" --handler=sqlite --sqlite-url="file:$mongo/data/" --state-dir="$mongo" \
            --telemetry=disable --debug-addr=- --log-level=error --test-enable-new-auth \
            --setup-username=peal --setup-password=horse --setup-database=admin \
            --listen-addr="127.0.0.1:$mongo_port" >>"$mongo/log" 2>&1 &
    else
        "$mongo_program" --dbpath "$mongo/data" --bind_ip 127.0.0.1 --port "$mongo_port" \
            --nounixsocket >>"$mongo/log" 2>&1 &
    fi
    mongo_pid=$!
    wait_until listens "$mongo_port"
}

mongo_kill() {
    { kill -9 "$mongo_pid" && wait "$mongo_pid"; } 2>/dev/null
    mongo_pid=
}

listens() { # PORT
    (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# ---- what peal says ----

readyz() {
    curl -s --unix-socket "$PEAL_DATA/api.sock" http://peal/readyz
}

is_well() { [ "$(readyz | jq -c '[.status, .history]')" = '["ok",true]' ]; }
says() { readyz | jq -r .detail | grep -qF -e "$1"; }

# Waits until the history is in this trouble; then all who tell of it tell the same. A server names
# another file every time, and how much waits changes, too.
expect_trouble() { # WORDS
    local told
    wait_until says "$1"
    told=$(readyz | jq -r .detail | sed -E 's/ [0-9,]+ records? waits? .*//')
    told=$1${told#*"$1"}
    run peal state
    expect_stdout_has 'history  not well: '
    expect_stdout_has "$told"
    run peal doctor
    expect_status 1
    expect_stdout_has "FAIL  agent's history: "
    expect_stdout_has "$told"
    run peal cluster status
    expect_stdout_has 'history  not well'
    expect_stdout_has "$told"
    run readyz
    expect_json '[.status, .history]' '["ok",false]' # it serves and starts all the same
    expect_stdout_lacks horse # the password
}

expect_well() {
    wait_until is_well
    run peal state
    expect_stdout_lacks 'not well'
    run peal doctor
    expect_stdout_has "ok    agent's history: well"
    run peal cluster status
    expect_stdout_has 'history  well'
}

runs_are() { # JOB NUMBER
    [ "$(peal runs "$1" -n 1000 -o json | jq length)" = "$2" ]
}

# Nothing is lost and nothing is doubled: this many runs, each with its output, and statistics that
# agree. Output and statistics may follow the run at a distance.
expect_runs() { # JOB NUMBER TEXT
    local id
    wait_until runs_are "$1" "$2"
    run peal runs "$1" -n 1000 -o json
    expect_json '[length, (map(.run_id) | unique | length)]' "[$2,$2]"
    for id in $(jq -r '.[].run_id' "$scratch/out"); do
        wait_until has_output "$id" "$3"
    done
    wait_until counts "$1" "$2"
}

has_output() { # RUN TEXT
    peal logs "$1" | grep -qF -e "$2"
}

counts() { # JOB NUMBER
    [ "$(peal stats "$1" -o json | jq 'map(.ok) | add')" = "$2" ]
}
