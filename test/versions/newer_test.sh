#!/bin/bash
# newer_test.sh KIND: what a later version with another format has written is refused as a whole: the message says what is newer and what
# to do, nothing of it is changed, and with that version all goes on. Single values of a later version: integration.damage.
# shellcheck disable=SC2317 # called by name
. "$(dirname "$0")/../integration/lib.sh"
. "$(dirname "$0")/../integration/history_lib.sh"
. "$(dirname "$0")/../integration/redis_lib.sh"

kind=$1
export PEAL_DATA=$scratch/data
step='restore the backup from before'

# Of each kind: its server and options; `raise` and `lower` its format; `tell` all that it has, in lines.
case $kind in
sqlite)
    options=(--store sqlite)
    raise() { sqlite3 "$PEAL_DATA/peal.db" 'PRAGMA user_version = 999'; }
    lower() { sqlite3 "$PEAL_DATA/peal.db" "PRAGMA user_version = $format"; }
    tell() { sqlite3 "$PEAL_DATA/peal.db" .dump; }
    wanted="$PEAL_DATA/peal.db was written by a newer peal (format 999, this one knows "
    ;;
etcd)
    etcd_start
    options=(--store "$etcd_url/jobs")
    # The first byte of the epoch is the version of the value; etcd has its data once more as it is given.
    at() { ETCDCTL_API=3 etcdctl --endpoints "$etcd_endpoint" "$@"; }
    raise() {
        at get /jobs/epoch --print-value-only >"$scratch/epoch"
        head -c -1 "$scratch/epoch" | sed '1s/^./\xfa/' >"$scratch/later"
        at put /jobs/epoch <"$scratch/later" >/dev/null
    }
    lower() { head -c -1 "$scratch/epoch" | at put /jobs/epoch >/dev/null; }
    tell() { at get --prefix /jobs/jobs/ -w json | jq -c '.kvs[] | [.key, .value, .mod_revision]'; }
    wanted='/jobs/ was written by a newer peal'
    ;;
postgres)
    postgres_make trust
    options=(--store "postgresql://peal@127.0.0.1:$postgres_port/peal?schema=jobs")
    raise() { ask 'UPDATE jobs.kv_feed SET format = 999, least = 999' >/dev/null; }
    lower() { ask "UPDATE jobs.kv_feed SET format = $format, least = $least" >/dev/null; }
    tell() { "$postgres_bin/pg_dump" -h "$postgres" -p "$postgres_port" -U peal peal | grep -v -e '^--' -e restrict; }
    wanted='are of a newer peal (format 999; this one knows '
    ;;
redis)
    redis_make
    options=(--store "redis://127.0.0.1:$redis_port?prefix=jobs")
    raise() { redis_say "$redis" HSET '{jobs}:meta' format 999 least 999 >/dev/null; }
    lower() { redis_say "$redis" HSET '{jobs}:meta' format "$format" least "$least" >/dev/null; }
    tell() { for key in keys meta order; do redis_say "$redis" DUMP "{jobs}:$key"; done; }
    wanted='are of a newer peal (format 999; this one knows '
    ;;
esac
case $kind in
sqlite) read_format() { format=$(sqlite3 "$PEAL_DATA/peal.db" 'PRAGMA user_version'); } ;;
etcd) read_format() { :; } ;;
postgres) read_format() { IFS='|' read -r format least < <(ask 'SELECT format, least FROM jobs.kv_feed'); } ;;
redis) read_format() { { read -r format && read -r least; } < <(redis_say "$redis" HMGET '{jobs}:meta' format least); } ;;
esac

start_agent data --node-id one --listen none "${options[@]}"
run peal add kept @manual -- echo here
run peal run kept --wait
expect_status 0
run peal stop
read_format

raise
tell >"$scratch/before"
run peal start -d --node-id one --listen none "${options[@]}"
expect_status 1
expect_stderr_has "$wanted"
expect_stderr_has "$step"
run peal doctor
expect_status 1
expect_stdout_has "$wanted"
tell >"$scratch/after"
run cmp "$scratch/before" "$scratch/after"
expect_status 0

lower
start_agent data --node-id one --listen none "${options[@]}"
run peal run kept --wait
expect_status 0
run peal runs kept -o json
expect_json length 2
finish
