#!/bin/bash
# What became of messages: on one node over a restart, and of a cluster from any of its nodes.
# shellcheck source=test/integration/notify/lib.sh
. "$PEAL_SOURCE/test/integration/notify/lib.sh"

export PEAL_LISTEN=none
# shellcheck disable=SC2317 # called by wait_until
log_is() { # OPTIONS JSON: states and jobs, newest first
    # shellcheck disable=SC2086 # several options
    [ "$(peal channel log $1 -o json | jq -c '[.[] | [.channel, .job, .state]]')" = "$2" ]
}

start_agent one --node-id one
run peal channel log
expect_status 0
expect_stderr_has 'no messages'
run peal channel set ops --type webhook --hook "$hook"
expect_status 0
run peal channel set away --type webhook --hook http://127.0.0.1:1/ --give-up 2s
expect_status 0
run peal add fine @manual --notify ops --shell 'exit 3'
run peal add lost-cause @manual --notify away --shell 'exit 4'

# One that waits: tried, with the reason, and when it is tried again.
run peal run fine --wait
expect_status 10
# shellcheck disable=SC2317 # called by wait_until
was_tried() {
    [ "$(peal channel log ops -o json | jq '.[0].tries')" -ge 1 ]
}
wait_until was_tried
run peal channel log ops -o json
expect_json '.[0] | [.node, .channel, .job, .event, .state, .ended_at, (.answer | test("connect")), (.id | endswith("-failure-ops"))]' \
    '["one","ops","fine","failure","waiting",null,true,true]'
run peal doctor
expect_status 0
expect_stdout_has 'warn  channel: ops fails on node one: '
expect_stdout_has 'peal channel log shows its messages'

# It comes, and what the receiver said is kept; another one is given up.
receiver_start
wait_until log_is ops '[["ops","fine","sent"]]'
run peal channel log ops -o json
expect_json '.[0] | [.answer, .next_try_at, (.ended_at >= .made_at), .run != null]' '["HTTP status 200",null,true,true]'
run peal run lost-cause --wait
expect_status 10
wait_until log_is '--state given_up' '[["away","lost-cause","given_up"]]'
run peal channel log
expect_status 0
expect_stdout_has 'HTTP status 200'
expect_stdout_has given_up
run peal --lang zh channel log
expect_stdout_has '已放弃'
run peal channel log --job fine -o name
expect_status 0
expect_stdout_has -failure-ops
run peal channel log --state sent,given_upp
expect_status 6
expect_stderr_has 'there is no state "given_upp"; known: waiting, held, sent, given_up, muted'
run peal channel log opps
expect_status 3
expect_stderr_has 'there is no channel "opps"'
run peal doctor
expect_stdout_lacks 'ops fails'
expect_stdout_has 'warn  channel: away fails on node one: '

# The list outlives the agent, also one that is killed.
kill -9 "$(cat "$PEAL_DATA/peal.pid")"
start_agent one --node-id one
run log_is '' '[["away","lost-cause","given_up"],["ops","fine","sent"]]'
expect_status 0
run peal channel log ops -o json
expect_json '.[0] | [.tries >= 2, .answer]' '[true,"HTTP status 200"]'
run peal stop

# A cluster: each node sends the messages of its runs, and any of them has the list of all.
etcd_start
for node in a b; do
    start_agent "$node" --node-id "$node" --store "$etcd_url/test" --label "at=$node"
done
run peal channel set ops --type webhook --hook "$hook"
expect_status 0
run peal add on-a @manual --notify ops --where at=a --shell 'exit 1'
expect_status 0
run peal add on-b @manual --notify ops --where at=b --shell 'exit 1'
expect_status 0
run peal run on-a --wait
expect_status 10
run peal run on-b --wait
expect_status 10
for node in a b; do
    export PEAL_DATA=$scratch/$node
    wait_until log_is ops '[["ops","on-b","sent"],["ops","on-a","sent"]]'
    run peal channel log ops -o json
    expect_json '[.[].node]' '["b","a"]'
done
run peal --data "$scratch/b" stop
export PEAL_DATA=$scratch/a
run peal channel log ops -o json
expect_status 0
expect_json '[.[].job]' '["on-a"]'
finish
