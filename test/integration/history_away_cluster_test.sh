#!/bin/bash
# Two nodes that share a PostgreSQL which is away: each shows what waits on the disks of both, and
# its output; one that is gone with its records is named.
# shellcheck disable=SC2317 # functions are called by wait_until
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"

etcd_start
postgres_make trust
on() { # NODE ARGUMENT...
    PEAL_DATA=$scratch/$1 peal "${@:2}"
}
for node in one two; do
    start_agent $node --store "$etcd_url/away" --node-id $node --label "name=$node" --listen none \
        --history "postgresql://peal@127.0.0.1:$postgres_port/peal"
    run on $node add "on-$node" @manual --where "name=$node" --overlap allow -- echo "hello from $node"
    expect_status 0
done
knows() { on one get on-two && on two get on-one; }
wait_until knows
run_both() {
    for node in one two; do
        run on $node run "on-$node" --wait
        expect_status 0
    done
}
run_both
is_recorded() { [ "$(ask 'SELECT count(*) FROM runs')" = 2 ]; }
wait_until is_recorded

postgres_stop "$postgres"
run_both
sees() { # NODE: both runs, which wait
    [ "$(on "$1" runs -o json | jq -c 'map(select(.spooled) | .job) | sort')" = '["on-one","on-two"]' ]
}
for node in one two; do
    wait_until sees $node
    run on $node runs
    expect_status 0
    expect_stderr_has "the history's database does not answer"
done
run on one logs "$(on one runs on-two -n 1 -o name)"
expect_status 0
expect_stdout 'hello from two'

# A node that is gone with what waits there is named.
kill -9 "$(cat "$scratch/two/peal.pid")"
names_two() { on one runs 2>&1 >/dev/null | grep -q '^node two '; }
wait_until names_two
run on two restart
expect_status 0
wait_until sees one

postgres_start "$postgres" "$postgres_port"
all_is_recorded() { [ "$(ask 'SELECT count(*) FROM runs')" = 4 ]; }
wait_until all_is_recorded
none_waits() { # NODE
    [ "$(on "$1" runs -o json | jq -c '[length, (map(select(.spooled)) | length)]')" = '[4,0]' ]
}
for node in one two; do
    wait_until none_waits $node
    run on $node runs -o json
    expect_stderr ''
    run on $node stats -o json
    expect_json 'map(.ok) | add' 4
done
finish
