#!/bin/bash
# The same machine's fail-over gap of dkron (v4): three servers, jobs that are due every second; the leader, which
# schedules all of them, dies. A gap is the time from the kill to the next start of any job.
# usage: bench/failover/dkron.sh DKRON KILLS
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dkron=$1
kills=$2
jobs=12
network=127.0.78 # a server each on .1, .2, .3, with dkron's own ports
. "$here/../figures.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
trace=$work/trace
declare -A servers
exec 4>&1

end_all() {
    for pid in "${servers[@]}"; do
        kill -9 -- "-$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap end_all EXIT
trap 'exit 1' INT TERM

skip() { # WHY
    echo "dkron: skipped: $*" >&4
    exit 0
}

start() { # NUMBER
    setsid "$dkron" agent --server --bootstrap-expect=3 --node-name="dkron-$1" --data-dir="$work/$1" \
        --bind-addr="$network.$1:8946" --advertise-addr="$network.$1:8946" --http-addr="$network.$1:8080" --log-level=error \
        --retry-join="$network.1:8946" --retry-join="$network.2:8946" --retry-join="$network.3:8946" \
        >>"$work/log" 2>&1 4>&- &
    servers[$1]=$!
}

leader() { # its number, asked of every server
    for server in 1 2 3; do
        curl -fsS --max-time 1 "http://$network.$server:8080/v1/leader" 2>/dev/null |
            sed -n 's/.*"Name": *"dkron-\([0-9]\)".*/\1/p' | grep . && return
    done
    return 1
}

wait_for() { # SECONDS COMMAND...
    local until=$((SECONDS + $1))
    shift
    until "$@" >/dev/null; do
        ((SECONDS < until)) || return 1
        sleep 0.2
    done
}

first_start() { # SINCE
    awk -v since="$1" '$1 > since { print $1; found = 1; exit } END { exit !found }' "$trace"
}

: >"$trace"
for server in 1 2 3; do
    start $server
    sleep 6 # servers of the same second may never elect a leader
done
wait_for 60 leader || skip "no leader after a minute: $(tail -n 1 "$work/log")"
for i in $(seq "$jobs"); do
    # shellcheck disable=SC2016 # for the job's shell
    printf '{"name":"job-%d","schedule":"* * * * * *","executor":"shell","executor_config":{"shell":"true","command":"%s"}}' \
        "$i" "/bin/bash -c 'echo \$EPOCHREALTIME >>$trace'" |
        curl -fsS -o /dev/null -d @- -H 'Content-Type: application/json' \
            "http://$network.$(leader):8080/v1/jobs" || skip "it has not taken a job"
done
wait_for 30 first_start 0 || skip 'its jobs do not start'
for i in $(seq "$kills"); do
    sleep "10.$((i * 83 % 100))" # has settled; at another phase each time
    number=$(leader)
    at=$EPOCHREALTIME
    kill -9 -- "-${servers[$number]}"
    wait "${servers[$number]}" 2>/dev/null || true
    wait_for 60 first_start "$at" || skip 'no start a minute after a kill'
    calculate "$(first_start "$at") - $at"
    echo
    start "$number"
done >"$work/gaps"
rounds=$kills
line 'dkron, its leader killed' "$kills kills" '' '' \
    "$(median <"$work/gaps") $(sort -g "$work/gaps" | tail -n 1) s" ''
