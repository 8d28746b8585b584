#!/bin/bash
# One cluster of bench/failover: an etcd of one member whose writes reach the disk, three agents, and jobs that are due
# every second. Its input is a list of kills, "PHASE NODE" in a line each (NODE "leader": whoever that is), which it makes one after the other; for
# each it prints what became of the ticks since. run.sh has several of these run side by side.
# usage: bench/failover/cluster.sh CLUSTER_BENCH PEAL FOLDER <KILLS >WAITS
#   FOLDER   an empty one. The file `ready` in it says that all is up; kills begin when there is one called `go`
set -eu

here=$(cd "$(dirname "$0")" && pwd)
bench=$1
peal=$2
work=$3
trace=$work/trace
jobs=12
. "$here/../etcd.sh"

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
}
trap end_all EXIT
trap 'exit 1' INT TERM

start_etcd "$bench"
[ "$etcd" != none ]

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
# seconds later: PHASE STATE WAIT TIMES GAP. What waits for its start is the job: a tick that has none, because its
# run was begun by the node that died, waits for the next one's. STATE: claimed (or due), begun, skipped. GAP: of the first of these
# ticks, from the death to that start; else "-".
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
                    gap = tick == first && wait < 9 ? sprintf("%.3f", tick + wait - at) : "-"
                    print phase, state, wait, (count[job, tick] > 1 ? "doubled" : "once"), gap
                }
            }
        }' "$trace"
}

one_kill() { # PHASE NODE
    local pids
    : >"$trace"
    sleep 1.5
    mapfile -t pids < <(processes "$2")
    until_phase "$1"
    kill -9 "${pids[@]}"
    sleep 4
    for _ in $(seq 50); do # until each of these ticks, or a later one, has started
        waits "$1" "$2" "$at" >"$work/last"
        grep -q ' 9 ' "$work/last" || break
        sleep 0.1
    done
    cat "$work/last"
    start "$2"
    since=$EPOCHREALTIME
    for _ in $(seq 100); do
        ! has_run "$2" "$since" || break
        sleep 0.1
    done
}

export TZ=UTC
for node in a b c; do
    start $node
done
"$peal" apply --data "$work/node-a" -f "$work/jobs.yaml" >"$work/apply.log"
sleep 5
: >"$work/ready"
until [ -e "$work/go" ]; do
    sleep 0.1
done
leader() {
    "$peal" nodes --data "$work/node-a" -o json 3>&- | jq -r '.[] | select(.leader) | .node'
}

while read -r phase node; do
    [ "$node" != leader ] || node=$(leader)
    one_kill "$phase" "$node" </dev/null
done
