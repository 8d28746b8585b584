#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# Agents, machines and members of etcd die, sleep and come back at random moments, one fault after
# the other. PEAL_SEED repeats a run, FAULT_SECONDS makes it longer, PEAL_VERBOSE tells each fault.
FAULT_SECONDS=${FAULT_SECONDS:-40}
export PEAL_TEST_SECONDS=$((FAULT_SECONDS + 120))
. "$(dirname "$0")/lib.sh"

seed=${PEAL_SEED:-$((SRANDOM % 32768))}
echo "PEAL_SEED=$seed FAULT_SECONDS=$FAULT_SECONDS"
RANDOM=$seed

start_etcd 3
start_nodes a b c
end_in "$FAULT_SECONDS"
apply a <<'TABLE'
second-1|* * * * * *|overlap: skip|200|0
second-2|* * * * * *|overlap: skip|200|0
second-3|* * * * * *|overlap: skip|200|0
second-4|* * * * * *|overlap: skip|200|0
rate|@every 2s|overlap: {policy: queue, queue: 1000}|900|0
delay|@after 1s|overlap: skip|300|0
replaced|*/3 * * * * *|overlap: replace, grace: 2s|5000|0
beside|*/2 * * * * *|overlap: allow|3000|0
failing|*/5 * * * * *|overlap: queue|100|3
endless|*/7 * * * * *|overlap: skip, timeout: 1s, grace: 1s|60000|0
TABLE

nap_ms() { # MILLISECONDS
    nap "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"
}

tell() { # WHAT
    [ -z "${PEAL_VERBOSE:-}" ] || echo "$(date +%T.%N | cut -c 1-12) $*"
}

# One fault; afterwards everything is there again, if not yet well.
hurt() { # WHAT
    local node member
    local all=(a b c)
    node=${all[RANDOM % 3]}
    member=$((RANDOM % 3))
    case $1 in
    0 | 1)
        tell "kill agent $node"
        kill_agent "$node"
        nap_ms $((RANDOM % 9000))
        bring_back "$node"
        ;;
    2)
        tell "kill machine $node"
        kill_machine "$node"
        nap_ms $((RANDOM % 9000))
        bring_back "$node"
        ;;
    3)
        tell "freeze $node"
        freeze "$node"
        nap_ms $((RANDOM % 9000))
        thaw "$node"
        ;;
    4)
        node=$(leader)
        node=${node:-a}
        tell "freeze the leader $node, then kill it"
        freeze "$node"
        nap_ms $((RANDOM % 7000))
        kill_hard "$(agent_of "$node")"
        bring_back "$node"
        ;;
    5)
        tell "kill etcd $member"
        goes_away etcd
        tell_etcd kill $member
        nap_ms $((RANDOM % 3000))
        tell_etcd start $member
        is_back etcd
        ;;
    6)
        tell "freeze etcd $member"
        goes_away etcd
        tell_etcd stop $member
        nap_ms $((RANDOM % 5000))
        tell_etcd cont $member
        is_back etcd
        ;;
    7)
        tell "no quorum"
        goes_away etcd
        tell_etcd stop $member
        tell_etcd stop $(((member + 1) % 3))
        nap_ms $((RANDOM % 7000))
        tell_etcd cont $member
        tell_etcd cont $(((member + 1) % 3))
        is_back etcd
        ;;
    8)
        tell "stop $node"
        goes_away "$node"
        on "$node" stop 2>/dev/null
        bring_back "$node"
        ;;
    9)
        tell "compact"
        ctl compact "$(ctl get / -w json 2>/dev/null | jq .header.revision)" >/dev/null 2>&1
        ;;
    esac
}

# Claims and begins happen in the tenth of a second before a tick: half of the faults do.
wait_for_a_moment() {
    local ms=$((RANDOM % 1500))
    if [ $((RANDOM % 2)) -eq 1 ]; then
        until_ms_of_second $((890 + RANDOM % 120))
    else
        nap_ms $ms
    fi
}

faults=0
stop_at=$(($(now_ms) + FAULT_SECONDS * 1000))
while [ "$(now_ms)" -lt $stop_at ]; do
    wait_for_a_moment
    hurt $((RANDOM % 10))
    faults=$((faults + 1))
done
echo "$faults faults"

for node in a b c; do
    wait_for 30 is_member $node
done
check_cluster 90
finish
