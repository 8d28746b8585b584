#!/bin/bash
# peal start --store: what it refuses and how it says so, and an agent on a real etcd.
. "$(dirname "$0")/lib.sh"
export PEAL_DATA=$scratch/one

# A store that can't be meant is refused at once, with the place.
while IFS='|' read -r url want; do
    run peal start --store "$url"
    expect_status 6
    expect_stderr_has "peal: --store: $want"
    expect_stderr_has '^'
done <<'TABLE'
mysql://localhost|unknown store "mysql"; peal knows sqlite, etcd://
http://localhost:2379|unknown store "http"; peal knows sqlite, etcd://, postgresql:// and redis://: did you mean etcd://?
etcd://localhost:237x|a port is a number, not "237x"
etcd://::1|an IPv6 address stands in brackets: [::1]:2379
etcd://me:secret@localhost|a password does not belong here
TABLE
PEAL_STORE=etc://x run peal start
expect_status 6
expect_stderr_has 'peal: PEAL_STORE: unknown store "etc"'
run peal start --role api,master
expect_status 6
expect_stderr_has 'a role is api, worker or both (api,worker), not "master"'
run peal start --node-id 'a b'
expect_status 6
expect_stderr_has "a node's id is of letters, digits, dots and dashes"
run peal start --capacity 0
expect_status 6
expect_stderr_has 'the capacity is a number from 1 to'
run peal start --label 'a b=c'
expect_status 6
expect_stderr_has 'a label is NAME=VALUE'

# The same in the configuration file, with its line.
while IFS='|' read -r line want; do
    echo "$line" >"$scratch/bad.yaml"
    run peal start --config "$scratch/bad.yaml"
    expect_status 6
    expect_stderr_has "peal: $scratch/bad.yaml:$want"
done <<'TABLE'
store: mysql://x|1:8: store: unknown store "mysql"
rolle: api|1:1: unknown key "rolle"; did you mean role?
etcd: {pasword_file: /x}|1:8: unknown key "pasword_file"; did you mean password_file?
labels: [a, b]|1:9: labels are names and values, like zone: eu, not a list
labels: {zone: [a]}|1:16: a label has one value, not a list
capacity: none|1:11: capacity: the capacity is a number from 1 to
TABLE

# etcd's user needs a password, which nobody else can read.
run peal start --store etcd://me@127.0.0.1:1
expect_status 6
expect_stderr_has "etcd's user me needs a password"
echo secret >"$scratch/password"
chmod 644 "$scratch/password"
cat >"$scratch/user.yaml" <<END
store: etcd://127.0.0.1:1
etcd: {user: me, password_file: $scratch/password}
END
run peal start --config "$scratch/user.yaml"
expect_status 6
expect_stderr_has "every user can read $scratch/password, which holds a password: chmod 600 it"
expect_stderr_lacks secret
sed -i 's/etcd: .*/etcd: {ca: \/nowhere}/' "$scratch/user.yaml"
run peal start --config "$scratch/user.yaml"
expect_status 6
expect_stderr_has 'write etcds://'

# Nobody answers: told, also by -d, and the new folder stays new.
run peal start -d --store etcd://127.0.0.1:1,127.0.0.1:2/p --node-id wrong
expect_status 5
expect_stderr_has "can't open the store etcd://127.0.0.1:1,127.0.0.1:2/p"
expect_stderr_has '127.0.0.1:1 (Connection refused), 127.0.0.1:2 (Connection refused)'
expect_stderr_has 'Check it: peal doctor --store etcd://127.0.0.1:1,127.0.0.1:2/p'
run test -e "$scratch/one/node"
expect_status 1

etcd_start
start_agent one --store "$etcd_url/p" --node-id one --label zone=eu --label disk=ssd --capacity 7
run peal state
expect_stdout_has "store    $etcd_url/p"
run peal state -o json
expect_json '[.node, .store.url, .nodes]' "[\"one\",\"$etcd_url/p\",1]"
# shellcheck disable=SC2317 # called by wait_until
is_ready() { # NODE
    [ "$(peal nodes -o json | jq -r ".[] | select(.node == \"$1\") | .state")" = ready ]
}
wait_until is_ready one
run peal nodes -o json
expect_json '.[0] | [.node, .state, .labels, .capacity, .roles]' \
    '["one","ready",{"disk":"ssd","zone":"eu"},7,["api","worker"]]'
run peal cluster status -o json
expect_json '.store | [.kind, .endpoints, .prefix, .ok]' "[\"etcd\",[\"$etcd_endpoint\"],\"/p\",true]"
run peal add job @manual -- echo hello
expect_status 0
run peal run job --follow
expect_status 0
expect_stdout hello

# The folder is locked, whichever store is asked for.
run peal start --store "$etcd_url/p"
expect_status 4
expect_stderr_has "uses $scratch/one"
run peal start --store sqlite
expect_status 4

# A restart stays in the cluster; leaving it is said.
run peal restart
expect_status 0
run peal list -o name
expect_stdout job
run peal stop
run peal start -d --node-id other
expect_status 4
expect_stderr_has "the data folder $scratch/one belongs to node one, not other"
run peal start -d --store sqlite
expect_status 0
run peal list -o name
expect_stdout ''
run peal state -o json
expect_json '[.node, .store.url]' '["one","sqlite"]'
run peal stop

# Two prefixes of one etcd know nothing of each other. The store by the environment, the node by
# the file.
cat >"$scratch/two.yaml" <<END
data: $scratch/two
role: worker
node_id: two
labels: {zone: us, spot: }
capacity: 3
address: two.example.org:8080
END
export PEAL_STORE=$etcd_url/other
start_agent two --config "$scratch/two.yaml"
unset PEAL_STORE
run peal list -o name
expect_stdout ''
run peal nodes -o json
expect_json '.[] | [.node, .labels, .capacity, .address, .roles]' \
    '["two",{"spot":"","zone":"us"},3,"two.example.org:8080",["worker"]]'

# A node that only serves the API starts nothing, and has no spawner.
start_agent api --store "$etcd_url/other" --role api --node-id api
wait_until is_ready two
run peal nodes -o json
expect_json '[.[] | [.node, .state]]' '[["api","api"],["two","ready"]]'
run test -e "$scratch/api/spawn"
expect_status 1
run peal add there @manual -- echo from two
run peal run there --wait
expect_status 0

# etcd goes away: said, and nothing hangs.
etcd_stop
# shellcheck disable=SC2317 # called by wait_until
is_unwell() {
    ! peal cluster status
}
wait_until is_unwell
run peal cluster status
expect_status 5
expect_stdout_has "store    $etcd_url/other, not well"
run peal stop
expect_status 0

finish
