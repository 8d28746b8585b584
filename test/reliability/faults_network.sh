# Sourced by run.sh: what happens between $node, or a member of etcd, and the rest. See
# faults_process.sh for how faults are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $node, $member, $cannot are the driver's

# All rules are in one table, which is removed as a whole.
add_rule() { # MACHINE input|output RULE
    inside "$1" nft "add table inet fault
        add chain inet fault $2 { type filter hook $2 priority 0; }
        add rule inet fault $2 iifname != lo oifname != lo $3" 2>/dev/null
}
remove_rules() { # MACHINE
    inside "$1" nft delete table inet fault
}
needs_network() {
    cannot='network namespaces with rules need root, ip and nft'
    [ -n "$can_cut" ]
}

# ---- nothing comes through ----

hurt_cut_off() {
    needs_network || return
    add_rule "$node" input drop
    add_rule "$node" output drop
    goes_away "$node"
}
mend_cut_off() {
    remove_rules "$node"
    is_back "$node"
}

hurt_cut_in() { # it is heard, but hears nothing
    needs_network || return
    add_rule "$node" input drop
    goes_away "$node"
}
mend_cut_in() { mend_cut_off; }

hurt_cut_out() { # it hears, but is not heard
    needs_network || return
    add_rule "$node" output drop
    goes_away "$node"
}
mend_cut_out() { mend_cut_off; }

hurt_compact_while_cut() { # what it missed can't be told any more
    hurt_cut_off || return
    wait_for 12 is_no_member "$node"
    compact
}
mend_compact_while_cut() { mend_cut_off; }

# ---- some of it comes through, or late ----

hurt_loss() {
    needs_network || return
    if ! inside "$node" tc qdisc add dev eth0 root netem loss 20% 2>/dev/null; then
        add_rule "$node" output 'numgen random mod 100 < 20 drop'
    fi
    add_rule "$node" input 'numgen random mod 100 < 20 drop'
    goes_away "$node" # for as long as TCP waits, which can be longer than its time to live
}
mend_loss() {
    inside "$node" tc qdisc del dev eth0 root 2>/dev/null
    mend_cut_off
}

hurt_latency() {
    needs_network || return
    cannot='the kernel has no netem'
    inside "$node" tc qdisc add dev eth0 root netem delay 300ms 100ms 2>/dev/null
}
mend_latency() { inside "$node" tc qdisc del dev eth0 root; }

hurt_narrow() { # what is sent waits for seconds, or is dropped
    needs_network || return
    cannot='the kernel has no tbf'
    inside "$node" tc qdisc add dev eth0 root tbf rate 16kbit burst 2k latency 2s 2>/dev/null ||
        return
    goes_away "$node"
}
mend_narrow() {
    inside "$node" tc qdisc del dev eth0 root
    is_back "$node"
}
