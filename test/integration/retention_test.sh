#!/bin/bash
# What is of no job is pruned, too: statistics of all jobs together, and changes; and jobs go whose
# `delete_after` is over. The agent looks half a minute after its start for the first time.
. "$(dirname "$0")/lib.sh"
patience=60

# Cells of the zero job, so many days old.
hour_of() { # DAYS
    echo $(($(date +%s) / 3600 - $1 * 24))
}
insert_stats() { # DAYS
    sqlite3 "$scratch/a/history.db" "INSERT INTO stats VALUES
        (zeroblob(16), $(hour_of "$1"), 5, -1, 1, 0, 0, 0, 0, 0)"
}
# shellcheck disable=SC2317 # called by is_pruned
days_left() {
    sqlite3 "$scratch/a/history.db" "SELECT DISTINCT ($(hour_of 0) - hour) / 24 FROM stats
        WHERE job_uid = zeroblob(16) ORDER BY hour"
}

echo 'retention: {stats: 30d}' >"$scratch/config"
start_agent a --listen none
run peal stop
for days in 500 31 29 0; do
    insert_stats "$days"
done
run peal start -d --config "$scratch/config"
expect_status 0

# A job that is to go by itself does, unless a run of it is under way; others stay.
run peal add gone @manual --delete-after 1s -- true
expect_status 0
run peal add held @manual --delete-after 1s --shell "until [ -e $scratch/release ]; do sleep 0.1; done"
expect_status 0
run peal add stays @manual -- true
expect_status 0
run peal run held
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
is_pruned() { [ "$(days_left | head -n 1)" = 29 ]; }
wait_until is_pruned
run days_left
expect_stdout $'29\n0'
# shellcheck disable=SC2317 # called by wait_until
is_gone() { ! peal describe gone >"$scratch/described" 2>&1; }
wait_until is_gone
run peal list -o json
expect_status 0
expect_json '[.[].name] | sort' '["held","stays"]'
run peal audit --job gone -o json
expect_json '.[0] | [.action, .detail]' '["delete","delete_after"]'
run peal undelete gone
expect_status 0
touch "$scratch/release"
wait_until newest_is held ok
run peal stop
expect_status 0

# Unless told otherwise they are kept for 400 days.
insert_stats 401
insert_stats 399
run peal start -d --fresh
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
is_pruned() { [ "$(days_left | head -n 1)" = 399 ]; }
wait_until is_pruned
run days_left
expect_stdout $'399\n29\n0'
finish
