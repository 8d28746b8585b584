#!/bin/bash
# etcd comes back from a backup: nothing is started until somebody says so, and nothing runs twice.
. "$(dirname "$0")/lib.sh"
export ETCDCTL_API=3
etcd_start
start_agent a --store "$etcd_url/p" --node-id a
run peal add count '@every 1s' --shell "echo \"\$PEAL_TICK\" >>'$scratch/ticks'"
expect_status 0

# shellcheck disable=SC2317 # called by wait_until
has_ticks() { # COUNT
    [ "$(wc -l <"$scratch/ticks")" -ge "$1" ]
}
# shellcheck disable=SC2317 # called by wait_until
is_halted() {
    [ "$(peal cluster status -o json | jq .store.halted)" = true ]
}
wait_until has_ticks 1
run etcdctl --endpoints "$etcd_endpoint" snapshot save "$scratch/snapshot"
expect_status 0
wait_until has_ticks 4
etcd_stop
run etcdctl snapshot restore "$scratch/snapshot" --data-dir "$scratch/restored" --name default \
    --initial-cluster "default=$etcd_peer" --initial-advertise-peer-urls "$etcd_peer"
expect_status 0
etcd_serve "$scratch/restored"

wait_until is_halted
run peal cluster status
expect_status 5
expect_stdout_has 'restored from a backup'
expect_stdout_has 'peal cluster advance-cursors'
run peal doctor
expect_status 1
expect_stdout_has "FAIL  agent's store: "

# It stays so after a restart, which has nothing but the file to know it by.
run peal restart
expect_status 0
run is_halted
expect_status 0
before=$(wc -l <"$scratch/ticks")

run peal cluster advance-cursors --yes
expect_status 0
expect_stderr 'every job goes on from now; all nodes work again'
wait_until has_ticks $((before + 2))
run peal cluster status
expect_status 0
run peal cluster advance-cursors --yes
expect_status 4
expect_stderr_has 'nothing to go on from'
run sh -c "sort '$scratch/ticks' | uniq -d"
expect_stdout ''
run peal runs count --ledger --state missed
expect_stdout_has 'missed (restored)'

finish
