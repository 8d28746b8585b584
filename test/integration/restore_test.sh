#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# etcd comes back from a backup: nothing is started until somebody says so, and nothing runs twice;
# what ended since then stays ended.
. "$(dirname "$0")/lib.sh"
export ETCDCTL_API=3
etcd_start
start_agent a --store "$etcd_url/p" --node-id a
run peal add count '@every 1s' --shell "echo \"\$PEAL_TICK\" >>'$scratch/ticks'"
expect_status 0
run peal add long @manual --shell "while ! [ -e '$scratch/go' ]; do sleep 0.1; done"
expect_status 0

has_ticks() { # COUNT
    [ "$(wc -l <"$scratch/ticks")" -ge "$1" ]
}
is_halted() {
    [ "$(peal cluster status -o json | jq .store.halted)" = true ]
}
nothing_is_open() {
    [ "$(peal list -o json | jq 'map(.status.running) | add')" = 0 ] &&
        [ -z "$(etcdctl --endpoints "$etcd_endpoint" get --prefix /p/runs/ --keys-only)" ]
}

# A run of `long` is begun for the snapshot, and over when etcd goes back to it.
go_back() { # FOLDER
    local ticks
    rm -f "$scratch/go"
    run peal run long
    expect_status 0
    wait_until newest_is long running
    run etcdctl --endpoints "$etcd_endpoint" snapshot save "$scratch/snapshot"
    expect_status 0
    touch "$scratch/go"
    wait_until newest_is long ok
    ticks=$(wc -l <"$scratch/ticks")
    wait_until has_ticks $((ticks + 3))
    etcd_stop
    run etcdctl snapshot restore "$scratch/snapshot" --data-dir "$1" --name default \
        --initial-cluster "default=$etcd_peer" --initial-advertise-peer-urls "$etcd_peer"
    expect_status 0
    until etcd_serve "$1"; do
        sleep 1 # somebody else has its ports, for a moment
    done
    wait_until is_halted
}

go_on() {
    local ticks
    ticks=$(wc -l <"$scratch/ticks")
    run peal cluster advance-cursors --yes
    expect_status 0
    expect_stderr 'every job goes on from now; all nodes work again'
    wait_until has_ticks $((ticks + 2))
    run peal cluster status
    expect_status 0
    run peal pause count
    expect_status 0
    wait_until nothing_is_open
    run newest_is long ok
    expect_status 0
    run peal resume count
    expect_status 0
}

wait_until has_ticks 1
go_back "$scratch/restored"
run peal cluster status
expect_status 5
expect_stdout_has 'restored from a backup'
expect_stdout_has 'peal cluster advance-cursors'
run peal doctor
expect_status 1
expect_stdout_has "FAIL  agent's store: "
go_on
run peal cluster advance-cursors --yes
expect_status 4
expect_stderr_has 'nothing to advance'

# It stays so after a restart, which has nothing but the file to know it by.
go_back "$scratch/restored-again"
run peal restart
expect_status 0
run is_halted
expect_status 0
go_on

run sh -c "sort '$scratch/ticks' | uniq -d"
expect_stdout ''
run peal runs count --ledger --state missed
expect_stdout_has 'missed (restored)'
finish
