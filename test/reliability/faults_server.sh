# Sourced by run.sh: what happens to a store that is one server with a replica, PostgreSQL or Redis. The
# files of both say how (faults_postgres.sh, faults_redis.sh):
#   save_backup       of what the server has now
#   put_back          in the place of what it has
#   have_replica      one that follows, again
#   end_some          connections of the nodes
# See faults_process.sh for how faults are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $cannot is the driver's

# ---- connections, again and again ----

hurt_end_connections() {
    goes_away etcd
    (
        trap - EXIT TERM
        while :; do
            end_some
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

# ---- a backup that is put back ----

hurt_restore() {
    cannot='no backup'
    save_backup || return
    nap 3
    goes_away etcd
    put_back
}
mend_restore() {
    wait_for 30 is_halted
    wait_for 30 go_on # the one help it needs
    have_replica
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

