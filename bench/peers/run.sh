#!/bin/sh
# peal beside those who only start processes, on the same work with the same tiny program: two libraries
# for Go, and bare loops of timerfd and posix_spawn in one and in two processes, and one that reads outputs and
# keeps records on disk, as peal does: what the promises cost whoever makes them. The libraries are measured
# twice: as they start programs in the cheapest way, and reading both outputs of each, as peal does. All
# come one after the other in each round of a row. What can't be built is named, with the reason, and left
# out. Fails where peal is behind a library; in processor time only where that reads the outputs, too. Memory,
# which records cost, is only shown.
# usage: bench/peers/run.sh [BUILD_DIR [ROW...]]
#   ROW               each (100 jobs at each second), thousand, five_thousand (at one instant), sustained
#                     (10,000 due a second), jobs (1,000, 10,000 and 100,000 that are not due), list (the first 50 of so
#                     many, over HTTP), gone (killed and started again; of peal also a leader of three nodes); the first four
#                     unless some are named. Each takes one to four minutes
#   BENCH_ROUNDS=3    the figures are medians of so many
#   BENCH_KILLS=4     in each round of gone
#   BENCH_PEERS='gocron robfig'   those of the folders here; all: whatever can be built. Each folder has a build.sh, or a
#                     go.mod. What it makes takes COUNT each|UNIX_S PROGRAM [ARGUMENT]..., and prints "ready", with a
#                     URL of its first 50 jobs if it has an API. A program that dies is a figure, too, with what it said last
# The figures stay in BUILD_DIR/bench/peers; table.sh makes Markdown of them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../figures.sh"
. "$here/../node.sh"
find_programs "${1:-}"
[ $# -eq 0 ] || shift
rounds=${BENCH_ROUNDS:-$rounds}
results=$build/bench/peers
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
data=$work/data
noted=$work/noted # when the tiny jobs ran
peer=             # the process that is measured
seconds=7         # of a round at 100 jobs each second: 21 s in three rounds
kills=${BENCH_KILLS:-4}

end_peer() {
    [ -z "$peer" ] || {
        children=$(pgrep -P "$peer" || true)
        kill "$peer" 2>/dev/null || true
        for _ in $(seq 50); do
            kill -0 "$peer" 2>/dev/null || break
            sleep 0.1
        done
        # shellcheck disable=SC2086 # words
        kill -9 "$peer" $children 2>/dev/null || true
        wait "$peer" 2>/dev/null || true
    }
    peer=
}

trap 'end_peer; stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$results"

# Which are there: peal, the bare loops, and those that can be built.
skipped=0
build_peers() {
    everyone='peal bare1 bare2 bare_kept'
    peers=${BENCH_PEERS:-gocron robfig}
    [ "$peers" != all ] || peers='gocron robfig supercronic cron apscheduler quartz bree dkron cronicle gocron-node'
    for name in $peers; do
        rm -f "$results/$name"
        if build_peer "$name" 2>"$work/why"; then
            everyone="$everyone $name"
            [ ! -e "$here/$name/go.mod" ] || everyone="$everyone ${name}_output"
            continue
        fi
        echo "skipped: $name: $(tail -n 1 "$work/why")"
        skipped=$((skipped + 1))
    done
}

build_peer() { # NAME
    if [ ! -d "$here/$1" ]; then
        ! command -v "$1" >/dev/null || { echo 'it is here, and there is no driver for it' >&2 && return 1; }
        echo "$1 is not on the PATH" >&2
        return 1
    fi
    if [ -x "$here/$1/build.sh" ]; then
        "$here/$1/build.sh" "$results" >"$results/$1.version"
    elif ! command -v go >/dev/null; then
        echo 'go is not installed' >&2
        return 1
    else
        (cd "$here/$1" && timeout 300 go build -o "$results/$1" .) &&
            sed -n '/indirect/d; s|^\tgithub.com/.* v\([0-9].*\)|\1|p' "$here/$1/go.mod" >"$results/$1.version"
    fi
}

# cron knows minutes only.
can() { # NAME ROW
    case $1-$2 in
    cron-each | cron-sustained | cron-gone) return 1 ;;
    bare*-jobs | bare*-list | bare*-gone | bare_kept-sustained) return 1 ;;
    *_output-jobs | *_output-list | *_output-gone) return 1 ;;
    peal3-gone) return 0 ;;
    peal3-*) return 1 ;;
    esac
}

# ---- one measurement each, of COUNT jobs ----

start_peer() { # NAME COUNT each|UNIX_S
    : >"$noted"
    rm -rf "$work/peer"
    mkdir "$work/peer"
    start_again "$@"
}

start_again() { # NAME COUNT each|UNIX_S
    rm -f "$work/ready"
    case $1 in
    *_output) export READ_OUTPUT=1 ;;
    *) unset READ_OUTPUT ;;
    esac
    PEER_WORK=$work/peer "$results/${1%_output}" "$2" "$3" "$tiny" "$noted" >"$work/ready" 2>"$work/said" &
    peer=$!
    for _ in $(seq 1200); do # a minute
        [ ! -s "$work/ready" ] || return 0
        lives || break
        sleep 0.05
    done
    why='not ready in a minute'
    lives || why_dead
    end_peer 2>/dev/null
    return 1
}

lives() {
    [ -r "/proc/$peer/stat" ] && ! grep -q ') Z ' "/proc/$peer/stat"
}

# Sets `why` for a peer that has ended by itself: the signal, or its status and what it said.
why_dead() {
    status=0
    wait "$peer" 2>/dev/null || status=$?
    if [ "$status" -gt 128 ]; then
        why="killed by SIG$(kill -l "$status")"
    else
        said=$(grep -m 1 -iE 'error|fatal|cannot|too many|memory' "$work/said" || tail -n 1 "$work/said")
        said=$(printf '%s' "$said" | tr '\t\n|' '   ' | sed 's|/[^ ]*/||g' | cut -c 1-80)
        why="exit status $status${said:+: $said}"
    fi
}

# It has died: that is what is told in place of these figures.
died() { # FIGURE...
    for key; do
        printf 'died\t%s\t%s\t%s\n' "$key" "$name" "$why" >>"$work/figures"
    done
    echo "$row: $name has no figure: $why" >&2
}

# It has no such thing.
has_none() { # FIGURE...
    for key; do
        printf 'none\t%s\t%s\n' "$key" "$name" >>"$work/figures"
    done
}

start_one() { # NAME COUNT: peal or a library, with so many jobs that are due at each second
    if [ "$1" = peal ]; then
        fresh "$2" '* * * * * *'
        start
    else
        start_peer "$1" "$2" each
    fi
}

# Has it died of its work? peal has not: `start` and `stop` would have said so.
has_died() { # NAME
    [ "$1" != peal ] && ! lives && why_dead
}

end_one() { # NAME
    if [ "$1" = peal ]; then stop; else end_peer; fi
}

processes() { # NAME
    case $1 in
    peal) agent && spawner ;;
    bare*) pgrep -f "^$bench (bare|kept) " ;;
    dkron) echo "$peer" && { pgrep -P "$peer" || true; } ;;
    *) echo "$peer" ;;
    esac
}

memory_mb() { # NAME VmRSS|VmHWM
    for pid in $(processes "$1"); do
        sed -n "s/^$2:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$pid/status"
    done | awk '{ sum += $1 } END { printf "%.1f", sum / 1024 }'
}

noted_runs() {
    "$bench" noted "$noted" 0 1 | cut -d ' ' -f 1
}

# p50 and p99 in ms, processor seconds in a minute, MB resident
each_second() { # NAME
    case $1 in
    bare*)
        bare "${1#bare}" 100 $seconds &
        sleep 5
        mb=$(memory_mb "$1" VmRSS)
        wait $!
        # shellcheck disable=SC2046 # words
        set -- $(cat "$work/bare") "$mb"
        missed=$((100 * seconds - $1))
        set -- "$2" "$3" "$5" "$6"
        ;;
    *)
        start_one "$1" 100 || { died p50_ms p99_ms missed_each cpu_s resident_mb && return 0; }
        sleep 1
        from=$(($(date +%s) + 1))
        # shellcheck disable=SC2046 # words
        ticks=$(ticks_of $(processes "$1"))
        runs=$(noted_runs)
        sleep $((seconds + 1))
        # shellcheck disable=SC2046 # words
        ticks=$(($(ticks_of $(processes "$1") 2>/dev/null) - ticks))
        runs=$(($(noted_runs) - runs))
        ! has_died "$1" || { died p50_ms p99_ms missed_each cpu_s resident_mb && end_one "$1" && return 0; }
        mb=$(memory_mb "$1" VmRSS)
        end_one "$1"
        # shellcheck disable=SC2046 # words
        set -- $("$bench" noted "$noted" $from $seconds)
        missed=$((100 * seconds - $1))
        set -- "$2" "$3" "$(calculate "$ticks * 1000000 / $(getconf CLK_TCK) / $runs")" "$mb"
        ;;
    esac
    figure p50_ms "$1"
    figure p99_ms "$2"
    figure missed_each "$missed"
    figure cpu_s "$(calculate "$3 * 6000 / 1000000")"
    figure resident_mb "$4"
}

# seconds until the last one has started, and how many had not after half a minute
one_instant() { # NAME COUNT
    count=$2
    missed=0
    case $1 in
    peal)
        # shellcheck disable=SC2046 # words
        set -- "$1" "$2" $(burst_of "$2")
        [ "$4" -eq 0 ] || wrong "$1: $4 of $2 lost, doubled or failed"
        set -- "$3"
        ;;
    bare*)
        bare "${1#bare}" "$2" 1
        set -- "$(cut -d ' ' -f 4 "$work/bare")"
        ;;
    *)
        at=$(($(date +%s) + 3))
        [ "$1" != cron ] || at=$(((at + 3 + 59) / 60 * 60))
        start_peer "$1" "$2" $at || { died "last_$count" "missed_$count" && return 0; }
        sleep $((at > $(date +%s) ? at - $(date +%s) : 0))
        for _ in $(seq 60); do
            sleep 0.5
            runs=$(noted_runs)
            [ "$runs" -lt "$2" ] || break
            lives || break
        done
        ! has_died "$1" || { died "last_$count" "missed_$count" && end_peer && return 0; }
        end_peer
        [ "$runs" -eq "$2" ] || wrong "$1: $runs runs of $2"
        missed=$(($2 - runs))
        set -- "$("$bench" noted "$noted" $at 1 | cut -d ' ' -f 4)"
        ;;
    esac
    figure "last_$count" "$1"
    figure "missed_$count" "$missed"
}

# starts in a second; MB resident at most
sustained() { # NAME
    case $1 in
    bare*)
        : >"$noted"
        "$bench" bare "${1#bare}" 10000 6 "$tiny $noted" >"$work/from" &
        sleep 6
        mb=$(memory_mb "$1" VmHWM)
        wait $!
        from=$(($(cut -d ' ' -f 1 "$work/from") + 1))
        ;;
    *)
        start_one "$1" 10000 || { died rate most_mb && return 0; }
        from=$(($(date +%s) + 2))
        sleep 7
        ! has_died "$1" || { died rate most_mb && end_one "$1" && return 0; }
        mb=$(memory_mb "$1" VmHWM)
        end_one "$1"
        ;;
    esac
    figure rate "$("$bench" noted_rate "$noted" $from $((from + 5)))"
    figure most_mb "$mb"
    [ "$1" != peal ] || {
        # shellcheck disable=SC2046 # words
        set -- $("$bench" rate "$data/history.db" $from $((from + 5)))
        [ $(($2 + $3)) -eq 0 ] || wrong "peal: $2 doubled, $3 failed"
    }
}

# MB resident with so many jobs of which none is due, and what they cost for a minute
not_due() { # NAME
    for count in 1000 10000 100000; do
        if [ "$1" = peal ]; then
            fresh $count '@at 2040-01-01T00:00:00Z'
            start
        else
            start_peer "$1" $count "$(date -d 2040-01-01 +%s)" || { died "mb_$count" "idle_$count" && continue; }
        fi
        sleep 3
        # shellcheck disable=SC2046 # words
        ticks=$(ticks_of $(processes "$1"))
        sleep 5
        ! has_died "$1" || { died "mb_$count" "idle_$count" && end_one "$1" && continue; }
        # shellcheck disable=SC2046 # words
        ticks=$(($(ticks_of $(processes "$1")) - ticks))
        figure "mb_$count" "$(memory_mb "$1" VmRSS)"
        figure "idle_$count" "$(calculate "$ticks * 12 / $(getconf CLK_TCK)")"
        end_one "$1"
    done
}

# How long the first 50 of so many jobs take over HTTP, in ms: the middle one of 200 requests, one after the other on
# one connection.
list_of() { # NAME
    for count in 1000 10000 100000; do
        if [ "$1" = peal ]; then
            fresh $count '@at 2040-01-01T00:00:00Z'
            start
            url='http://peal/api/v1/jobs?limit=50'
        else
            start_peer "$1" $count "$(date -d 2040-01-01 +%s)" || { died "list_$count" && continue; }
            url=$(sed -n 's/^ready //p' "$work/ready")
            [ -n "$url" ] || { has_none list_1000 list_10000 list_100000 && end_one "$1" && return 0; }
        fi
        for _ in $(seq 200); do
            printf 'url = "%s"\noutput = /dev/null\n' "$url"
        done >"$work/requests"
        set -- "$1"
        [ "$1" != peal ] || set -- "$1" --unix-socket "$data/api.sock"
        one=$1
        shift
        if curl -fsS -K "$work/requests" -w '%{time_total}\n' "$@" >"$work/times" 2>"$work/said"; then
            figure "list_$count" "$(sort -g "$work/times" | awk '{ time[NR] = $1 } END { print 1000 * time[int((NR + 1) / 2)] }')"
        else
            why=$(tail -n 1 "$work/said") && died "list_$count"
        fi
        set -- "$one"
        end_one "$1"
    done
}

# ---- killed and started again ----

# Whole seconds in which it should have started its one job: those without a start, and those with several. peal's
# ticks are in its history, since it starts the last one that it has missed as soon as it is back.
count_ticks() { # NAME FROM_S TO_S
    if [ "$1" = peal ]; then
        # shellcheck disable=SC2046 # words
        set -- "$2" "$3" $("$bench" starts "$data/history.db" "$2" "$3")
        echo "$(($2 - $1 + 1 - ($3 - $4))) $4"
    else
        od -An -v -t d8 -w8 "$noted" | awk -v from="$2" -v to="$3" '
            { count[int($1 / 1e9)]++ }
            END {
                for (second = from; second <= to; second++) {
                    missed += !count[second]
                    doubled += count[second] > 1 ? count[second] - 1 : 0
                }
                print missed + 0, doubled + 0
            }'
    fi
}

first_start_after() { # UNIX_S with a fraction; nothing: there is none yet
    od -An -v -t d8 -w8 "$noted" | awk -v at="$1" '$1 / 1e9 > at { printf "%.3f", $1 / 1e9 - at; exit }'
}

# kill -9 of its process (peal: of the agent) at several parts of a second, and a start at once.
gone() { # NAME
    case $1 in
    peal3) gone_leader && return 0 ;;
    peal) kill_one() { kill -9 "$(agent)"; } && again() { start; } ;;
    *)
        # shellcheck disable=SC2046 # words
        kill_one() { kill -9 "$peer" $(pgrep -P "$peer") 2>/dev/null && wait "$peer" 2>/dev/null; }
        again() { start_again "$name" 1 each; }
        ;;
    esac
    start_one "$1" 1 || { died gap_s gone_missed gone_doubled && return 0; }
    sleep 2
    from=$(($(date +%s) + 1))
    for i in $(seq "$kills"); do
        sleep "2.$((i * 37 % 100 + 10))"
        at=$(date +%s.%N)
        kill_one || true
        again || { died gap_s gone_missed gone_doubled && return 0; }
        for _ in $(seq 300); do
            gap=$(first_start_after "$at")
            [ -z "$gap" ] || break
            sleep 0.1
        done
        figure gap_s "${gap:-30}"
    done
    sleep 3
    to=$(($(date +%s) - 2))
    [ "$1" != peal ] || sleep 3 # until the history has them
    # shellcheck disable=SC2046 # words
    set -- "$1" $(count_ticks "$1" $from $to)
    figure gone_missed "$2"
    figure gone_doubled "$3"
    end_one "$1"
}

# The leader of three nodes on an etcd, with all that it has: when the jobs that were its own start the next time.
gone_leader() {
    cluster=$work/cluster
    rm -rf "$cluster"
    mkdir "$cluster"
    for i in $(seq "$kills"); do
        echo ".$((i * 37 % 100 + 10)) leader"
    done >"$cluster.kills"
    "$here/../failover/cluster.sh" "$build/bench/cluster_bench" "$peal" "$cluster" <"$cluster.kills" >"$cluster.waits" 2>"$work/said" &
    peer=$!
    for _ in $(seq 600); do
        [ ! -e "$cluster/ready" ] || break
        lives || break
        sleep 0.1
    done
    : >"$cluster/go"
    wait "$peer" || { why=$(tail -n 1 "$work/said") && peer= && died gap_s gone_missed gone_doubled && return 0; }
    peer=
    while read -r _ state _ times gap; do
        [ "$state" = skipped ] || [ "$gap" = - ] || figure gap_s "$gap"
        echo "$state $times"
    done <"$cluster.waits" >"$cluster.states"
    figure gone_missed "$(grep -c '^skipped' "$cluster.states" || true)"
    figure gone_doubled "$(grep -c 'doubled$' "$cluster.states" || true)"
}

# ---- rows ----

wrong() { # WORDS
    echo "WRONG: $row: $*"
    failed=1
}

figure() { # FIGURE VALUE
    printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$name" "$2" "$load" "$busy" >>"$work/figures"
}

load_average() {
    cut -d ' ' -f 1 /proc/loadavg
}

# How many cores are in use right now; the load average still has what ended a minute ago.
busy_cores() {
    { head -n 1 /proc/stat && sleep 0.5 && head -n 1 /proc/stat; } | awk -v cores="$(nproc)" '{
            all = 0
            for (i = 2; i <= 9; i++)
                all += $i
            idle = $5 + $6
            share = all > before ? 1 - (idle - idle_before) / (all - before) : 0
            before = all
            idle_before = idle
        }
        END { printf "%.2f", cores * share }'
}

# Until what ran before has ended, five seconds at most.
settle() {
    for _ in $(seq 10); do
        busy=$(busy_cores)
        ! holds "$busy < 0.1" || break
    done
}

# Who measured what, and where.
about() {
    printf 'about\tdate\t%s\n' "$(date -u +%Y-%m-%d)"
    printf 'about\tload\t%s\n' "$(load_average)"
    printf 'about\tkernel\t%s\n' "$(uname -r)"
    printf 'about\tcores\t%s\n' "$(nproc)"
    printf 'about\trounds\t%s\n' "$rounds"
    printf 'about\tpeal\t%s\n' "$(git -C "$here" describe --always --dirty 2>/dev/null || "$peal" --version)"
    printf 'about\tgo\t%s\n' "$(go env GOVERSION 2>/dev/null)"
    for name in $everyone; do
        [ ! -s "$results/$name.version" ] || printf 'about\tversion of %s\t%s\n' "$name" "$(cat "$results/$name.version")"
    done
}

measure() { # ROW
    row=$1
    about >"$work/figures"
    for round in $(seq "$rounds"); do
        for name in ${everyone%% *} peal3 ${everyone#* }; do
            can "$name" "$row" || continue
            load=$(load_average)
            settle
            case $row in
            each) each_second "$name" ;;
            thousand) one_instant "$name" 1000 ;;
            five_thousand) one_instant "$name" 5000 ;;
            sustained) sustained "$name" ;;
            jobs) not_due "$name" ;;
            list) list_of "$name" ;;
            gone) gone "$name" ;;
            esac
        done
        echo "$row: round $round of $rounds" >&2
    done
    mv "$work/figures" "$results/$row.tsv"
    awk -v form=text -f "$here/table.awk" "$results/$row.tsv" || failed=1
}

[ $# -gt 0 ] || set -- each thousand five_thousand sustained
for row; do
    case $row in
    each | thousand | five_thousand | sustained | jobs | list | gone) ;;
    *)
        echo "bench/peers: no such row: $row" >&2
        exit 2
        ;;
    esac
done
build_peers
for row; do
    measure "$row"
done
echo "$skipped peers skipped"
exit "$failed"
