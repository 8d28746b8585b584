#!/bin/sh
# What nodes do on an etcd of one member (and, where its leader dies, of three) whose writes reach the disk, measured on the built programs,
# each figure beside the machine's own limit from the same minute. Takes about four minutes.
# usage: bench/cluster/run.sh [BUILD_DIR]
#   BENCH_JOBS=100000   jobs of the large store
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
bench=$build/bench/cluster_bench
machine=$build/bench/agent_bench
store=$build/bench/store_kv_bench
peal=$build/bin/peal
[ -x "$peal" ] || peal=$here/../../build/bin/peal
many=${BENCH_JOBS:-100000}
. "$here/../figures.sh"
. "$here/../etcd.sh"
PEAL_DEFAULT_USER=$(id -un) # root, too, measures its own jobs
export PEAL_DEFAULT_USER

for program in "$bench" "$machine" "$store" "$peal"; do
    if ! [ -x "$program" ]; then
        echo "bench/cluster: $program is wanted; build it first" >&2
        exit 1
    fi
done
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")

stop() { # all nodes
    for folder in "$work"/node-*; do
        [ -d "$folder" ] || continue
        "$peal" stop --data "$folder" 2>/dev/null || true
        for pid in $(pgrep -f "^[^ ]*peal-spawn .*$folder/spawn"); do
            kill "$pid" 2>/dev/null || true
        done
    done
    rm -rf "$work"/node-*
}

trap 'stop; exec 3>&-; wait; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

# A server of its own for each part: what the one before wrote costs nothing.
fresh_etcd() { # [PART]
    stop
    start_etcd "$bench" "$@"
    need_etcd
}

start() { # NODE...
    for node in "$@"; do
        "$peal" start -d --data "$work/node-$node" --store "etcd://$etcd/bench" --node-id "$node" \
            --capacity 1 --listen none 3>&- 2>"$work/start.log" || {
            cat "$work/start.log" >&2
            exit 1
        }
    done
}

jobs() { # NAME COUNT SCHEDULE [JITTER_S]
    "$bench" jobs "${etcd%%,*}" bench "$1" "$2" "$3" "${4:-0}"
}

starts() { # FROM_S TO_S
    "$bench" starts "$1" "$2" "$work"/node-*/history.db
}

agent() { # NODE
    cat "$work/node-$1/peal.pid"
}

# ---- what is measured ----

engine() {
    fresh_etcd
    for i in $(seq $rounds); do
        # shellcheck disable=SC2046 # words
        set -- $("$bench" engine "$etcd" "engine$i" 8000 5)
        echo "$(calculate "$1 / $2") $1 $2"
    done >"$work/rounds"
    # shellcheck disable=SC2046
    set -- $(median <"$work/rounds")
    line 'an engine that starts nothing' "$2 runs/s" "bare client $3 /s" "$1" '5000 /s' "$2 >= 5000"
}

# Claims on their own, by turns with the same transactions over the client alone.
claims() { # NAME BATCH IN_FLIGHT
    name=$1
    # shellcheck disable=SC2046 # words
    set -- $("$store" etcd claims "$2" "$3")
    line "$name" "$1 /s" "bare client $2 /s" "$(calculate "$1 / $2")" '' ''
}

lateness() {
    fresh_etcd
    jobs due 100 '* * * * * *' 1
    start a
    sleep 3
    for i in $(seq $rounds); do
        from=$(date +%s)
        "$machine" timer 6 >"$work/timer$i"
        echo "$from" >"$work/from$i"
    done
    sleep 1
    for i in $(seq $rounds); do
        from=$(cat "$work/from$i")
        # shellcheck disable=SC2046
        set -- $(starts $((from + 1)) $((from + 5)))
        echo "$5 $4 $(cat "$work/timer$i")"
    done >"$work/rounds"
    # shellcheck disable=SC2046
    set -- $(median <"$work/rounds")
    line 'lateness on etcd, 100 runs/s, p50' "$2 ms" "timer $3 ms" '' '1 ms' "$2 <= 1"
    line 'lateness on etcd, 100 runs/s, p99' "$1 ms" "timer $4 ms" '' '10 ms + timer' "$1 <= 10 + $4"
}

# Unary requests to etcd, by its own count.
requests() {
    curl -s "http://$etcd/metrics" | awk '
        /^grpc_server_handled_total/ && /grpc_type="unary"/ { sum += $2 } END { printf "%d", sum }'
}

# Jobs that are due one after the other share requests, where nothing waits for the answer.
sharing() {
    fresh_etcd
    jobs due 100 '* * * * * *' 1
    start a
    sleep 3
    before=$(requests)
    sleep 10
    each=$(calculate "($(requests) - $before) / 1000")
    line 'requests to etcd for a run, at 100 runs/s' "$each" '' '' '2.5' "$each <= 2.5"
}

one_instant() {
    count=5000
    fresh_etcd
    bare=$("$machine" spawn $count)
    at=$(($(date +%s) + 12))
    jobs burst $count "@at $(date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ)"
    start a b c
    for _ in $(seq 80); do
        sleep 0.5
        # shellcheck disable=SC2046
        set -- $(starts "$at" "$at")
        [ "$1" -lt $count ] || break
    done
    bare=$(calculate "($bare + $("$machine" spawn $count)) / 2" 3)
    line "$count runs at one instant on 3 nodes" "$6 s" "posix_spawn $bare s" \
        "$(calculate "$6 / $bare")" '' ''
    line '  lost, doubled or failed' "$((count - $1 + $2 + $3))" '' '' '0' \
        "$count - $1 + $2 + $3 == 0"
}

# One of three nodes is killed. What it had claimed by then, a tenth of a second ahead, is not what
# this is about: three seconds from the second after next on are.
failover() {
    fresh_etcd
    jobs due 100 '* * * * * *' 1
    start a b c
    sleep 4
    pid=$(agent b)
    died=$(date +%s)
    kill -9 "$pid"
    "$machine" timer 5 >"$work/timer"
    sleep 2
    # shellcheck disable=SC2046
    set -- $(starts $((died + 2)) $((died + 5))) $(cat "$work/timer")
    line 'a node is killed: the latest of 3 s' "$6 s" "timer p99 $8 ms" '' '1 s' "$6 <= 1"
    line '  p50 of all' "$4 ms" "timer p50 $7 ms" '' '' ''
    line '  missed or doubled, of 300' "$(($1 < 300 ? 300 - $1 + $2 : $2))" '' '' '0' \
        "$1 >= 300 && $2 == 0"
}

# The leader of three members is killed, and a bare client tries to write all the while. What is late
# is what was due until the others had elected one.
leader() {
    fresh_etcd members
    jobs due 100 '* * * * * *' 1
    start a b c
    sleep 4
    mkfifo "$work/bare"
    "$bench" retry "$etcd" <"$work/bare" >"$work/gap" 3>&- &
    bare=$!
    exec 4>"$work/bare"
    sleep 1
    died=$(date +%s)
    printf k >&3
    sleep 7
    exec 4>&-
    wait "$bare"
    # shellcheck disable=SC2046
    set -- $(starts "$died" $((died + 4))) $(cat "$work/gap")
    line "etcd's leader is killed: the latest of 4 s" "$6 s" "bare client $7 s" \
        "$(calculate "$6 / $7")" 'bare client + 0.5 s' "$6 <= $7 + 0.5"
    line '  not started or doubled, of 400' "$(($1 < 400 ? 400 - $1 + $2 : $2))" '' '' '0' \
        "$1 >= 400 && $2 == 0"
}

many_jobs() {
    fresh_etcd
    jobs idle "$many" '0 0 1 1 *'
    bare=$("$bench" list "$etcd" bench)
    for _ in $(seq $rounds); do
        stop
        before=$(now_ms)
        start a
        calculate "($(now_ms) - $before) / 1000"
        echo
    done >"$work/rounds"
    took=$(median <"$work/rounds")
    line "start with $many jobs in etcd" "$took s" "bare list $bare s" \
        "$(calculate "$took / $bare")" '' ''
    sleep 3
    ticks=$(processor_ticks "$(agent a)")
    sleep 10
    busy=$(calculate "($(processor_ticks "$(agent a)") - $ticks) / $(getconf CLK_TCK)")
    each=$(calculate "$(resident_kb "$(agent a)") * 1024 / $many" 0)
    line '  resident, all in, for each' "$each bytes" '' '' '' ''
    line '  processor time in 10 s idle' "$busy s" '' '' '' ''
}

heading 'what' 'peal' 'the machine' 'ratio' 'budget'
claims 'claims, one by one' 1 1
claims 'claims, 100 at a time, 8 in flight' 100 8
engine
lateness
sharing
one_instant
failover
leader
many_jobs
exit "$failed"
