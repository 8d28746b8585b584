#!/bin/bash
# What can be wrong with history.db: peal state, peal doctor, peal cluster status and /readyz say
# what it is and what to do, in the same words. A full disk is test/fault/disk_full_test.sh's.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"

limit_is() { # BYTES|unlimited: of each file that the agent writes from now on
    prlimit --fsize="$1:unlimited" --pid "$(peal state -o json | jq .pid)"
}

start_agent a --listen none
peal add large '@manual' -- sh -c 'head -c 300000 /dev/urandom | base64; echo large' 2>/dev/null
run peal run large --wait
expect_status 0

# ---- a limit on the size of files: the agent outlives it, and jobs run ----

limit_is 600000
run peal run large --wait
expect_status 0
expect_trouble 'history.db cannot be used: disk I/O error. Check the room on its disk, the limit'
limit_is unlimited
expect_well
expect_runs large 2 large

# ---- a newer peal ----

run peal stop
expect_status 0
mv "$PEAL_DATA/history.db" "$scratch/history.db"
sqlite3 "$PEAL_DATA/history.db" \
    'PRAGMA application_id = 1885692268; PRAGMA user_version = 999; CREATE TABLE later (x)'
newer='was written by a newer peal (its format is 999, this one knows'
run peal start -d
expect_status 1
expect_stderr_has "$newer"
run peal doctor
expect_status 1
expect_stdout_has "FAIL  history: $PEAL_DATA/history.db $newer"
finish
