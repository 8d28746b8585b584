#!/bin/bash
# Kills agent and spawner at random moments while jobs of every kind run, and compares the ledger
# with what the jobs themselves wrote. PEAL_SEED repeats a run, PEAL_FAULT_SECONDS makes it longer.
. "$(dirname "$0")/lib.sh"

seed=${PEAL_SEED:-$((SRANDOM % 32768))}
seconds=${PEAL_FAULT_SECONDS:-30}
echo "PEAL_SEED=$seed PEAL_FAULT_SECONDS=$seconds"
RANDOM=$seed

start_peal
end=$(date -u -d "@$(($(date +%s) + seconds))" +%Y-%m-%dT%H:%M:%SZ)
{
    # name | schedule | how | takes ms | exit code
    while IFS='|' read -r name schedule how ms code; do
        echo "---"
        echo "{name: $name, schedule: \"$schedule\", end: \"$end\", $how," \
            "command: [$append_run, $trace, $ms, $code]}"
    done <<'TABLE'
second|* * * * * *|overlap: skip|200|0
rate|@every 2s|overlap: {policy: queue, queue: 1000}|900|0
delay|@after 1s|overlap: skip|300|0
replaced|*/3 * * * * *|overlap: replace, grace: 2s|5000|0
pushed|* * * * * *|overlap: replace, grace: 2s|1500|0
beside|*/2 * * * * *|overlap: allow|3000|0
failing|*/5 * * * * *|overlap: queue|100|3
endless|*/7 * * * * *|overlap: skip, timeout: 1s, grace: 1s|60000|0
TABLE
} >"$scratch/jobs.yaml"
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# One fault; afterwards an agent is running.
hurt() {
    local agent spawner
    agent=$(agent_pid)
    spawner=$(spawner_pid)
    case $1 in
    0) kill_hard "$agent" ;;
    1) kill_hard "$spawner" ;;
    2) kill_hard "$agent" && kill_hard "$spawner" ;;
    3) kill_hard "$spawner" && kill_hard "$agent" ;;
    4) # asleep, and back
        kill -STOP "$agent"
        nap $((RANDOM % 3)).$((RANDOM % 9))
        kill -CONT "$agent"
        ;;
    5) # killed in its sleep
        kill -STOP "$agent"
        nap 0.$((RANDOM % 9))
        kill_hard "$agent"
        ;;
    6) # while the spawner does not answer
        [ -z "$spawner" ] || kill -STOP "$spawner"
        nap 0.$((RANDOM % 9))
        kill_hard "$agent"
        [ -z "$spawner" ] || kill -CONT "$spawner"
        ;;
    7) peal stop 2>/dev/null ;;
    8) [ -z "$spawner" ] || kill -HUP "$spawner" ;; # upgraded in place
    esac
    if [ -z "$(agent_pid)" ]; then
        nap $((RANDOM % 2)).$((RANDOM % 9))
        start_peal
    fi
}

# Claims, begins and starts happen in the few milliseconds around a second: half of the faults do.
wait_for_a_moment() {
    local ms=$((RANDOM % 1900)) around=$((RANDOM % 2))
    if [ $around -eq 1 ]; then
        ms=$((1000 - $(now_ms) % 1000 + ms % 60 - 25))
    fi
    [ $ms -le 0 ] || nap "$((ms / 1000)).$(printf %03d $((ms % 1000)))"
}

faults=0
stop_at=$(($(now_ms) + seconds * 1000))

# Many ticks at once, when a machine wakes up: `pushed` is replaced faster than it can be started.
wait_for 10 has_begun pushed
agent=$(agent_pid)
kill -STOP "$agent"
nap 8
kill -CONT "$agent"
nap 1
while [ "$(now_ms)" -lt $stop_at ]; do
    wait_for_a_moment
    what=$((RANDOM % 9))
    [ -z "${PEAL_VERBOSE:-}" ] || echo "$(date +%T.%N | cut -c 1-12) fault $what"
    hurt $what
    faults=$((faults + 1))
done
echo "$faults faults"

wait_for 60 is_settled
check_ledger
check_logs

# What survived is whole: the output of some runs, from first to last.
for id in $(jq -r '.[] | select(.state == "ok" and .output_bytes == 10) | .run_id' "$scratch/runs.json" | shuf -n 5); do
    run peal logs "$id"
    expect_status 0
    expect_stdout $'begin\nend'
done
stop_peal
finish
