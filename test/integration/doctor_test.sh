#!/bin/bash
# peal doctor: an embedded agent, a cluster, and what is wrong with either.
. "$(dirname "$0")/lib.sh"
export PEAL_DATA=$scratch/one
export PEAL_DEFAULT_USER=nobody # for an agent of root; one that shares its user is warned of

# Nothing is there yet: nothing has failed.
run peal doctor
expect_status 0
expect_stdout_has 'warn  agent: is not running'
expect_stdout_has "      -> peal start -d --data $scratch/one"

start_agent one --node-id one
run peal doctor
expect_status 0
expect_stdout_has "ok    data folder: $scratch/one is writable"
expect_stdout_has 'ok    agent: running, node one'
expect_stdout_has 'ok    spawner: reachable'
expect_stdout_has "ok    database: $scratch/one/peal.db is intact"
expect_stdout_lacks warn
run peal doctor -o json
expect_json '[.[].verdict] | unique' '["ok"]'
run peal stop

# A history of a newer peal: its format is in four bytes of the file.
run peal doctor
expect_status 0
expect_stdout_has "ok    history: $scratch/one/history.db can be opened"
cp "$scratch/one/history.db" "$scratch/history.db"
printf '\0\0\0c' | dd of="$scratch/one/history.db" bs=1 seek=60 conv=notrunc status=none
run peal doctor
expect_status 1
expect_stdout_has 'was written by a newer peal (its format is 99'
expect_stdout_has 'move the file away to start a new history'
run peal start -d
expect_status 1
expect_stderr_has 'was written by a newer peal (its format is 99'

# One that is damaged.
head -c 4096 /dev/urandom >"$scratch/one/history.db"
run peal doctor
expect_status 1
expect_stdout_has 'FAIL  history:'
expect_stdout_has 'is damaged (file is not a database). Stop peal, move the file away'
mv "$scratch/history.db" "$scratch/one/history.db"

# A database that is damaged.
for page in 2 3 4 5 6 7 8 9; do
    head -c 4096 /dev/urandom | dd of="$scratch/one/peal.db" bs=4096 seek=$page conv=notrunc status=none
done
run peal doctor
expect_status 1
expect_stdout_has 'FAIL  database:'

# Servers that do not answer.
run peal doctor --store etcd://127.0.0.1:1
expect_status 1
expect_stdout_has 'FAIL  etcd 127.0.0.1:1: '
expect_stdout_has 'Connection refused'

etcd_start
export PEAL_DATA=$scratch/two
start_agent two --store "$etcd_url/p" --node-id two
run peal doctor
expect_status 0
expect_stdout_has "ok    etcd $etcd_endpoint: 3."
for check in lease write read watch delete; do
    expect_stdout_has "  $check: " # a warning where the machine is slow just now
done
expect_stdout_lacks FAIL
run peal doctor --store "etcd://$etcd_endpoint,127.0.0.1:1/p" -o json
expect_status 0
expect_json '[.[] | select(.verdict == "warn" and (.check | startswith("etcd "))) | .check]' \
    '["etcd 127.0.0.1:1"]'
export ETCDCTL_API=3
run etcdctl --endpoints "$etcd_endpoint" get --prefix --keys-only /p/doctor
expect_stdout ''
run peal stop

# A user who may not use the prefix.
etcd() {
    etcdctl --endpoints "$etcd_endpoint" "$@" >/dev/null 2>>"$scratch/etcdctl.err" ||
        mismatch "etcdctl $* failed: $(cat "$scratch/etcdctl.err")"
}
etcd user add root:root
etcd user grant-role root root
etcd role add peal
etcd role grant-permission peal --prefix=true readwrite /allowed/
etcd user add peal:secret
etcd user grant-role peal peal
export PEAL_ETCD_PASSWORD=secret
run peal doctor --store "etcd://peal@$etcd_endpoint/allowed"
expect_stdout_has "warn  etcd auth: user peal is configured, but etcd's authentication is off"
expect_stdout_has 'etcdctl auth enable'
etcd auth enable
run peal doctor --store "etcd://peal@$etcd_endpoint/allowed"
expect_status 0
expect_stdout_lacks secret
expect_stdout_lacks 'etcd auth'
run peal doctor --store "etcd://peal@$etcd_endpoint/other"
expect_status 1
expect_stdout_has 'FAIL  write: '
expect_stdout_has 'permission denied'
expect_stdout_has 'grant-permission ROLE --prefix=true readwrite /other/'
run peal start -d --data "$scratch/three" --store "etcd://peal@$etcd_endpoint/other"
expect_status 6
expect_stderr_has 'permission denied'
# What to do next names the file that has the user.
printf 'store: etcd://%s/other\netcd: {user: peal}\n' "$etcd_endpoint" >"$scratch/three.yaml"
run peal start -d --data "$scratch/three" --config "$scratch/three.yaml"
expect_status 6
expect_stderr_has "Check it: peal doctor --config $scratch/three.yaml --store etcd://"
start_agent four --store "etcd://peal@$etcd_endpoint/allowed"
run peal cluster status
expect_status 0
PEAL_ETCD_PASSWORD=wrong run peal start -d --data "$scratch/five" \
    --store "etcd://peal@$etcd_endpoint/allowed"
expect_status 6
expect_stderr_has 'authentication failed'
expect_stderr_lacks wrong

finish
