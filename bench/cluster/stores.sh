#!/bin/bash
# What three nodes do on a Redis and on a PostgreSQL whose writes reach the disk, beside what the machine
# can do: claims and whole runs a second beside a bare client, 5,000 jobs at one instant, 100 runs a second
# beside a timer, a node that dies, and a server that dies, beside a client that only waits to write. Takes
# about four minutes.
# usage: bench/cluster/stores.sh [BUILD_DIR] [STORE...]
# shellcheck disable=SC2154,SC2086,SC2119,SC2317 # of the libraries; words; functions that are called by name

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
shift || true
export PEAL_BIN=$here/../../build/bin
[ ! -x "$build/bin/peal" ] || PEAL_BIN=$build/bin
. "$here/../../test/integration/lib.sh"
. "$here/../../test/integration/history_lib.sh"
. "$here/../../test/integration/redis_lib.sh"
. "$here/../figures.sh"
bench=$build/bench/cluster_bench machine=$build/bench/agent_bench store_bench=$build/bench/store_kv_bench

start_redis_store() {
    redis_make # options: none
    url=redis://127.0.0.1:$redis_port
}
start_postgres_store() {
    postgres_make trust
    postgres_stop "$postgres"
    postgres_start "$postgres" "$postgres_port" -c fsync=on
    url=postgresql://peal@127.0.0.1:$postgres_port/peal
}

start_nodes() { # PREFIX
    local node
    for node in a b c; do
        peal start -d --data "$scratch/$1-$node" --store "$(store_named "$1")" --node-id "$node" --capacity 1 --listen none \
            2>/dev/null || exit 1
    done
    export PEAL_DATA=$scratch/$1-a
}
store_named() { # each part has keys of its own
    case $url in
    redis*) echo "$url?prefix=$1" ;;
    *) echo "$url?schema=$1" ;;
    esac
}
end_nodes() { # PREFIX
    local node
    for node in a b c; do
        peal stop --data "$scratch/$1-$node" >/dev/null 2>&1
    done
}
jobs() { # NAME COUNT SCHEDULE
    local i
    for ((i = 0; i < $2; i++)); do
        printf -- '---\nname: %s-%d\nschedule: "%s"\ncommand: ["true"]\ncatch_up: skip\n' "$1" "$i" "$3"
    done >"$scratch/jobs.yaml"
    peal apply -f "$scratch/jobs.yaml" >/dev/null || exit 1
}
starts() { # PREFIX FROM_S TO_S
    "$bench" starts "$2" "$3" "$scratch/$1"-?/history.db
}

# Whole runs: a claim, a begin, a finish and what is forgotten.
batches() { # STORE
    local name ours limit
    "$store_bench" "$1" >"$scratch/batches"
    for name in 'runs, 100 at a time, 8 in flight' 'claims, 100 at a time, 8 in flight'; do
        read -r ours limit < <(sed -n "s|^$name *\([0-9]*\) /s *bare client *\([0-9]*\) .*|\1 \2|p" "$scratch/batches")
        line "$name" "$ours /s" "bare $limit /s" "$(calculate "$ours / $limit")" '0.80' "$ours >= 0.8 * $limit"
    done
}

one_instant() {
    local count=5000 at
    start_nodes burst
    at=$(($(date +%s) + 25))
    jobs burst $count "@at $(date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ)"
    for _ in {1..90}; do
        sleep 0.5
        # shellcheck disable=SC2046 # columns
        set -- $(starts burst "$at" "$at")
        [ "$1" -lt $count ] || break
    done
    line "$count runs at one instant on 3 nodes" "$6 s" '' '' '' ''
    line '  lost, doubled or failed' "$((count - $1 + $2 + $3))" '' '' '0' "$count - $1 + $2 + $3 == 0"
    end_nodes burst
}

rates() {
    local from died
    start_nodes due
    jobs due 100 '* * * * * *'
    sleep 5
    from=$(date +%s)
    "$machine" timer 6 >"$scratch/timer"
    # shellcheck disable=SC2046 # columns
    set -- $(starts due $((from + 1)) $((from + 5))) $(cat "$scratch/timer")
    line 'lateness, 100 runs/s, p50' "$4 ms" "timer $7 ms" '' '' ''
    line 'lateness, 100 runs/s, p99' "$5 ms" "timer $8 ms" '' '10 ms + timer' "$5 <= 10 + $8"
    died=$(date +%s)
    kill -9 "$(cat "$scratch/due-b/peal.pid")"
    "$machine" timer 5 >"$scratch/timer"
    sleep 2
    # shellcheck disable=SC2046 # columns
    set -- $(starts due $((died + 2)) $((died + 5))) $(cat "$scratch/timer")
    line 'a node is killed: the latest of 3 s' "$6 s" "timer p99 $8 ms" '' '1 s' "$6 <= 1"
    line '  missed or doubled, of 300' "$(($1 < 300 ? 300 - $1 + $2 : $2))" '' '' '0' "$1 >= 300 && $2 == 0"
    rm "$scratch/due-b/peal.pid"
}

# ---- the server dies, and is there again after two seconds ----

redis_dies() { redis_kill "$redis"; }
redis_is_back() { redis_start "$redis" "$redis_port"; }
redis_takes_a_write() { [ "$(redis_say "$redis" SET bare 1 2>/dev/null)" = OK ]; }
postgres_dies() {
    postgres_signal "$postgres" KILL
    rm -f "$postgres/data/postmaster.pid" "$postgres"/.s.PGSQL.*
}
postgres_is_back() { postgres_start "$postgres" "$postgres_port" -c fsync=on; }
postgres_takes_a_write() { ask 'CREATE TABLE IF NOT EXISTS bare (x int); INSERT INTO bare VALUES (1)' >/dev/null 2>&1; }

server_dies() { # STORE
    local died served first
    sleep 2
    died=$(now_ms)
    "$1_dies"
    sleep 2
    "$1_is_back" &
    until "$1_takes_a_write"; do :; done
    served=$(now_ms)
    wait $!
    sleep 6
    first=$("$bench" first $((died + 500)) "$scratch"/due-?/history.db)
    line 'the server is killed: from there to a start' "$(calculate "($first - $died) / 1000") s" \
        "a write $(calculate "($served - $died) / 1000") s" '' 'a write + 0.5 s' "$first - $served <= 500"
    end_nodes due
}

[ $# -gt 0 ] || set -- redis postgres
for store in "$@"; do
    start_${store}_store
    heading "on $store, load $(cut -d ' ' -f 1 /proc/loadavg)" 'peal' 'the machine' 'ratio' 'budget'
    batches "$store"
    one_instant
    rates
    server_dies "$store"
done
exit "$failed"
