#!/bin/sh
# The library beside three others, on the same work: functions that only note when they were called. peal keeps the claim (on
# the disk before the call), a record and the output of each call; "peal, local" are its functions of one process alone, of which,
# as of the others', nothing is kept. All are measured one after the other in each round of a row. What is not there is named,
# with the reason, and counted as skipped. Fails where peal is behind robfig/cron or APScheduler in a figure that has a budget.
# usage: bench/lib/run.sh [BUILD_DIR [ROW...]]
#   ROW               each (100 functions at each second), thousand (1,000 at one instant), rate (as many as can be kept up
#                     with), many (100,000 functions in one process), small (size, memory, opening); all unless some are named
#   BENCH_ROUNDS=3    the figures are medians of so many; rate takes one, of several steps
# The figures stay in BUILD_DIR/bench/lib_figures; table.sh makes Markdown of them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../figures.sh"
build=$(cd "${1:-$here/../../build/release}" && pwd)
[ $# -eq 0 ] || shift
rounds=${BENCH_ROUNDS:-$rounds}
bench=$build/bench/lib_bench
smallest=$build/bench/lib_smallest
library=$build/src/lib/libpeal.so
results=$build/bench/lib_figures
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
noted=$work/noted
contender= # the process that is measured
skipped=0
for program in "$bench" "$smallest" "$library"; do
    [ -e "$program" ] || {
        echo "bench/lib: $program is wanted; build it first" >&2
        exit 1
    }
done

end_contender() {
    [ -z "$contender" ] || {
        kill "$contender" 2>/dev/null || true
        wait "$contender" || true
    }
    contender=
}

trap 'end_contender; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$results"

# ---- who is there ----

skip() { # NAME WHY
    echo "skipped: $1: $2"
    skipped=$((skipped + 1))
}

find_go() {
    for name in robfig gocron; do
        if ! command -v go >/dev/null; then
            skip $name 'go is not installed'
        elif (cd "$here/$name" && timeout 300 go build -o "$results/$name" .) 2>"$work/log"; then
            everyone="$everyone $name"
        else
            skip $name "$(tail -n 1 "$work/log")"
        fi
    done
}

# Into a folder of its own, which is kept.
find_python() {
    python=$results/venv/bin/python
    if ! command -v python3 >/dev/null; then
        skip apscheduler 'python3 is not installed'
    elif "$python" -c 'import apscheduler' 2>/dev/null ||
        { python3 -m venv "$results/venv" &&
            timeout 120 "$python" -m pip install -q -r "$here/apscheduler/requirements.txt"; } >"$work/log" 2>&1; then
        everyone="$everyone apscheduler"
    else
        skip apscheduler "$(tail -n 1 "$work/log")"
    fi
}

# ---- one contender ----

start() { # NAME COUNT each|spread|UNIX_S
    : >"$noted"
    : >"$work/ready"
    rm -rf "$work/data"
    case $1 in
    peal | local | bare) PEAL_DATA=$work/data "$bench" "$1" "$2" "$3" "$noted" >"$work/ready" & ;;
    apscheduler) "$python" "$here/apscheduler/main.py" "$2" "$3" "$noted" >"$work/ready" & ;;
    *) "$results/$1" "$2" "$3" "$noted" >"$work/ready" & ;;
    esac
    contender=$!
    until [ -s "$work/ready" ]; do
        kill -0 "$contender" # it has said why
        sleep 0.05
    done
}

# Waits until the calls of SECONDS are made, from the next whole second after WARM seconds on: `from`.
measure_for() { # WARM SECONDS
    sleep "$1"
    from=$(($(date +%s) + 1))
    sleep $(($2 + 1))
}

each_second() { # NAME
    start "$1" 100 each
    measure_for 1 7
    mb=$(calculate "$(resident_kb "$contender") / 1024")
    end_contender
    # shellcheck disable=SC2046 # words
    set -- $("$bench" figures "$noted" "$from" 7)
    [ "$1" -eq 700 ] || wrong "$name: $1 calls of 700"
    [ "$5" -eq 0 ] || wrong "$name: $5 calls before their time"
    figure p50_ms "$2"
    figure p99_ms "$3"
    figure resident_mb "$mb"
}

# The first such instant of a process, and then a row of them: 1,000 at each second.
one_instant() { # NAME
    at=$(($(date +%s) + 3))
    start "$1" 1000 $at
    sleep $((at + 1 - $(date +%s)))
    end_contender
    # shellcheck disable=SC2046 # words
    set -- "$1" $("$bench" figures "$noted" $at 1 $at)
    [ "$2" -eq 1000 ] || wrong "$name: $2 calls of 1000"
    figure first_ms "$5"
    start "$1" 1000 each
    measure_for 2 2
    end_contender
    # shellcheck disable=SC2046 # words
    set -- $("$bench" figures "$noted" "$from" 2)
    [ "$1" -eq 2000 ] || wrong "$name: $1 calls of 2000"
    figure thousand_p50_ms "$2"
    figure thousand_p99_ms "$3"
    figure last_ms "$4"
}

# With so many functions at each second: are all calls of three seconds made within them? -> made
keeps_up() { # NAME COUNT
    start "$1" "$2" each
    measure_for 2 3
    end_contender
    made=$("$bench" count "$noted" "$from" 3)
    holds "$made >= 0.995 * 3 * $2"
}

# The largest step that is kept up with, or what is made of the next one if that is more.
rate() { # NAME
    best=0
    for count in 500 1000 2000 5000 10000 20000 50000 100000 200000 400000 800000 1200000 1600000 2000000; do
        case $1 in # steps that it surely takes only cost time
        bare) [ $count -ge 2000000 ] || continue ;;
        local) [ $count -ge 400000 ] || continue ;;
        robfig) [ $count -ge 200000 ] || continue ;;
        gocron) [ $count -ge 10000 ] || continue ;;
        peal) [ $count -ge 5000 ] || continue ;;
        *) [ $count -ge 1000 ] || continue ;;
        esac
        is_kept=
        ! keeps_up "$1" $count || is_kept=1
        holds "$made / 3 <= $best" || best=$(calculate "$made / 3" 0)
        [ "$is_kept" ] || break
    done
    figure calls_s "$best"
}

# ---- rows ----

wrong() { # WORDS
    echo "WRONG: $row: $*"
    failed=1
}

figure() { # FIGURE VALUE
    printf '%s\t%s\t%s\n' "$1" "$name" "$2" >>"$work/figures"
}

about() {
    printf 'about\tdate\t%s\n' "$(date -u +%Y-%m-%d)"
    printf 'about\tload\t%s\n' "$(cut -d ' ' -f 1 /proc/loadavg)"
    printf 'about\tkernel\t%s\n' "$(uname -r)"
    printf 'about\tcores\t%s\n' "$(nproc)"
    printf 'about\trounds\t%s\n' "$rounds"
    sed -n '/indirect/d; s|^\t\(github.com/.*\) v\([0-9].*\)|about\t\1\t\2|p' "$here"/*/go.mod
    sed -n 's|^\(.*\)==\(.*\)|about\t\1\t\2|p' "$here/apscheduler/requirements.txt"
}

jobs_in_store() {
    sqlite3 -readonly "$work/data/programs/store/peal.db" 'select count(*) from jobs' 2>/dev/null || echo 0
}

# 100,000 functions: those of a minute spread over it, 1,667 at each second.
many() {
    name=peal
    before=$(now_ms)
    start peal 100000 spread
    figure add_ms "$(cut -d ' ' -f 3 "$work/ready")"
    if command -v sqlite3 >/dev/null; then
        until [ "$(jobs_in_store)" -ge 100000 ]; do
            kill -0 "$contender"
            sleep 0.2
        done
        figure stored_ms $(($(now_ms) - before))
    else
        sleep 60
    fi
    measure_for 5 10
    figure many_mb "$(calculate "$(resident_kb "$contender") / 1024")"
    end_contender
    # shellcheck disable=SC2046 # words
    set -- $("$bench" figures "$noted" "$from" 10)
    figure many_calls "$1"
    figure many_p50_ms "$2"
    figure many_p99_ms "$3"
}

small() {
    name=peal
    cp "$library" "$work/libpeal.so"
    strip "$work/libpeal.so"
    figure size_kb "$(calculate "$(stat -L -c %s "$work/libpeal.so") / 1024" 0)"
    for _ in $(seq "$rounds"); do
        start peal 1 each
        figure open_ms "$(cut -d ' ' -f 2 "$work/ready")"
        end_contender
    done
    rm -rf "$work/data"
    PEAL_DATA=$work/data "$smallest" &
    contender=$!
    sleep 3
    figure small_mb "$(calculate "$(resident_kb "$contender") / 1024")"
    end_contender
}

measure() { # ROW
    row=$1
    [ "$row" != rate ] || rounds=1
    about >"$work/figures"
    case $row in
    many) many ;;
    small) small ;;
    *)
        for round in $(seq "$rounds"); do
            for name in $everyone; do
                case $row in
                each) each_second "$name" ;;
                thousand) one_instant "$name" ;;
                rate) rate "$name" ;;
                esac
            done
            echo "$row: round $round of $rounds" >&2
        done
        ;;
    esac
    mv "$work/figures" "$results/$row.tsv"
    awk -v form=text -f "$here/table.awk" "$results/$row.tsv" || failed=1
}

[ $# -gt 0 ] || set -- each thousand rate many small
for row; do
    case $row in
    each | thousand | rate | many | small) ;;
    *)
        echo "bench/lib: no such row: $row" >&2
        exit 2
        ;;
    esac
done
everyone='peal local bare'
find_go
find_python
for row; do
    measure "$row"
done
echo "$skipped contenders skipped"
exit "$failed"
