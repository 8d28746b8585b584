# Sourced after history_lib.sh by the tests with a Redis: servers of the test's own, on loopback ports
# that were free. A server is a folder. None is silent about what it acknowledges, unless told so.
# shellcheck shell=bash
# shellcheck disable=SC2317 # most of it is called by wait_until
# shellcheck disable=SC2154,SC2034 # scratch is of lib.sh

redis=$scratch/redis
redis_port=

# The first one. Most scripts give no options.
# shellcheck disable=SC2120
redis_make() { # [OPTION...]
    local ports
    command -v redis-server >/dev/null || {
        echo 'skipped: Redis is not installed'
        exit 77
    }
    mapfile -t ports < <(free_ports)
    redis_port=${ports[0]}
    redis_start "$redis" "$redis_port" "$@"
}

redis_start() { # FOLDER PORT [OPTION...]
    local folder=$1 port=$2
    shift 2
    mkdir -p "$folder"
    : >>"$folder/conf" # which CONFIG REWRITE writes
    redis-server "$folder/conf" --port "$port" --bind 127.0.0.1 --dir "$folder" --unixsocket "$folder/s" \
        --pidfile "$folder/pid" --logfile "$folder/log" --daemonize yes --save '' --appendonly yes \
        --appendfsync always --repl-diskless-sync-delay 0 "$@" >/dev/null
    wait_until redis_serves "$folder"
}

redis_say() { # FOLDER COMMAND...
    local folder=$1
    shift
    redis-cli -s "$folder/s" "$@"
}

redis_serves() { # FOLDER
    [ "$(redis_say "$1" PING 2>/dev/null)" = PONG ]
}

# STOP freezes it, CONT lets it go on.
redis_signal() { # FOLDER SIGNAL
    kill -"$2" "$(cat "$1/pid")"
}

# As a crash does.
redis_kill() { # FOLDER
    local pid
    pid=$(cat "$1/pid")
    kill -9 "$pid"
    while kill -0 "$pid" 2>/dev/null; do :; done
    rm -f "$1/pid"
}

# ---- replicas, and who promotes one ----

redis_follow() { # FOLDER PORT: a replica of the first one
    redis_start "$1" "$2" --replicaof 127.0.0.1 "$redis_port"
    wait_until redis_follows "$1"
}

redis_follows() { # FOLDER
    redis_say "$1" INFO replication | grep -q 'master_link_status:up'
}

redis_is_master() { # FOLDER
    redis_say "$1" INFO replication | grep -q 'role:master'
}

# Sentinel, which watches the first one as "jobs" and is of one mind with itself.
sentinel_start() { # FOLDER PORT DOWN_AFTER_MS
    mkdir -p "$1"
    cat >"$1/conf" <<END
port $2
bind 127.0.0.1
dir $1
unixsocket $1/s
pidfile $1/pid
logfile $1/log
daemonize yes
sentinel monitor jobs 127.0.0.1 $redis_port 1
sentinel down-after-milliseconds jobs $3
sentinel failover-timeout jobs 10000
END
    redis-server "$1/conf" --sentinel >/dev/null
    wait_until redis_serves "$1"
}

sentinel_names() { # FOLDER PORT
    [ "$(redis_say "$1" SENTINEL get-master-addr-by-name jobs | tail -n 1)" = "$2" ]
}

sentinel_knows() { # FOLDER REPLICAS
    [ "$(redis_say "$1" SENTINEL master jobs | grep -A1 -x num-slaves | tail -n 1)" = "$2" ]
}
