# Sourced by run.sh: the place where faults happen. Three machines with an agent each, those with the
# servers of the store (store_etcd.sh, store_postgres.sh, store_redis.sh), and a history server, all of them processes
# of this machine:
#
#   node-a node-b node-c      network namespaces of their own, data folders on disks of their own,
#                             wall clocks of their own
#   etcd-0 etcd-1 etcd-2      network namespaces of their own, or
#   pg-0 pg-1, or
#   redis-0 redis-1 sentinel
#   history                   PostgreSQL, which node-c records into; the others have their files
#
# All namespaces hang on a bridge in one more of them, so that nothing is seen outside. Where
# something of this can't be had (no root, no PostgreSQL), the rest stands without it, and
# can_cut, can_fill, has_history say so to the faults.
# shellcheck shell=bash disable=SC2034 # what the faults ask for

here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../cluster/lib.sh"

test_bin=${append_run%/*}
machines=(node-a node-b node-c)
tag=peal-$$
subnet=10.83.0
declare -A address=([node-a]=$subnet.1 [node-b]=$subnet.2 [node-c]=$subnet.3)
store_url= # of the nodes: start_servers
can_cut=   # network namespaces, and rules in them
can_fill=  # a disk for each node
has_history=

# ---- the network ----

add_machine() { # MACHINE
    ip netns add "$tag-$1" &&
        ip -n "$tag-$1" link set lo up &&
        ip -n "$tag-$1" link add eth0 type veth peer name "$1" netns "$tag-hub" &&
        ip -n "$tag-$1" addr add "${address[$1]}/24" dev eth0 &&
        ip -n "$tag-$1" link set eth0 up &&
        ip -n "$tag-hub" link set "$1" master br0 up
}

add_network() {
    local machine
    ip netns add "$tag-hub" &&
        ip -n "$tag-hub" link set lo up &&
        ip -n "$tag-hub" link add br0 type bridge &&
        ip -n "$tag-hub" addr add "$subnet.254/24" dev br0 &&
        ip -n "$tag-hub" link set br0 up || return
    for machine in "${!address[@]}"; do
        add_machine "$machine" || return
    done
    inside hub nft add table inet probe
}

remove_network() {
    local machine
    for machine in "${!address[@]}" hub; do
        [ ! -e "/run/netns/$tag-$machine" ] || ip netns del "$tag-$machine"
    done
}

# Only the network is another one, unlike with `ip netns exec`, which hides cgroups.
inside() { # MACHINE COMMAND...
    if [ -e "/run/netns/$tag-$1" ]; then
        nsenter --net="/run/netns/$tag-$1" "${@:2}"
    else
        "${@:2}"
    fi
}

# ---- the history ----

start_history() {
    coproc history { exec "$test_bin/history_server"; }
    exec {to_history}>&"${history[1]}" {from_history}<&"${history[0]}"
    read -r history_url <&"$from_history"
    case $history_url in
    postgresql:*) has_history=1 ;;
    esac
}

tell_history() { # ORDER
    local answer
    echo "$1" >&"$to_history"
    read -r answer <&"$from_history"
    [ "$answer" = "done" ] || echo "history_server: $1: $answer"
}

# ---- nodes ----

add_disks() {
    local node
    for node in "${machines[@]}"; do
        mkdir "$scratch/$node" &&
            mount -t tmpfs -o size=96m,mode=0700 "$tag" "$scratch/$node" 2>/dev/null || return
    done
}

remove_disks() {
    local node
    for node in "${machines[@]}"; do
        ! mountpoint -q "$scratch/$node" || umount -l "$scratch/$node"
    done
}

set_clock() { # NODE SECONDS: from now on its wall clock is so far away from the right one
    printf '%-31s\n' "$2" | dd of="$scratch/$1.offset" conv=notrunc status=none
}

start_again() { # NODE
    local node=$1 more=()
    [ -z "$has_history" ] || [ "$node" != node-c ] || more=(--history "$history_url")
    inside "$node" env LD_PRELOAD="$test_bin/fake_clock.so" FAKE_CLOCK="$scratch/$node.offset" \
        ASAN_OPTIONS=verify_asan_link_order=0 PEAL_DATA="$scratch/$node" \
        "${node_bin[$node]}/peal" start -d --store "$store_url" --node-id "$node" \
        --capacity 1 --listen none "${more[@]}"
}

start_node() { # NODE
    [[ " ${nodes[*]} " = *" $1 "* ]] || nodes+=("$1")
    run start_again "$1"
    expect_status 0
}

# ---- a store that has lost what was acknowledged ----

is_there() { # NODE: no other fault has made it go away
    [ -z "${away_since[$1]:-}" ] && is_up "$1"
}
go_on() { # by any node that is there
    local node=${machines[RANDOM % 3]}
    is_there "$node" && on "$node" cluster advance-cursors --yes
}
is_halted() { # for all that are there
    local node
    for node in "${machines[@]}"; do
        is_there "$node" || continue
        on "$node" cluster status -o json | jq -e .store.halted || return
    done
}

# ---- which programs are whose ----

declare -A node_bin        # where a node's programs are
declare -A has_version     # of those: this or earlier
declare -A programs_of     # this, earlier
programs_of[this]=$(dirname "$(command -v peal)")
[ -z "${earlier:-}" ] || programs_of[earlier]=$earlier

# The program of that node: what a version's agent is asked by its own command line is as it is on such a machine.
on() { # NODE ARGUMENT...
    PEAL_DATA=$scratch/$1 "${node_bin[$1]:-${programs_of[this]}}/peal" "${@:2}"
}

give_version() { # NODE this|earlier
    has_version[$1]=$2
    node_bin[$1]=${programs_of[$2]}
}

# One or two of the nodes have the earlier one, if there is one.
give_versions() {
    local node first=$((RANDOM % 3)) count=$((RANDOM % 2 + 1)) i
    for node in "${machines[@]}"; do
        give_version "$node" this
    done
    [ -n "${earlier:-}" ] || return 0
    for ((i = 0; i < count; i++)); do
        give_version "${machines[(first + i) % 3]}" earlier
    done
}

# Of all nodes: "node-a peal 0.1.0 (633155e067ac), node-b ...".
tell_versions() {
    local node
    for node in "${machines[@]}"; do
        echo "$node $("${node_bin[$node]}/peal" version | head -n 1)"
    done | paste -sd , | sed 's/,/, /g'
}

# The other version of what the node has, if another node keeps this one; else the same.
version_after() { # NODE
    local node
    for node in "${machines[@]}"; do
        if [ -n "${earlier:-}" ] && [ "$node" != "$1" ] && [ "${has_version[$node]}" = "${has_version[$1]}" ]; then
            [ "${has_version[$1]}" = this ] && echo earlier || echo this
            return
        fi
    done
    echo "${has_version[$1]}"
}

# Everything stands, and all nodes know each other.
start_place() {
    local node
    if [ "$(id -u)" -eq 0 ] && add_network 2>"$scratch/network.log"; then
        can_cut=1
    else
        remove_network
    fi
    if [ "$(id -u)" -eq 0 ] && add_disks; then
        can_fill=1
    fi
    start_servers
    start_history
    for node in "${machines[@]}"; do
        set_clock "$node" +0
    done
    give_versions
    start_nodes "${machines[@]}"
}

end_place() {
    end_all
    end_servers
    [ -z "${history_PID:-}" ] || kill "$history_PID"
    remove_disks
    remove_network
}
