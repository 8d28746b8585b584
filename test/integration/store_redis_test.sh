#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# Several nodes on one Redis: each tick starts once, whatever becomes of a node, of the server, or of
# its data. What may lose something that it has acknowledged is refused.
. "$(dirname "$0")/store_cluster_lib.sh"
. "$(dirname "$0")/redis_lib.sh"

redis_make # options: none

url=redis://127.0.0.1:$redis_port
export PEAL_DATA=$scratch/a

# What can't be meant, or used, is refused at once.
refused() { # URL STATUS WORDS
    run peal start --data "$scratch/refused" --store "$1" --listen none
    expect_status "$2"
    expect_stderr_has "$3"
}
refused redis://peal:secret@127.0.0.1 6 'a password does not belong here'
refused redis://a,b 6 'redis+sentinel://HOST:PORT'
refused "$url?prefx=x" 6 'there are prefix=NAME, replicas=N, db=N and accept-loss=yes'
refused redis://127.0.0.1:1 5 'Connection refused; start it, or check host and port'
run peal start --data "$scratch/refused" --store etcd://127.0.0.1 --accept-loss
expect_status 6
expect_stderr_has 'only a store in Redis can be told to accept a loss'

# Settings under which it would lose something.
while read -r setting weak strong words; do
    redis_say "$redis" CONFIG SET "$setting" "$weak" >/dev/null
    refused "$url?prefix=weak" 6 "$words"
    expect_stderr_has 'or accept it: --accept-loss'
    run peal start -d --data "$scratch/weak" --store "$url?prefix=weak" --accept-loss --node-id weak --listen none
    expect_status 0
    run peal stop --data "$scratch/weak"
    run peal start -d --data "$scratch/weak" # it is kept
    expect_status 0
    run peal doctor --data "$scratch/weak"
    expect_stdout_has 'warn  changes: '
    expect_stdout_has "-> $words"
    run peal stop --data "$scratch/weak"
    redis_say "$redis" CONFIG SET "$setting" "$strong" >/dev/null
done <<'END'
appendfsync everysec always CONFIG SET appendfsync always
appendonly no yes CONFIG SET appendonly yes
maxmemory-policy allkeys-lru noeviction CONFIG SET maxmemory-policy noeviction
END

start_cluster "$url"
run peal doctor
expect_status 0
expect_stdout_has 'ok    Redis: '
expect_stdout_has 'ok    changes: on disk before they are acknowledged'
expect_stdout_has 'ok    replicas: 0, and changes wait for all of them'
expect_stdout_has 'ok    memory: '
expect_stdout_has 'ok    connections: '
expect_stdout_has 'ok    its clock: '
expect_stdout_has 'ok    lease: allowed'
expect_stdout_has 'ok    write: allowed: p50 '
expect_stdout_has 'ok    watch: from a write to its event: p50 '
run peal cluster status -o json
expect_json '[.store.kind, .store.url]' "[\"redis\",\"$url\"]"
run peal lock build -- true
expect_status 0

# A node dies: the others have its ticks, and tell that it is gone.
kill -9 "$(cat "$scratch/c/peal.pid")"
more_ticks 3
is_gone() {
    [ "$(peal nodes -o json | jq -r '.[] | select(.node == "c") | .state')" != ready ]
}
wait_until is_gone
run peal start -d --data "$scratch/c"
expect_goes_on 'a node that died'

# The server dies and comes back, with all that it has acknowledged.
redis_kill "$redis"
redis_start "$redis" "$redis_port"
expect_goes_on 'a crash of the server'

# By its socket, over the same data.
run peal list --data "$scratch/a" -o json
jobs=$(cat "$scratch/out")
run peal start -d --data "$scratch/d" --store "redis+unix://$redis/s" --node-id d --listen none
expect_status 0
run peal list --data "$scratch/d" -o json
[ "$(jq -c '[.[] | .name]' "$scratch/out")" = "$(jq -c '[.[] | .name]' <<<"$jobs")" ] || mismatch 'other jobs'
run peal stop --data "$scratch/d"
nodes_are() { # JSON: those that are still there
    [ "$(peal nodes -o json | jq -c '[.[] | select(.node != "d") | [.node, .state]]')" = "$1" ]
}
expect_all_accounted

# Its data are put back to what they were, then are gone: nothing is started until somebody says so.
redis_kill "$redis"
cp -a "$redis/appendonlydir" "$scratch/backup"
redis_start "$redis" "$redis_port"
more_ticks 3
redis_kill "$redis"
rm -rf "$redis/appendonlydir"
cp -a "$scratch/backup" "$redis/appendonlydir"
redis_start "$redis" "$redis_port"
expect_halts 'a backup was put back' 'restored from a backup'
expect_goes_on 'a person has looked'
redis_say "$redis" FLUSHALL >/dev/null
expect_halts 'it was flushed' 'all data of peal in Redis are gone'
expect_none_doubled
finish
