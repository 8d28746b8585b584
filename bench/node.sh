# Sourced by benchmarks that are scripts: one node with jobs, and a bare starter beside it. The script
# has set $bench (agent_bench), $tiny, $peal, $work, $data (a folder), and $noted (a file).
# shellcheck shell=sh disable=SC2154

# Where the build has put them, which is the first argument or the release's.
find_programs() { # [BUILD_DIR]
    build=$(cd "${1:-$here/../../build/release}" && pwd)
    bench=$build/bench/agent_bench
    tiny=$build/bench/tiny_job
    peal=$build/bin/peal
    [ -x "$peal" ] || peal=$here/../../build/bin/peal
    for program in "$bench" "$tiny" "$peal"; do
        [ -x "$program" ] || {
            echo "$(basename "$here"): $program is wanted; build it first" >&2
            exit 1
        }
    done
    PEAL_DEFAULT_USER=$(id -un) # root, too, measures its own jobs
    export PEAL_DEFAULT_USER
}

# Where no cpu cgroup holds this shell, Linux makes a scheduling group of each session: a starter
# of sessions takes processor time from one without, and loses more with each session that lives on.
# A service is in a cgroup, and so is here all that is compared, where that may be done. With a large
# share, so that others disturb it less.
enter_cpu_group() {
    ! grep -qE '^[0-9]+:([a-z_,]*,)?cpu(,[a-z_,]*)?:/$' /proc/self/cgroup || {
        cpu_groups=/sys/fs/cgroup/cpu
        mkdir "$cpu_groups/peal-bench-$$" 2>/dev/null || cpu_groups=
        [ -z "$cpu_groups" ] || {
            echo 200000 >"$cpu_groups/peal-bench-$$/cpu.shares"
            echo $$ >"$cpu_groups/peal-bench-$$/cgroup.procs"
        }
    }
}

leave_cpu_group() {
    [ -z "${cpu_groups:-}" ] || {
        echo $$ >"$cpu_groups/cgroup.procs"
        for _ in $(seq 50); do # the last runs may be ending still
            ! rmdir "$cpu_groups/peal-bench-$$" 2>/dev/null || break
            sleep 0.1
        done
    }
    cpu_groups=
}

# The oldest: processes that are held before their exec look the same.
spawner() {
    pgrep -o -f "^[^ ]*peal-spawn .*$data/spawn" || true
}

agent() {
    cat "$data/peal.pid"
}

start() {
    "$peal" start -d --data "$data" 2>"$work/start.log" || {
        cat "$work/start.log" >&2
        exit 1
    }
}

stop() {
    "$peal" stop --data "$data" 2>/dev/null || true
    for pid in $(spawner); do
        kill "$pid" 2>/dev/null || true
    done
}

fresh() { # COUNT SCHEDULE [COMMAND]
    rm -rf "$data"
    : >"$noted"
    "$bench" jobs "$data" bench "$1" "$2" 0 "${3:-$tiny $noted}"
}

# Of the agent, the spawner and all that it has started, in clock ticks.
spent_ticks() {
    # shellcheck disable=SC2046 # words
    ticks_of $(agent) $(spawner)
}

ticks_of() { # PID...
    for pid; do
        awk '{ print $14 + $15 + $16 + $17 }' "/proc/$pid/stat"
    done | awk '{ sum += $1 } END { print sum }'
}

# A bare starter of so many processes, or one that keeps records and outputs; leaves its words in
# `$work/bare`: how many ran, p50, p99, the latest, the processor time of each.
bare() { # PROCESSES|_kept COUNT SECONDS
    : >"$noted"
    if [ "$1" = _kept ]; then
        # shellcheck disable=SC2046 # words
        set -- "$3" $("$bench" kept "$2" "$3" "$tiny $noted" "$work/records")
    else
        # shellcheck disable=SC2046 # words
        set -- "$3" $("$bench" bare "$1" "$2" "$3" "$tiny $noted")
    fi
    echo "$("$bench" noted "$noted" "$2" "$1") $3" >"$work/bare"
}

# How long it takes until all of COUNT jobs that are due at one instant run; `$2` of its answer is
# how many were lost, doubled or failed.
burst_of() { # COUNT [RUN_S]
    at=$(($(date +%s) + 4))
    fresh "$1" "@at $(date -u -d "@$at" +%Y-%m-%dT%H:%M:%SZ)" "$tiny $noted ${2:-}"
    start
    for _ in $(seq 60); do
        sleep 0.5
        # shellcheck disable=SC2046
        set -- "$1" "${2:-}" $("$bench" noted "$noted" $at 1)
        [ "$3" -lt "$1" ] || break
    done
    latest=$6
    wrong=$(($1 - $3))
    [ -n "$2" ] || { # the history has short ones only
        for _ in $(seq 60); do
            # shellcheck disable=SC2046
            set -- "$1" $("$bench" starts "$data/history.db" $at $at)
            [ "$2" -lt "$1" ] || break
            sleep 0.5
        done
        wrong=$((wrong + $1 - $2 + $3 + $4))
    }
    stop
    echo "$latest $wrong"
}
