# Sourced by run.sh: definitions change on any node all the time, and what was acknowledged is held
# against what ran.
# shellcheck shell=bash disable=SC2154 # of the driver

acknowledged=$scratch/acknowledged # JOB WHAT UNIX_MS
forgotten=$scratch/forgotten       # FROM_MS TO_MS
: >"$acknowledged"
: >"$forgotten"

forgets_changes() { # FROM_MS TO_MS: a backup from before takes the place of what was changed then
    echo "$1 $2" >>"$forgotten"
}

# What binds: a change that was restored away may hold or not. That a job may run again binds nobody.
binding_changes() {
    awk 'input == 1 { from[++count] = $1; to[count] = $2; next }
        {
            is_forgotten = 0
            for (i = 1; i <= count; i++)
                is_forgotten = is_forgotten || ($3 >= from[i] && $3 <= to[i])
        }
        !is_forgotten || $2 == "resume"' input=1 "$forgotten" input=2 "$acknowledged"
}

# Asked of one node after the other until one says yes. What was asked before and came to nothing
# can't come true later: every change names the revision that it was made from.
insist() { # ARGUMENT...
    until on "${machines[RANDOM % 3]}" "$@" >/dev/null 2>&1; do
        nap 0.5
    done
}

resume_paused() {
    echo "paused resume $(now_ms)" >>"$acknowledged" # from here on it may run again
    insist resume paused
}

keep_changing() {
    local version=0 pause_s=$((duration_s / 150 + 1))
    trap - EXIT TERM
    while [ $version -lt 240 ]; do # an exit code
        version=$((version + 1))
        echo "edited|* * * * * *|overlap: allow, retention: {runs: 0}|10|$version" | job_file \
            >"$scratch/edited.yaml"
        insist apply -f "$scratch/edited.yaml"
        echo "edited $version $(now_ms)" >>"$acknowledged"
        nap $pause_s
        insist pause paused
        echo "paused pause $(now_ms)" >>"$acknowledged"
        nap $pause_s
        resume_paused
        nap $pause_s
    done
}

knows_version() { # NODE VERSION
    [ "$(on "$1" get edited -o json | jq -r '.command[3]')" -ge "$2" ]
}

# Claims are dated by clocks that may be apart by half a second.
check_changes() {
    local node newest
    run jq -r --arg slack_ms 1000 --rawfile acknowledged <(binding_changes) \
        -f "$cluster_dir/acknowledged.jq" "$scratch/runs.json"
    expect_status 0
    expect_stdout ''
    newest=$(binding_changes | awk '$1 == "edited" { newest = $2 } END { print newest + 0 }')
    for node in "${machines[@]}"; do
        wait_for 5 knows_version "$node" "$newest"
    done
    changes_line="$(wc -l <"$acknowledged") acknowledged changes, $newest of them edits"
    echo "$changes_line"
}

# When not even a timer woke up in time, nothing is said about lateness.
late_machine() {
    awk '$2 > 200000 { print "machine", $1, $1 + int($2 / 1000) }' "$scratch/timer"
}
