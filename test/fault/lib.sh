# Sourced by the fault tests: an agent and its spawner that can be found, hurt and ended, on top of
# what all tests of the real binaries share.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"

# shellcheck disable=SC2034 # for the tests
append_run=${PEAL_BIN:-$source_dir/build/asan/bin}/../test/append_run
fault_dir=$(dirname "${BASH_SOURCE[0]}")
export PEAL_DATA=$scratch/data
trace=$scratch/trace # what the jobs themselves wrote
: >"$trace"

# ---- time ----

now_ms() { echo $((${EPOCHREALTIME/./} / 1000)); }

nap() { # SECONDS
    read -r -t "$1" <> <(:) # without a process
}

# Asks again until the command succeeds. A test that waited in vain goes on, and fails. SECONDS are
# what it takes a machine that has nothing else to do; they are no promise, and a busy one gets four
# times as many. What is promised in time is measured beside something bare.
wait_for() { # SECONDS COMMAND...
    local limit=$(($1 * 4)) asked=${EPOCHREALTIME/./} deadline
    deadline=$((asked + limit * 1000000))
    shift
    checks=$((checks + 1))
    until "$@" >/dev/null 2>&1; do
        if [ "${EPOCHREALTIME/./}" -ge $deadline ]; then
            ran="$*"
            mismatch "did not happen within $limit s"
            return 1
        fi
        rest_since "$asked"
        asked=${EPOCHREALTIME/./}
    done
    return 0
}

# ---- processes ----

is_alive() { # PID; a zombie is dead
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null)
    [ -n "$state" ] && [ "$state" != Z ] && [ "$state" != X ]
}

# A zombie may still have threads that are ending, and with them its sockets.
is_gone() { # PID
    local task
    ! is_alive "$1" || return 1
    for task in "/proc/$1/task/"[0-9]*; do
        [ "${task##*/}" = "$1" ] || ! [ -e "$task" ] || return 1
    done
}

agent_pid() {
    local pid
    pid=$(cat "$PEAL_DATA/peal.pid" 2>/dev/null)
    [ -n "$pid" ] && is_alive "$pid" && echo "$pid"
}

# A process that is held before its exec looks like its spawner, whose child it is.
is_held() { # PID
    local parent
    parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [ "$(cat "/proc/$parent/comm" 2>/dev/null)" = peal-spawn ]
}

spawner_pid() {
    local file words
    for file in /proc/[0-9]*/cmdline; do
        { mapfile -d '' words <"$file"; } 2>/dev/null || continue
        case "${words[*]:-}" in
        *"peal-spawn --dir $PEAL_DATA/"*)
            file=${file%/cmdline}
            ! is_held "${file#/proc/}" || continue
            is_alive "${file#/proc/}" && echo "${file#/proc/}"
            return
            ;;
        esac
    done
    return 1
}

# The process above a spawner, which starts the next one if it is killed.
guard_of() { # SPAWNER_PID
    local pid
    pid=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = peal-guard ] && echo "$pid"
}

# kill -9, and really gone.
kill_hard() { # PID
    [ -n "${1:-}" ] || return 0
    kill -9 "$1" 2>/dev/null
    wait_for 10 is_gone "$1"
}

# Kilobytes that a process has in memory.
rss_kb() { # PID
    sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$1/status" 2>/dev/null
}

# ---- peal ----

start_peal() {
    run peal start -d
    expect_status 0
}

stop_peal() {
    run peal stop
    expect_status 0
}

# Whether the newest run of a job is in this state.
newest_is() { # JOB STATE
    [ "$(peal runs "$1" -n 1 -o json | jq -r '.[0].state')" = "$2" ]
}

begun_count() { # JOB
    grep -c "^begin $1 " "$trace"
}

has_begun() { # JOB [TIMES]
    [ "$(begun_count "$1")" -ge "${2:-1}" ]
}

# Neither is running, nor waiting for anything.
is_settled() {
    peal list -o json |
        jq -e 'all(.[].status; .running == 0 and .queued == 0 and .next_at == null)'
}

# Everything that is on record, and the definitions, for check.sh.
save_ledger() {
    peal runs --ledger -n 100000 -o json >"$scratch/runs.json" &&
        peal list -o json >"$scratch/jobs.json"
}

# The ledger and the trace must agree.
check_options=() # of check.sh
check_ledger() {
    run save_ledger
    expect_status 0
    run "$fault_dir/check.sh" "${check_options[@]}" "$trace" "$scratch/runs.json" "$scratch/jobs.json"
    expect_status 0
    tee "$scratch/verdict" <"$scratch/out"
}

# Nothing that went on in the background found fault with itself.
check_logs() {
    run grep -h -e 'Sanitizer' -e 'runtime error:' -e 'Assertion' "$PEAL_DATA/peal.log" \
        "$PEAL_DATA/spawn/peal-spawn.log"
    expect_stdout ''
}

# ---- the end ----

end_agent() { # the one of $PEAL_DATA, and what it started
    local pid
    for pid in $(agent_pid) $(spawner_pid); do
        kill -CONT "$pid" 2>/dev/null
    done
    [ -z "$(agent_pid)" ] || peal stop >/dev/null 2>&1 || kill -9 "$(agent_pid)" 2>/dev/null
    pid=$(spawner_pid) || return
    kill -TERM "$pid" # ends what still runs
    for _ in {1..100}; do
        is_alive "$pid" || return
        nap 0.1
    done
    kill -9 "$pid"
}

end_all() { end_agent; }

clean_up() {
    end_all
    if [ "$failures" -gt 0 ] && [ -n "${PEAL_KEEP:-}" ]; then
        echo "kept: $scratch"
    else
        rm -rf "$scratch"
    fi
}
trap clean_up EXIT
