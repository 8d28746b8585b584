# Sourced by run.sh: what happens to Redis. See faults_process.sh for how faults are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $cannot is the driver's

# ---- the master: Sentinel promotes the replica meanwhile ----

hurt_kill_redis() {
    goes_away etcd
    hurt_redis=$(master)
    kill_redis "$hurt_redis"
}
mend_kill_redis() {
    start_redis "$hurt_redis"
    wait_for 30 is_following
    is_back etcd
}

hurt_freeze_redis() { # it goes on later, and takes itself for the master
    goes_away etcd
    hurt_redis=$(master)
    kill -STOP "${redis_pids[hurt_redis]}"
}
mend_freeze_redis() {
    kill -CONT "${redis_pids[hurt_redis]}"
    wait_for 30 is_following
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
    wait_for 30 is_following
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

# ---- connections, memory, disk ----

hurt_end_connections() { # again and again
    goes_away etcd
    (
        trap - EXIT TERM
        while :; do
            say "$(master)" CLIENT KILL TYPE normal >/dev/null
            nap "0.$((RANDOM % 800 + 100))"
        done
    ) &
    ender=$!
}
mend_end_connections() {
    kill "$ender"
    { wait "$ender"; } 2>/dev/null
    is_back etcd
}

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
    head -c "$(stat -f -c '%a * %S' "$scratch/redis-$hurt_redis" | awk '{ print $1 * $3 }')" /dev/zero \
        >"$scratch/redis-$hurt_redis/filler" 2>/dev/null
    return 0
}
mend_full_redis() {
    rm -f "$scratch/redis-$hurt_redis/filler"
    kill -0 "${redis_pids[hurt_redis]}" 2>/dev/null || start_redis "$hurt_redis"
    wait_for 30 is_following
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
    wait_for 30 is_following
}

hurt_restore() {
    cannot='no backup'
    save_backup || return
    nap 3
    goes_away etcd
    put_back
}
mend_restore() {
    wait_for 30 is_halted
    wait_for 30 go_on
    is_back etcd
}

# Once more while nobody, some or all have noticed the first one, or right after going on from it.
hurt_restore_twice() { hurt_restore; }
mend_restore_twice() {
    [ $((RANDOM % 2)) -eq 0 ] || save_backup
    if [ $((RANDOM % 2)) -eq 0 ]; then
        nap "$((RANDOM % 3)).$((RANDOM % 10))"
    else
        wait_for 30 is_halted
        wait_for 30 go_on
        nap "$((RANDOM % 3)).$((RANDOM % 10))"
    fi
    put_back
    mend_restore
}
