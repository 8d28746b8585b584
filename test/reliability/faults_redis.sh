# Sourced by run.sh: what happens to Redis, beside faults_server.sh. See faults_process.sh for how faults
# are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $cannot is the driver's

# ---- the master: Sentinel promotes the replica meanwhile ----

hurt_kill_redis() {
    goes_away etcd
    hurt_redis=$(master)
    kill_redis "$hurt_redis"
}
mend_kill_redis() {
    start_redis "$hurt_redis"
    have_replica
    is_back etcd
}

hurt_freeze_redis() { # it goes on later, and takes itself for the master
    goes_away etcd
    hurt_redis=$(master)
    kill -STOP "${redis_pids[hurt_redis]}"
}
mend_freeze_redis() {
    kill -CONT "${redis_pids[hurt_redis]}"
    have_replica
    is_back etcd
}

hurt_cut_redis() {
    needs_network || return
    goes_away etcd
    hurt_redis=$(master)
    add_rule "redis-$hurt_redis" input drop
    add_rule "redis-$hurt_redis" output drop
}
mend_cut_redis() {
    remove_rules "redis-$hurt_redis"
    have_replica
    is_back etcd
}

# ---- the replica, without which nothing counts ----

hurt_kill_replica() {
    cannot='there is no replica'
    is_following || return
    goes_away etcd
    hurt_redis=$(replica)
    kill_redis "$hurt_redis"
}
mend_kill_replica() { mend_kill_redis; }

hurt_freeze_replica() {
    cannot='there is no replica'
    is_following || return
    goes_away etcd
    hurt_redis=$(replica)
    kill -STOP "${redis_pids[hurt_redis]}"
}
mend_freeze_replica() { mend_freeze_redis; }

# What it lacks was never acknowledged: all goes on by itself.
hurt_promote_lagging() {
    local lagging
    cannot='there is no replica'
    is_following || return
    goes_away etcd
    hurt_redis=$(master) lagging=$(replica)
    say "$lagging" CONFIG SET masterauth wrong >/dev/null # so that it does not come back
    say "$lagging" CLIENT KILL TYPE master >/dev/null
    nap 2
    kill_redis "$hurt_redis"
    wait_for 10 takes_writes
    say "$lagging" CONFIG SET masterauth '' >/dev/null
}
mend_promote_lagging() { mend_kill_redis; }

# The replica is gone while the master begins anew: so nobody knows that it is to be waited for, and
# what the master acknowledges from then on it lacks. Then the master is gone, and it is back. Sentinel
# looks away until then: it would have promoted the replica at once.
hurt_promote_behind() {
    local lagging
    cannot='there is no replica'
    is_following || return
    goes_away etcd
    hurt_redis=$(master) lagging=$(replica)
    kill -STOP "$sentinel_pid"
    kill_redis "$lagging"
    kill_redis "$hurt_redis"
    behind_ms=$(now_ms)
    start_redis "$hurt_redis" # nobody names a master: it is one
    wait_for 30 says_master "$hurt_redis"
    nap 3
    kill_redis "$hurt_redis"
    start_redis "$lagging" "$hurt_redis"
    kill -CONT "$sentinel_pid"
    wait_for 30 is_promoted "$lagging"
    forgets_changes "$behind_ms" "$(($(now_ms) + 1000))"
    start_redis "$hurt_redis"
}

# Where no node has come to the master while it was alone, the replica lacks nothing, and nobody halts.
mend_promote_behind() {
    for _ in {1..40}; do
        ! is_halted >/dev/null 2>&1 || break
        sleep 0.5
    done
    if is_halted >/dev/null 2>&1; then
        mend_restore
    else
        have_replica
        is_back etcd
    fi
}

# ---- connections, memory, disk ----

end_some() { say "$(master)" CLIENT KILL TYPE normal >/dev/null; }

hurt_full_memory() { # nothing is evicted; what grows is refused
    goes_away etcd
    say "$(master)" CONFIG SET maxmemory 1 >/dev/null
}
mend_full_memory() {
    say "$(master)" CONFIG SET maxmemory 0 >/dev/null
    is_back etcd
}

hurt_full_redis() { # a server that can't write its append-only file ends
    needs_disks || return
    goes_away etcd
    hurt_redis=$(master)
    fill_disk "redis-$hurt_redis"
    return 0
}
mend_full_redis() {
    empty_disk "redis-$hurt_redis"
    kill -0 "${redis_pids[hurt_redis]}" 2>/dev/null || start_redis "$hurt_redis"
    have_replica
    is_back etcd
}

# ---- a backup that is put back: an older append-only file ----

save_backup() {
    local at
    at=$(master)
    rm -rf "$scratch/backup"
    backup_ms=$(now_ms)
    cp -a "$scratch/redis-$at/appendonlydir" "$scratch/backup"
}
# On both, while Sentinel looks away.
put_back() {
    local at
    at=$(master)
    kill -STOP "$sentinel_pid"
    kill_redis 0
    kill_redis 1
    forgets_changes "$backup_ms" "$(($(now_ms) + 1000))" # one may be answered, and not noted yet
    rm -rf "$scratch"/redis-{0,1}/appendonlydir
    cp -a "$scratch/backup" "$scratch/redis-$at/appendonlydir"
    kill -CONT "$sentinel_pid"
    start_redis "$at"
    wait_for 30 takes_writes
    start_redis $((1 - at))
    have_replica
}
