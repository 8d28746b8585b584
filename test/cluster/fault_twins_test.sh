#!/bin/bash
# shellcheck disable=SC2317 # what is called by its name
# A node's name, taken twice: a is put to sleep or cut off until its lease is gone, a replacement with
# another data folder starts under its name, and a wakes up. Nothing begins twice, every tick has one
# end, who is shut out says so, and its ends are on record. In which order, the seed decides:
#
#   fault_twins_test.sh [SEED]
export PEAL_TEST_SECONDS=220
. "$(dirname "$0")/lib.sh"

seed=${1:-$((SRANDOM % 32768))}
echo "SEED=$seed"
RANDOM=$seed

# One member of etcd is the only one that a knows: while that sleeps, a is cut off, nobody else.
start_etcd 3
all_members=$endpoints
member_of_a=${endpoints%%,*}
endpoints=${endpoints#*,}
etcd_count=2

start_as_a() { # FOLDER
    [[ " ${nodes[*]} " = *" $1 "* ]] || nodes+=("$1")
    on "$1" start -d --store "etcd://$member_of_a$prefix" --node-id a --capacity 1 --listen none
}
run start_as_a a
expect_status 0
start_nodes b c
end_in 75
{
    for i in {1..9}; do
        echo "tick-$i|* * * * * *|overlap: allow|50|0"
    done
    echo 'beside|*/2 * * * * *|overlap: allow|3000|0'
    echo 'slow|*/3 * * * * *|overlap: skip|1500|0'
    echo 'line|*/2 * * * * *|overlap: {policy: queue, queue: 1000}|800|0'
    echo 'delay|@after 2s|overlap: skip|300|0'
} | apply b
wait_for 10 has_begun tick-1 3

# ---- the first one is away, and comes back ----

leave_asleep() { kill -STOP "$(agent_of a)"; }
return_asleep() { kill -CONT "$(agent_of a)"; }

leave_machine_asleep() { kill -STOP "$(agent_of a)" "$(spawner_of a)"; }
return_machine_asleep() { kill -CONT "$(spawner_of a)" "$(agent_of a)"; }

leave_cut_off() {
    goes_away etcd
    tell_etcd stop 0
}
return_cut_off() {
    tell_etcd cont 0
    is_back etcd
}

# ---- the second one ----

# It reaches etcd by the members that are there.
start_twin() {
    on "$twin" start -d --store "etcd://$endpoints$prefix" --node-id a --capacity 1 --listen none
}

twin_comes_first() { # the name is free, it takes it, the first one wakes up
    wait_for 15 is_no_member a
    run start_twin
    expect_status 0
    "return_$1"
}
both_come_at_once() { # whoever is quicker has the name; the other one is refused, or shut out
    local start
    wait_for 15 is_no_member a
    start_twin 2>"$scratch/err" &
    start=$!
    nap "0.$((RANDOM % 4))"
    "return_$1"
    ran="start_twin beside return_$1"
    wait "$start"
    status=$?
    [ "$status" = 0 ] || expect_status 4
}

# The first one's own words, while another one has its name.
says_shut_out() {
    on a state -o json | jq -e '.state == "shut_out" and (.store.ok | not)'
}
expect_shut_out() {
    local told='node id a belongs to another agent'
    wait_for 12 says_shut_out
    run on a state
    expect_status 8
    expect_stdout_has 'shut out (pid'
    expect_stdout_has "$told"
    expect_stdout_has 'another --node-id'
    run on a doctor
    expect_status 1
    expect_stdout_has "FAIL  agent's name: $told"
    run on a nodes -o json
    expect_json 'map(select(.node == "a") | [.state == "shut_out", .self])' '[[false,false],[true,true]]'
    run curl -s --unix-socket "$scratch/a/api.sock" http://localhost/readyz
    expect_stdout_has "$told"
    run curl -s --unix-socket "$scratch/a/api.sock" http://localhost/metrics
    expect_stdout_has 'peal_shut_out 1'
    run grep -c ' shut_out ' "$scratch/a/peal.log" # once
    expect_stdout $((++times_shut_out))
}

# ---- and one of the two goes ----

start_again() { # FOLDER, under the name that nobody has, or not for long
    wait_for 30 start_as_a "$1"
}

end_stop_twin() {
    run on "$twin" stop
    wait_for 20 is_member a
}
end_kill_twin() {
    kill_machine "$twin"
    unset "away_since[$twin]" # of its node is noted that of the whole round
    wait_for 20 is_member a
}
end_stop_first() {
    run on a stop
    nap 2
    end_stop_twin_for_first
}
end_kill_first() {
    kill_machine a
    nap 2
    end_stop_twin_for_first
}
end_restart_first() { # the name has an owner
    run on a stop
    run start_as_a a
    expect_status 4
    expect_stderr_has 'another agent'
    end_stop_twin_for_first
}
end_stop_twin_for_first() {
    run on "$twin" stop
    start_again a
}

play() { # HOW ORDER END
    round=$((round + 1))
    twin=twin-$round
    nodes+=("$twin")
    echo "$(date +%T) $1, $2, $3"
    goes_away a
    until_ms_of_second $((RANDOM % 1000))
    "leave_$1"
    "$2" "$1"
    if is_up "$twin"; then
        expect_shut_out
        nap $((RANDOM % 3 + 2))
        "end_$3"
    fi
    wait_for 20 is_well a
    is_back a
}

round=0
times_shut_out=0
twin=
ends=(stop_twin kill_twin stop_first kill_first restart_first)
orders=(twin_comes_first twin_comes_first both_come_at_once)
ways=(asleep machine_asleep cut_off)
first=$((RANDOM % 3))
ways=("${ways[@]:first}" "${ways[@]:0:first}")
for way in "${ways[@]}"; do
    play "$way" "${orders[RANDOM % 3]}" "${ends[RANDOM % 5]}"
done

# ---- what each of them has on record ----

# A folder keeps its name, so one after the other is a for a while, and says how its runs ended.
wait_for 60 sh -c "[ \$(date +%s) -gt $(date -d "$end" +%s) ]"
all_nodes=("${nodes[@]}")
is_over_for() { # FOLDER
    is_well "$1" && is_settled_on "$1"
}
run on a stop
for folder in a $(cd "$scratch" && ls -d twin-*); do
    start_again "$folder"
    nap 2 # what its spawner kept is handed in
    wait_for 30 is_over_for "$folder"
    nodes=("$folder" b c)
    run save_ledger b
    expect_status 0
    PEAL_DATA=$scratch/$folder check_logs
    run on "$folder" stop
done
nodes=(b c)
endpoints=$all_members
etcd_count=3
echo "machine 0 $(now_ms)" >>"$scratch/away" # how late is not asked here
check_cluster 60
nodes=("${all_nodes[@]}")
finish
