#!/bin/sh
# What one node does, measured on the built programs as they are installed, each figure beside the
# machine's own limit from the same minute. Takes about four minutes.
# usage: bench/agent/run.sh [BUILD_DIR]
#   BENCH_JOBS=1000000   jobs of the large data folder
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
bench=$build/bench/agent_bench
peal=$build/bin/peal
[ -x "$peal" ] || peal=$here/../../build/bin/peal
many=${BENCH_JOBS:-1000000}
. "$here/../figures.sh"
PEAL_DEFAULT_USER=$(id -un) # root, too, measures its own jobs
export PEAL_DEFAULT_USER

if ! [ -x "$bench" ] || ! [ -x "$peal" ]; then
    echo "bench/agent: $bench and $peal are wanted; build them first" >&2
    exit 1
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
data=$work/data

spawner() {
    pgrep -f "^[^ ]*peal-spawn .*$data/spawn" || true
}

stop() {
    "$peal" stop --data "$data" 2>/dev/null || true
    for pid in $(spawner); do
        kill "$pid" 2>/dev/null || true
    done
}

trap 'stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

start() {
    "$peal" start -d --data "$data" 2>"$work/start.log" || {
        cat "$work/start.log" >&2
        exit 1
    }
}

fresh() { # COUNT SCHEDULE [JITTER_S]
    rm -rf "$data"
    "$bench" jobs "$data" bench "$1" "$2" "${3:-0}"
}

add_due() { # 100 runs in a second, spread over it by their jobs' jitter
    "$bench" jobs "$data" due 100 '* * * * * *' 1
}

agent() {
    cat "$data/peal.pid"
}

# Processor time of the agent while COMMAND runs.
busy_s() { # COMMAND...
    pid=$(agent)
    ticks=$(processor_ticks "$pid")
    "$@"
    calculate "($(processor_ticks "$pid") - $ticks) / $(getconf CLK_TCK)"
}

# Beside a bare loop of timers that runs at the same time.
lateness() {
    rm -rf "$data"
    add_due
    start
    sleep 2
    for i in $(seq $rounds); do
        date +%s >"$work/from$i"
        "$bench" timer 6 >"$work/timer$i" &
        busy_s sleep 5
        wait
        echo
    done >"$work/busy"
    stop
    alone_s=$(median <"$work/busy")
    for i in $(seq $rounds); do
        from=$(cat "$work/from$i")
        # shellcheck disable=SC2046 # words
        set -- $("$bench" starts "$data/history.db" $((from + 1)) $((from + 5)))
        echo "$5 $4 $(cat "$work/timer$i")"
    done >"$work/rounds"
    # shellcheck disable=SC2046 # words
    set -- $(median <"$work/rounds")
    line 'lateness, 100 runs/s, p50' "$2 ms" "timer $3 ms" '' '1 ms' "$2 <= 1"
    line 'lateness, 100 runs/s, p99' "$1 ms" "timer $4 ms" '' '10 ms + timer' "$1 <= 10 + $4"
}

# The same without jitter: a hundred processes have to be made in the same millisecond.
bursts() {
    fresh 100 '* * * * * *'
    start
    from=$(($(date +%s) + 2))
    sleep 8
    stop
    # shellcheck disable=SC2046
    set -- $("$bench" burst 6) $("$bench" starts "$data/history.db" "$from" $((from + 5)))
    line '100 runs at one instant, p50' "$6 ms" "posix_spawn $1 ms" "$(calculate "$6 / $1")" '' ''
    line '100 runs at one instant, p99' "$7 ms" "posix_spawn $2 ms" "$(calculate "$7 / $2")" '' ''
}

# Between two bare measurements each, since others use the machine too; the median of the ratios
# counts.
one_instant() {
    count=5000
    wrong=0
    bare=$("$bench" spawn $count)
    for _ in $(seq $rounds); do
        before=$bare
        at=$(($(date +%s) + 4))
        fresh $count "@at $(date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ)"
        start
        for _ in $(seq 60); do
            sleep 0.5
            # shellcheck disable=SC2046
            set -- $("$bench" starts "$data/history.db" "$at" "$at")
            [ "$1" -lt $count ] || break
        done
        stop
        wrong=$((wrong + count - $1 + $2 + $3))
        bare=$("$bench" spawn $count)
        echo "$(calculate "$6 * 2 / ($before + $bare)") $6 $(calculate "($before + $bare) / 2" 3)"
    done >"$work/rounds"
    # shellcheck disable=SC2046
    set -- $(median <"$work/rounds")
    line "$count runs at one instant, all started" "$2 s" "posix_spawn $3 s" "$1" '1.25' \
        "$1 <= 1.25"
    line "  lost, doubled or failed, $rounds rounds" "$wrong" '' '' '0' "$wrong == 0"
}

# More due in each second than can be started.
sustained() {
    wrong=0
    bare=$("$bench" spawn 4000)
    for _ in $(seq $rounds); do
        before=$bare
        fresh 4000 '* * * * * *'
        start
        from=$(($(date +%s) + 3))
        sleep 14
        stop
        # shellcheck disable=SC2046
        set -- $("$bench" rate "$data/history.db" "$from" $((from + 10)))
        wrong=$((wrong + $2 + $3))
        bare=$("$bench" spawn 4000)
        limit=$(calculate "8000 / ($before + $bare)" 0)
        echo "$(calculate "$1 / $limit") $1 $limit"
    done >"$work/rounds"
    # shellcheck disable=SC2046
    set -- $(median <"$work/rounds")
    line 'sustained for 10 s' "$2 /s" "posix_spawn $3 /s" "$1" '0.80' "$1 >= 0.8"
    line "  doubled or failed, $rounds rounds" "$wrong" '' '' '0' "$wrong == 0"
}

small() {
    fresh 1000 '0 0 * * *'
    start
    sleep 1
    mb=$(calculate "$(resident_kb "$(agent)") / 1024" 1)
    line '1,000 jobs, agent resident' "$mb MB" '' '' '30 MB' "$mb <= 30"
    for pid in $(spawner); do
        line '  and the spawner' "$(calculate "$(resident_kb "$pid") / 1024" 1) MB" '' '' '' ''
    done
    stop
}

medium() {
    fresh 100000 '0 0 * * *'
    : >"$work/bare"
    : >"$work/peal"
    for _ in $(seq $rounds); do
        "$bench" read "$data/peal.db" >>"$work/bare"
        before=$(now_ms)
        start
        calculate "($(now_ms) - $before) / 1000" >>"$work/peal"
        echo >>"$work/peal"
        # shellcheck disable=SC2046
        set -- $("$bench" pages "$data/api.sock" '/api/v1/jobs?limit=50' 1000)
        echo "$2" >>"$work/page99"
        echo "$1" >>"$work/page50"
        "$bench" pages "$data/api.sock" '/api/v1/agent' 1000 | cut -d ' ' -f 2 >>"$work/small99"
        stop
    done
    bare=$(least <"$work/bare")
    peal_s=$(least <"$work/peal")
    line 'start with 100,000 jobs' "$peal_s s" "bare read $bare s" \
        "$(calculate "$peal_s / $bare")" '2 s' "$peal_s <= 2"
    page=$(least <"$work/page99")
    line 'page of 50 out of 100,000 jobs, p50' "$(least <"$work/page50") ms" '' '' '' ''
    line '  p99' "$page ms" "GET /agent $(least <"$work/small99") ms" '' '5 ms' "$page <= 5"
}

# The cost of planning grows with what is due, not with what exists.
due_among_many() {
    add_due
    start
    sleep 2
    among_s=$(busy_s sleep 5)
    stop
    ratio=$(calculate "$among_s / $alone_s")
    line '100 runs/s among 100,000 jobs, 5 s' "$among_s s" "alone $alone_s s" "$ratio" '1.50' \
        "$ratio <= 1.5"
}

large() {
    fresh "$many" '0 0 * * *'
    before=$(now_ms)
    start
    took=$(calculate "($(now_ms) - $before) / 1000" 1)
    line "start with $many jobs" "$took s" "bare read $("$bench" read "$data/peal.db") s" '' '' ''
    idle=$({ # the better of two: a pass of chores may fall into one
        busy_s sleep 10
        echo
        busy_s sleep 10
        echo
    } | least)
    each=$(calculate "$(resident_kb "$(agent)") * 1024 / $many" 0)
    line '  resident, all in, for each' "$each bytes" '' '' '700' "$each <= 700"
    line '  processor time in 10 s idle' "$idle s" '' '' '0.05 s' "$idle <= 0.05"
    stop
}

heading 'what' 'peal' 'the machine' 'ratio' 'budget'
lateness
bursts
one_instant
sustained
small
medium
due_among_many
large
exit $failed
