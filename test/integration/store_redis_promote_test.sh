#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# A Redis that is the store of three nodes is killed, or freezes; Sentinel promotes its replica.
# store_redis_promote_test.sh whole|frozen|behind|first
#
#   whole    each change waits for the replica: it lacks nothing, and all goes on by itself, within half a
#            second of what the fail-over itself took
#   frozen   the same, of a master that answers nothing, and goes on later
#   behind   no change waits for it (replicas=0), and it lacks the last ones: nothing is started until
#            somebody says so, whoever has seen them
#   first    nothing is killed: a master gets its first replica, with which it begins another history, and nodes
#            lose one of their two connections
. "$(dirname "$0")/store_cluster_lib.sh"
. "$(dirname "$0")/redis_lib.sh"
how=$1

node_is_well() { # NODE: it is told what it has written
    peal state --data "$scratch/$1" -o json | jq -e '.store.ok'
}

redis_make # options: none

mapfile -t ports < <(free_ports)
replica=$scratch/redis.2 sentinel=$scratch/sentinel
if [ "$how" = first ]; then
    start_cluster "redis://127.0.0.1:$redis_port"
    before=$(redis_say "$redis" INFO replication | grep '^master_replid:')
    redis_follow "$replica" "${ports[0]}"
    [ "$(redis_say "$redis" INFO replication | grep '^master_replid:')" != "$before" ] || mismatch 'the history is the same'
    for reader in $(redis_say "$redis" CLIENT LIST | grep -F cmd=xread | cut -d ' ' -f 1); do
        redis_say "$redis" CLIENT KILL ID "${reader#id=}" >/dev/null
    done
    expect_goes_on 'the first replica came'
    for node in "${nodes[@]}"; do
        wait_until node_is_well "$node"
    done
    run peal doctor
    expect_stdout_has 'ok    replicas: 1, and changes wait for all of them'
    expect_all_accounted
    expect_none_doubled
    finish
fi
redis_follow "$replica" "${ports[0]}"
sentinel_start "$sentinel" "${ports[1]}" 500
wait_until sentinel_knows "$sentinel" 1
revision() { # FOLDER
    redis_say "$1" HGET '{peal}:meta' rev
}
replica_lacks() { # REVISIONS, at least
    [ $(($(revision "$redis") - $(revision "$replica"))) -ge "$1" ]
}

parameters=
[ "$how" != behind ] || parameters='?replicas=0'
start_cluster "redis+sentinel://127.0.0.1:1,127.0.0.1:${ports[1]}/jobs$parameters" # the first one is not there
run peal doctor
expect_stdout_has 'ok    Redis'
if [ "$how" = behind ]; then
    expect_stdout_has 'warn  replicas: 1, and changes wait for 0: one that is promoted can lack the last ones'
    redis_say "$replica" CONFIG SET masterauth wrong >/dev/null # so that it does not come back
    redis_say "$replica" CLIENT KILL TYPE master >/dev/null
    wait_until replica_lacks 5
else
    expect_stdout_has 'ok    replicas: 1, and changes wait for all of them'
fi
hurt_ms=$(now_ms)
if [ "$how" = frozen ]; then
    redis_signal "$redis" STOP
else
    redis_kill "$redis"
fi
wait_until redis_is_master "$replica"
wait_until sentinel_names "$sentinel" "${ports[0]}" # it looks once a second
promoted_ms=$(now_ms)

if [ "$how" = behind ]; then
    expect_halts 'a replica was promoted that lacks changes' 'Redis'
    expect_goes_on 'a person has looked'
    expect_none_doubled
    finish
fi

expect_goes_on 'the promotion'
tell_first_start "$hurt_ms" "$promoted_ms"
if [ "$how" = frozen ]; then
    redis_signal "$redis" CONT
else # as a replica of the new master, which Sentinel makes it
    redis_start "$redis" "$redis_port"
fi
wait_until redis_follows "$redis"
expect_goes_on 'the former master came back'
run peal doctor
expect_stdout_has 'ok    replicas: 1, and changes wait for all of them'
expect_all_accounted
finish
