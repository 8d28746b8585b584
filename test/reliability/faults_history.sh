# Sourced by run.sh: what happens to the history. See faults_process.sh for how faults are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $cannot is the driver's

needs_history() {
    cannot='there is no PostgreSQL here'
    [ -n "$has_history" ]
}

hurt_history_down() {
    needs_history || return
    tell_history kill
}
mend_history_down() { tell_history start; }

hurt_history_hangs() {
    needs_history || return
    tell_history pause
}
mend_history_hangs() { tell_history resume; }

hurt_spool_full() { # it is down, and there is no room for what should wait for it
    needs_history || return
    needs_disks || return
    node="node-c"
    tell_history kill
    fill_disk node-c
    goes_away node-c
}
mend_spool_full() {
    empty_disk node-c
    tell_history start
    is_back node-c
}
