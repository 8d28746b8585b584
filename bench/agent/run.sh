#!/bin/sh
# What one node does, measured on the built programs as they are installed, each figure beside the
# machine's own limit from the same minute. Takes about eight minutes.
# usage: bench/agent/run.sh [BUILD_DIR [PART...]]
#   PART                 one of those at the end, all in this order unless some are named
#   BENCH_JOBS=1000000   jobs of the large data folder
#   BENCH_ROUNDS=3       how often something is measured that others can disturb
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../figures.sh"
. "$here/../node.sh"
find_programs "${1:-}"
[ $# -eq 0 ] || shift
many=${BENCH_JOBS:-1000000}
rounds=${BENCH_ROUNDS:-$rounds}
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
data=$work/data
noted=$work/noted # when the tiny jobs ran

trap 'stop; leave_cpu_group; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

add_due() { # 100 runs in a second, spread over it by their jobs' jitter
    "$bench" jobs "$data" due 100 '* * * * * *' 1 /bin/true
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
    for i in $(seq "$rounds"); do
        date +%s >"$work/from$i"
        "$bench" timer 6 >"$work/timer$i" &
        busy_s sleep 5
        wait
        echo
    done >"$work/busy"
    stop
    alone_s=$(median <"$work/busy")
    for i in $(seq "$rounds"); do
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
    seconds=6
    for _ in $(seq "$rounds"); do
        bare 1 100 $seconds
        cat "$work/bare" >>"$work/bare100"
        fresh 100 '* * * * * *'
        start
        sleep 1
        from=$(($(date +%s) + 1))
        ticks=$(spent_ticks)
        runs=$("$bench" noted "$noted" 0 1 | cut -d ' ' -f 1)
        sleep $((seconds + 1))
        ticks=$(($(spent_ticks) - ticks))
        runs=$(($("$bench" noted "$noted" 0 1 | cut -d ' ' -f 1) - runs))
        stop
        echo "$("$bench" noted "$noted" $from $seconds)" \
            "$(calculate "$ticks * 1000000 / $(getconf CLK_TCK) / $runs" 0)" >>"$work/peal100"
    done
    best 'p50' 2 '1.00'
    best 'p99' 3 '1.00'
    best 'processor time of each' 5 '1.60'
}

best() { # WHAT COLUMN BUDGET: the best of all rounds, on both sides
    ours=$(cut -d ' ' -f "$2" "$work/peal100" | least)
    theirs=$(cut -d ' ' -f "$2" "$work/bare100" | least)
    unit=ms
    [ "$2" -ne 5 ] || unit=us
    ratio=$(calculate "$ours / $theirs")
    line "100 at each second, $1" "$ours $unit" "1 process $theirs $unit" "$ratio" "$3" \
        "$ratio <= $3"
}

# The best of all rounds, on both sides: others use the machine, too. The bare figure is the better
# one of one and two processes.
one_instant() { # COUNT
    : >"$work/peal-burst"
    : >"$work/bare-burst"
    for _ in $(seq "$rounds"); do
        for processes in 1 2; do
            bare $processes "$1" 1
            cut -d ' ' -f 4 "$work/bare" >>"$work/bare-burst"
        done
        burst_of "$1" >>"$work/peal-burst"
    done
    ours=$(cut -d ' ' -f 1 "$work/peal-burst" | least)
    theirs=$(least <"$work/bare-burst")
    ratio=$(calculate "$ours / $theirs")
    wrong=$(awk '{ sum += $2 } END { print sum }' "$work/peal-burst")
    line "$1 at one instant, the last one" "$ours s" "best bare $theirs s" "$ratio" '1.25' \
        "$ratio <= 1.25"
    line "  lost, doubled or failed, $rounds rounds" "$wrong" '' '' '0' "$wrong == 0"
}

# Runs that do not end keep their pipes open, which must not slow down those after them. Follows
# one_instant, whose figures are those of short runs.
long_runs() { # COUNT
    : >"$work/peal-long"
    for _ in $(seq "$rounds"); do
        burst_of "$1" 60 >>"$work/peal-long"
        sleep 2 # until they have ended
    done
    long=$(cut -d ' ' -f 1 "$work/peal-long" | least)
    wrong=$(awk '{ sum += $2 } END { print sum }' "$work/peal-long")
    ratio=$(calculate "$long / $ours")
    line "$1 at one instant that run for 60 s" "$long s" "short ones $ours s" "$ratio" '1.10' \
        "$ratio <= 1.1"
    line "  lost, $rounds rounds" "$wrong" '' '' '0' "$wrong == 0"
}

# More due in each second than can be started. Follows one_instant: the bare rate is that of two
# processes or one, whichever is the better.
sustained() {
    : >"$work/peal-rate"
    wrong=0
    limit=$(calculate "5000 / $theirs" 0)
    for _ in $(seq "$rounds"); do
        fresh 10000 '* * * * * *'
        start
        from=$(($(date +%s) + 3))
        sleep 10
        "$bench" noted_rate "$noted" $from $((from + 6)) >>"$work/peal-rate"
        stop
        # shellcheck disable=SC2046
        set -- $("$bench" rate "$data/history.db" "$from" $((from + 6)))
        wrong=$((wrong + $2 + $3))
    done
    rate=$(sort -g "$work/peal-rate" | tail -n 1)
    share=$(calculate "$rate / $limit")
    line 'sustained, 10,000 due a second' "$rate /s" "best bare $limit /s" "$share" '0.60' \
        "$share >= 0.6"
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

# What creating them leaves behind, beside what an agent that has only read them holds.
created() {
    rm -rf "$data"
    awk 'BEGIN { for (i = 0; i < 10000; i++)
        printf "- name: team%d/job-%05d\n  schedule: \"%d %d * * *\"\n  command: [/bin/true]\n", i % 20, i, i % 60, i % 24 }' \
        >"$work/jobs.yaml"
    start
    "$peal" apply --data "$data" -f "$work/jobs.yaml" >"$work/apply.log"
    sleep 8 # store and history rest after a second, and the agent looks two seconds later
    after=$(resident_kb "$(agent)")
    stop
    start
    sleep 4
    restarted=$(resident_kb "$(agent)")
    stop
    ratio=$(calculate "$after / $restarted")
    line '10,000 jobs created, agent resident' "$(calculate "$after / 1024" 1) MB" \
        "restarted $(calculate "$restarted / 1024" 1) MB" "$ratio" '1.15' "$ratio <= 1.15"
}

# One by one, by eight clients at once: requests that wait for a commit go into the next one
# together, in the store and in the history, which has a line of each change.
creates() {
    for _ in $(seq "$rounds"); do
        rm -rf "$data" "$work/store"
        mkdir "$work/store"
        limit=$("$bench" puts "$work/store" 8 3)
        start
        # shellcheck disable=SC2046
        set -- $("$bench" creates "$data/api.sock" 8 3)
        stop
        echo "$(calculate "$1 / $limit") $1 $limit $2"
    done >"$work/rounds"
    # shellcheck disable=SC2046
    set -- $(median <"$work/rounds")
    line 'jobs created one by one, 8 clients' "$2 /s" "store, 8 puts with their records under way $3 /s" "$1" '0.80' \
        "$1 >= 0.8"
    line '  processor time of a client for each' "$4 us" 'on the same processors' '' '' ''
}

medium() {
    fresh 100000 '0 0 * * *'
    : >"$work/bare"
    : >"$work/peal"
    for _ in $(seq "$rounds"); do
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

# Each once an hour, at its own time. What was due while they were made and read is caught up first.
in_an_hour() { # JITTER_S: `from` is the second from which on they are measured, for 20 s; a timer beside them
    rm -rf "$data"
    : >"$noted"
    "$bench" jobs "$data" bench "$many" 'H H * * * *' "$1" "$tiny $noted"
    start
    sleep 12
    from=$(($(date +%s) + 1))
    "$bench" timer 21 >"$work/timer"
    sleep 2
    stop
}

# Spread over each second, too, by their jitter.
spread() {
    in_an_hour 1
    # shellcheck disable=SC2046
    set -- $("$bench" starts "$data/history.db" "$from" $((from + 20))) $(cat "$work/timer")
    line "lateness, $many jobs in an hour, p50" "$4 ms" "timer $7 ms" '' '' ''
    line "  p99, $(($1 / 20)) runs/s" "$5 ms" "timer $8 ms" '' '20 ms' "$5 <= 20"
    line '  doubled or failed' "$(($2 + $3))" '' '' '0' "$2 + $3 == 0"
}

# All those of a second at its beginning: as many processes in the same millisecond.
spread_by_seconds() {
    in_an_hour 0
    # shellcheck disable=SC2046
    set -- $("$bench" noted "$noted" "$from" 20)
    each=$(($1 / 20))
    bare 1 $each 6
    # shellcheck disable=SC2046
    set -- "$2" "$3" $(cat "$work/bare")
    line "  $each at whole seconds, p50" "$1 ms" "1 process $4 ms" "$(calculate "$1 / $4")" '1.00' "$1 <= $4"
    line '  p99' "$2 ms" "1 process $5 ms" "$(calculate "$2 / $5")" '1.25' "$2 <= 1.25 * $5"
}

starts() {
    enter_cpu_group
    bursts
    one_instant 1000
    one_instant 5000
    long_runs 5000
    sustained
    leave_cpu_group
}

heading 'what' 'peal' 'the machine' 'ratio' 'budget'
[ $# -gt 0 ] || set -- lateness starts small created creates medium due_among_many large spread spread_by_seconds
for part; do
    case $part in
    lateness) lateness ;;
    starts) starts ;;
    small) small ;;
    created) created ;;
    creates) creates ;;
    medium) medium ;;
    due_among_many) due_among_many ;;
    large) large ;;
    spread) spread ;;
    spread_by_seconds) spread_by_seconds ;;
    *)
        echo "bench/agent: no such part: $part" >&2
        exit 2
        ;;
    esac
done
exit $failed
