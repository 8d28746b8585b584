#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# A Redis that is the store of three nodes is killed, or freezes; Sentinel promotes its replica.
# store_redis_promote_test.sh whole|frozen|behind
#
#   whole    each change waits for the replica: it lacks nothing, and all goes on by itself, within half a
#            second of what the fail-over itself took
#   frozen   the same, of a master that answers nothing, and goes on later
#   behind   no change waits for it (replicas=0), and it lacks the last ones: nothing is started until
#            somebody says so, whoever has seen them
. "$(dirname "$0")/store_cluster_lib.sh"
. "$(dirname "$0")/redis_lib.sh"
how=$1

redis_make # options: none

mapfile -t ports < <(free_ports)
replica=$scratch/redis.2 sentinel=$scratch/sentinel
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
