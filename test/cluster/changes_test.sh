#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# Definitions change on one node while another claims their ticks. Whatever was acknowledged holds
# for every claim after it, and all nodes know it.
. "$(dirname "$0")/lib.sh"

rounds=${PEAL_ROUNDS:-7}
start_etcd 3
start_nodes a b c
end_in $((rounds * 4 + 4))
names=(a b c)
RANDOM=${PEAL_SEED:-$((SRANDOM % 32768))}
echo "PEAL_SEED=$RANDOM PEAL_ROUNDS=$rounds"
: >"$scratch/acknowledged" # JOB WHAT UNIX_MS

acknowledged() { # JOB WHAT
    echo "$1 $2 $(now_ms)" >>"$scratch/acknowledged"
}

{
    echo 'paused|* * * * * *|overlap: allow|10|0'
    echo 'edited|* * * * * *|overlap: allow|10|0' # each version has its own exit code
    for ((i = 1; i <= rounds; i++)); do
        echo "deleted-$i|* * * * * *|overlap: allow|10|0"
    done
} | apply a

knows_version() { # NODE VERSION
    on "$1" get edited -o json | jq -e --arg version "$2" '.command[3] == $version'
}
knows_pause() { # NODE TRUE|FALSE
    [ "$(on "$1" get paused -o json | jq '.status.paused')" = "$2" ]
}
misses_job() { # NODE JOB
    on "$1" get "$2"
    [ $? -eq 3 ]
}

# Claims are made in the tenth of a second before their tick, begins right after.
for ((i = 1; i <= rounds; i++)); do
    whom=${names[RANDOM % 3]} other=${names[RANDOM % 3]}
    until_ms_of_second $((840 + RANDOM % 200))
    echo "edited|* * * * * *|overlap: allow|10|$i" | apply "$whom"
    acknowledged edited "$i"
    wait_for 2 knows_version "$other" "$i"

    until_ms_of_second $((840 + RANDOM % 200))
    run on "$whom" pause paused
    expect_status 0
    acknowledged paused pause
    wait_for 2 knows_pause "$other" true

    until_ms_of_second $((840 + RANDOM % 200))
    run on "$whom" delete "deleted-$i" --yes
    expect_status 0
    acknowledged "deleted-$i" delete
    wait_for 2 misses_job "$other" "deleted-$i"

    acknowledged paused resume # from here on it may run again
    run on "$other" resume paused
    expect_status 0
done

wait_for $((rounds * 4 + 20)) is_over
run save_ledger
expect_status 0

# Every claim is held against what had been acknowledged by then.
run jq -r --arg slack_ms 0 --rawfile acknowledged "$scratch/acknowledged" \
    -f "$cluster_dir/acknowledged.jq" "$scratch/runs.json"
expect_status 0
expect_stdout ''

# Of those that were not deleted every tick is on record, and true.
jq 'map(select(.name | startswith("deleted") | not))' "$scratch/jobs.json" >"$scratch/kept.json"
jq 'map(select(.job | startswith("deleted") | not))' "$scratch/runs.json" >"$scratch/kept-runs.json"
grep -v ' deleted-' "$trace" >"$scratch/kept-trace"
run "$fault_dir/check.sh" --away "$scratch/away" "$scratch/kept-trace" "$scratch/kept-runs.json" \
    "$scratch/kept.json"
expect_status 0
cat "$scratch/out"
jq -r '[.[] | select(.job == "edited") | .exit_code] | "versions that ran: \(unique)"' "$scratch/runs.json"
finish
