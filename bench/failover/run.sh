#!/bin/bash
# One of three nodes dies (kill -9 of all its processes at once) at each phase of a second, on an etcd of one member whose writes reach
# the disk: how long ticks that are due after that wait for their start, and what became of them. dkron's gap is shown
# beside it where there is a dkron.
# usage: bench/failover/run.sh [BUILD_DIR]
#   BENCH_KILLS=3                       at each of twelve phases; each takes some 9 s, all together six minutes.
#                                       20 is the full measurement: 40 minutes
#   BENCH_PHASES='.05 .15 ... .95'
#   PEAL_DKRON=FILE                     a dkron to measure; else the one on the PATH, if there is one
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
bench=$build/bench/cluster_bench
peal=$build/bin/peal
[ -x "$peal" ] || peal=$here/../../build/bin/peal
kills=${BENCH_KILLS:-3}
phases=${BENCH_PHASES:-.05 .15 .25 .35 .45 .55 .65 .75 .85 .90 .95 .98}
jobs=12
. "$here/../figures.sh"
. "$here/../etcd.sh"
PEAL_DEFAULT_USER=$(id -un) # root, too, measures its own jobs
export PEAL_DEFAULT_USER

for program in "$bench" "$peal"; do
    if ! [ -x "$program" ]; then
        echo "bench/failover: $program is wanted; build it first" >&2
        exit 1
    fi
done
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
trace=$work/trace

processes() { # NODE: of its agent, its spawner, and the guard above that, which would start another one
    local pid
    cat "$work/node-$1/peal.pid"
    for pid in $(pgrep -f "^[^ ]*peal-spawn .*$work/node-$1/spawn"); do
        echo "$pid"
        pid=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
        [ "$(cat "/proc/$pid/comm")" != peal-guard ] || echo "$pid"
    done
}

# shellcheck disable=SC2317 # by the trap
end_all() {
    for folder in "$work"/node-*; do
        [ -d "$folder" ] || continue
        # shellcheck disable=SC2046 # words
        kill -9 $(processes "${folder##*/node-}") 2>/dev/null || true
    done
    exec 3>&-
    wait
    rm -rf "$work"
}
trap end_all EXIT
trap 'exit 1' INT TERM

start_etcd "$bench"
need_etcd

start() { # NODE
    "$peal" start -d --data "$work/node-$1" --store "etcd://$etcd/bench" --node-id "$1" \
        --capacity 1 --listen none 3>&- 2>"$work/start.log" || {
        cat "$work/start.log" >&2
        exit 1
    }
}

# Each job starts every second, and never beside itself. A start is a line: job, tick, unix time, node.
for i in $(seq $jobs); do
    cat <<END
---
name: job-$i
schedule: '* * * * * *'
timezone: UTC
overlap: skip
command: [/bin/bash, -c, 'echo "\$PEAL_JOB \$PEAL_TICK \$EPOCHREALTIME \$PEAL_NODE" >>$trace']
END
done >"$work/jobs.yaml"

# Waits until that part of a second has gone, and sets `at` to the unix time.
until_phase() { # PHASE
    local now=$EPOCHREALTIME wait
    wait=$(awk -v now="$now" -v phase="$1" 'BEGIN {
        left = phase - (now - int(now)); print (left < 0.02 ? left + 1 : left) - 0.004 }')
    sleep "$wait"
    at=$EPOCHREALTIME
}

has_run() { # NODE SINCE: it has started something since then
    awk -v node="$1" -v since="$2" '$4 == node && $3 > since { found = 1 } END { exit !found }' "$trace"
}

# Of the jobs that the dead node had started last: a line for each tick that was due since, up to three
# seconds later: PHASE STATE WAIT. What waits for its start is the job: a tick that has none, because its
# run was begun by the node that died, waits for the next one's. STATE: claimed (or due), begun, skipped.
waits() { # PHASE NODE AT
    awk -v phase="$1" -v dead="$2" -v at="$3" '
        {
            split($2, part, /[-:TZ]/)
            tick = mktime(part[1] " " part[2] " " part[3] " " part[4] " " part[5] " " part[6])
            count[$1, tick]++
            if (!(($1, tick) in start)) start[$1, tick] = $3
            if ($3 < at) owner[$1] = $4
        }
        END {
            for (job in owner) {
                if (owner[job] != dead) continue
                first = int(at) + 1
                for (tick = first; tick < first + 3; tick++) {
                    for (next_one = tick; next_one < tick + 9 && !((job, next_one) in start);) next_one++
                    wait = next_one < tick + 9 ? start[job, next_one] - tick : 9
                    state = (job, tick) in start ? "claimed" : tick == first ? "begun" : "skipped"
                    print phase, state, wait, (count[job, tick] > 1 ? "doubled" : "once")
                }
            }
        }' "$trace"
}

export TZ=UTC
for node in a b c; do
    start $node
done
"$peal" apply --data "$work/node-a" -f "$work/jobs.yaml" >"$work/apply.log"
sleep 5
for phase in $phases; do
    for i in $(seq "$kills"); do
        nodes=(a b c)
        node=${nodes[$((i % 3))]}
        : >"$trace"
        sleep 1.5
        mapfile -t pids < <(processes "$node")
        until_phase "$phase"
        kill -9 "${pids[@]}"
        sleep 4
        for _ in $(seq 50); do # until each of these ticks, or a later one, has started
            waits "$phase" "$node" "$at" >"$work/last"
            grep -q ' 9 ' "$work/last" || break
            sleep 0.1
        done
        cat "$work/last"
        start "$node"
        since=$EPOCHREALTIME
        for _ in $(seq 100); do
            ! has_run "$node" "$since" || break
            sleep 0.1
        done
    done
done >"$work/waits"

heading 'killed at' 'ticks' 'what became of them' '' 'wait p50, most'
for phase in $phases all; do
    for state in claimed begun; do
        # shellcheck disable=SC2046 # words
        set -- $(awk -v phase="$phase" -v state="$state" '
            (phase == "all" || $1 == phase) && ($2 == "claimed") == (state == "claimed") {
                print $3, $2 == "skipped", $4 == "doubled" }' "$work/waits" | sort -g | awk '
            { wait[NR] = $1; skipped += $2; doubled += $3 }
            END { if (NR) print NR, wait[int((NR + 1) / 2)], wait[NR], skipped, doubled }')
        [ $# -gt 0 ] || continue
        budget=1
        [ $state = claimed ] || budget=2
        line "$phase, its run was ${state/claimed/not begun}" "$1" "$4 skipped, $5 twice" '' \
            "$(calculate "$2") $(calculate "$3") s, of $budget s" \
            "$3 <= $budget && $5 == 0"
    done
done
echo "$kills kills at each of $(wc -w <<<"$phases") phases"

if dkron=$(command -v "${PEAL_DKRON:-dkron}"); then
    "$here/dkron.sh" "$dkron" 6
else
    echo "dkron: skipped: no PEAL_DKRON, and none on the PATH"
fi
exit "$failed"
