#!/bin/bash
# The disk of the data folder fills up while jobs run: nothing is started that could not be put on
# record, running jobs go on, it is said what to do, and all goes on by itself once there is room.
. "$(dirname "$0")/lib.sh"

skip() { # REASON
    echo "skipped: $1"
    exit 77
}

mkdir "$PEAL_DATA"
[ "$(id -u)" -eq 0 ] || skip 'a small disk can only be mounted by root'
mount -t tmpfs -o size=48m,mode=0700 none "$PEAL_DATA" 2>/dev/null ||
    skip 'this root may not mount a tmpfs'
trap 'end_all; umount -l "$PEAL_DATA"; clean_up' EXIT

# All but this much is taken away.
leave_room() { # BYTES
    local free
    rm -f "$PEAL_DATA/filler"
    free=$(($(stat -f -c '%a * %S' "$PEAL_DATA")))
    head -c $((free - $1)) /dev/zero >"$PEAL_DATA/filler"
}

start_peal
seconds=${PEAL_FAULT_SECONDS:-16}
end=$(date -u -d "+$seconds seconds" +%Y-%m-%dT%H:%M:%SZ)
cat >"$scratch/jobs.yaml" <<YAML
- {name: second, schedule: "* * * * * *", end: "$end", command: [$append_run, $trace, 100]}
- {name: queued, schedule: "*/2 * * * * *", end: "$end", overlap: queue, command: [$append_run, $trace, 300]}
- {name: long, schedule: "@manual", command: [$append_run, $trace, 7000, 4]}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal run long
expect_status 0
wait_for 10 has_begun long
wait_for 10 has_begun second

# ---- nearly full: refused before it happens ----

leave_room 4194304
wait_for 10 sh -c 'peal state -o json | jq -e ".store.ok | not"'
run peal state
expect_status 8
expect_stdout_has 'running, but nothing can start (pid'
expect_stdout_has 'nearly full'
expect_stdout_has 'peal wants 16'
expect_stdout_has 'make room'
run peal add nearly @manual -- /bin/true
expect_status 0
expect_stderr_has 'note: nothing can start now: the disk of '
run peal delete nearly --yes
expect_status 0
run peal doctor
expect_status 1
expect_stdout_has 'FAIL  data folder:'
expect_stdout_has 'FAIL  starts: nothing can start (disk_full): the disk of '
wait_for 5 grep store_unwell "$PEAL_DATA/peal.log"
count=$(begun_count second)
nap 2.5
checks=$((checks + 1))
[ "$(begun_count second)" -eq "$count" ] || mismatch 'a tick was started on a full disk'

# ---- full to the last byte: what runs goes on, and ends ----

head -c 100000000 /dev/zero 2>/dev/null >>"$PEAL_DATA/filler"
run peal add more @manual -- /bin/true
expect_status 5
expect_stderr_has 'the disk is full'
wait_for 20 grep -q '^end long' "$trace"
run peal state
expect_status 8

# ---- room again: it goes on by itself, nothing is missing ----

rm "$PEAL_DATA/filler"
wait_for 20 sh -c 'peal state -o json | jq -e .store.ok'
wait_for 20 peal state
wait_for 20 sh -c 'peal state -o json | jq -e .history.ok'
wait_for 5 grep store_well "$PEAL_DATA/peal.log"
wait_for 60 is_settled
run peal runs long -o json
expect_json 'map([.state, .exit_code, .output_bytes])' '[["failed",4,10]]'
run peal list -o name
expect_stdout $'long\nqueued\nsecond'
check_ledger
checks=$((checks + 1))
[ "$(begun_count second)" -gt "$count" ] || mismatch 'nothing was started after there was room'
stop_peal
check_logs
finish
