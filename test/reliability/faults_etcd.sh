# Sourced by run.sh: what happens to etcd. See faults_process.sh for how faults
# are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $member, $cannot are the driver's

# ---- members ----

hurt_kill_etcd() {
    goes_away etcd
    kill_member "$member"
}
mend_kill_etcd() {
    start_member "$member"
    is_back etcd
}

hurt_kill_etcd_leader() {
    member=$(etcd_leader) || member=0
    hurt_kill_etcd
}
mend_kill_etcd_leader() { mend_kill_etcd; }

hurt_move_etcd_leader() { # in order
    local to
    member=$(etcd_leader) || return
    to=$(ctl member list 2>/dev/null | awk -F ', ' -v not="m$member" '$3 != not { print $1; exit }')
    ETCDCTL_API=3 inside hub etcdctl --endpoints "$(member_url "$member")" move-leader "$to" \
        >/dev/null 2>&1 || return
    goes_away etcd
}
mend_move_etcd_leader() { is_back etcd; }

hurt_no_quorum() {
    goes_away etcd
    kill -STOP "${etcd_pids[member]}" "${etcd_pids[(member + 1) % 3]}"
}
mend_no_quorum() {
    kill -CONT "${etcd_pids[member]}" "${etcd_pids[(member + 1) % 3]}"
    is_back etcd
}

# ---- between the members of etcd ----

hurt_cut_etcd_leader() { # the clients still reach it
    needs_network || return
    member=$(etcd_leader) || member=0
    goes_away etcd
    add_rule "etcd-$member" input "ip saddr $subnet.8/29 drop"
    add_rule "etcd-$member" output "ip daddr $subnet.8/29 drop"
}
mend_cut_etcd_leader() {
    remove_rules "etcd-$member"
    is_back etcd
}

# ---- its data ----

compact() {
    ctl compact "$(ctl get / -w json 2>/dev/null | jq .header.revision)" >/dev/null 2>&1
}

save_snapshot() {
    snapshot_ms=$(now_ms)
    ETCDCTL_API=3 inside hub etcdctl --endpoints "$(member_url "$member")" \
        snapshot save "$scratch/snapshot" >/dev/null 2>&1
}

kill_all_members() { # for good: what they took since the snapshot is forgotten
    local i
    for i in "${members[@]}"; do
        kill_member "$i"
    done
    forgets_changes "$snapshot_ms" "$(($(now_ms) + 1000))" # one may be answered, and not noted yet
}

hurt_restore() { # a snapshot of now takes the place of what comes after it
    save_snapshot || return
    nap 3
    goes_away etcd
    kill_all_members
}

# Under a token that it never had, as CLUSTER.md says: by it those know that it was restored who saw
# nothing since the snapshot.
restore_members() {
    local i all folder token
    token=restored-$(now_ms)
    all=$(for i in "${members[@]}"; do echo "m$i=${etcd_peers[i]}"; done | paste -sd ,)
    for i in "${members[@]}"; do
        folder=$(mktemp -d "$scratch/etcd.XXXXXX")
        ETCDCTL_API=3 etcdctl snapshot restore "$scratch/snapshot" --data-dir "$folder/data" \
            --name "m$i" --initial-cluster "$all" --initial-cluster-token "$token" \
            --initial-advertise-peer-urls "${etcd_peers[i]}" >/dev/null 2>&1
        ln -sfn "$folder/data" "$scratch/etcd-$i"
        start_member "$i"
    done
    wait_for 30 etcd_is_well
}
mend_restore() {
    restore_members
    wait_for 30 is_halted
    wait_for 30 go_on # the one help it needs
    is_back etcd
}

# Once more while nobody, some or all have noticed the first one, or right after going on from it;
# the second time from the same snapshot, or from one of the restored etcd.
hurt_restore_twice() { hurt_restore; }
mend_restore_twice() {
    restore_members
    [ $((RANDOM % 2)) -eq 0 ] || save_snapshot
    if [ $((RANDOM % 2)) -eq 0 ]; then
        nap "$((RANDOM % 3)).$((RANDOM % 10))"
    else
        wait_for 30 is_halted
        wait_for 30 go_on
        nap "$((RANDOM % 3)).$((RANDOM % 10))"
    fi
    kill_all_members
    mend_restore
}
