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
#                     (10,000 due a second), jobs (1,000, 10,000 and 100,000 that are not due); all but the last unless
#                     some are named. Each takes one to four minutes
#   BENCH_ROUNDS=3    the figures are medians of so many
#   BENCH_PEERS='gocron robfig'   those of the folders here; all: whatever can be built. Each folder has a build.sh, or a
#                     go.mod. What it makes takes COUNT each|UNIX_S PROGRAM [ARGUMENT]..., and prints "ready"
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

end_peer() {
    [ -z "$peer" ] || {
        kill "$peer" 2>/dev/null || true
        for _ in $(seq 50); do
            kill -0 "$peer" 2>/dev/null || break
            sleep 0.1
        done
        kill -9 "$peer" 2>/dev/null || true
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
    [ "$peers" != all ] || peers='gocron robfig supercronic cron apscheduler quartz bree'
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
    cron-each | cron-sustained) return 1 ;;
    bare*-jobs | bare_kept-sustained | *_output-jobs) return 1 ;;
    esac
}

# ---- one measurement each, of COUNT jobs ----

start_peer() { # NAME COUNT each|UNIX_S
    : >"$noted"
    rm -f "$work/ready"
    case $1 in
    *_output) export READ_OUTPUT=1 ;;
    *) unset READ_OUTPUT ;;
    esac
    "$results/${1%_output}" "$2" "$3" "$tiny" "$noted" >"$work/ready" &
    peer=$!
    for _ in $(seq 1200); do # a minute
        [ ! -s "$work/ready" ] || return 0
        kill -0 "$peer" 2>/dev/null || break
        sleep 0.05
    done
    end_peer 2>/dev/null
    echo "$1: not ready with $2 jobs"
    return 1
}

start_one() { # NAME COUNT: peal or a library, with so many jobs that are due at each second
    if [ "$1" = peal ]; then
        fresh "$2" '* * * * * *'
        start
    else
        start_peer "$1" "$2" each
    fi
}

end_one() { # NAME
    if [ "$1" = peal ]; then stop; else end_peer; fi
}

processes() { # NAME
    case $1 in
    peal) agent && spawner ;;
    bare*) pgrep -f "^$bench (bare|kept) " ;;
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
        start_one "$1" 100 || return 0
        sleep 1
        from=$(($(date +%s) + 1))
        # shellcheck disable=SC2046 # words
        ticks=$(ticks_of $(processes "$1"))
        runs=$(noted_runs)
        sleep $((seconds + 1))
        # shellcheck disable=SC2046 # words
        ticks=$(($(ticks_of $(processes "$1")) - ticks))
        runs=$(($(noted_runs) - runs))
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
        start_peer "$1" "$2" $at || return 0
        sleep $((at > $(date +%s) ? at - $(date +%s) : 0))
        for _ in $(seq 60); do
            sleep 0.5
            runs=$(noted_runs)
            [ "$runs" -lt "$2" ] || break
        done
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
        start_one "$1" 10000 || return 0
        from=$(($(date +%s) + 2))
        sleep 7
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
            start_peer "$1" $count "$(date -d 2040-01-01 +%s)" 2>"$work/why" || return 0 # nor with more
        fi
        sleep 3
        # shellcheck disable=SC2046 # words
        ticks=$(ticks_of $(processes "$1"))
        sleep 5
        # shellcheck disable=SC2046 # words
        ticks=$(($(ticks_of $(processes "$1")) - ticks))
        figure "mb_$count" "$(memory_mb "$1" VmRSS)"
        figure "idle_$count" "$(calculate "$ticks * 12 / $(getconf CLK_TCK)")"
        end_one "$1"
    done
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
        for name in $everyone; do
            can "$name" "$row" || continue
            load=$(load_average)
            settle
            case $row in
            each) each_second "$name" ;;
            thousand) one_instant "$name" 1000 ;;
            five_thousand) one_instant "$name" 5000 ;;
            sustained) sustained "$name" ;;
            jobs) not_due "$name" ;;
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
    each | thousand | five_thousand | sustained | jobs) ;;
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
