#!/bin/bash
# Muted and acknowledged jobs: who is told what, for how long, over restarts and on all nodes.
# shellcheck source=test/integration/notify/lib.sh
. "$PEAL_SOURCE/test/integration/notify/lib.sh"
export PEAL_LISTEN=none
receiver_start
etcd_start
store=$etcd_url/mute

fail_once() { # JOB
    run peal run "$1" --wait
    expect_status 10
}
# shellcheck disable=SC2317 # called by wait_until
muted_is() { # COUNT: of the messages of all nodes
    [ "$(peal channel log ops --state muted -o json | jq '[.[].held_back + 1] | add // 0')" -eq "$1" ]
}
# shellcheck disable=SC2317 # called by wait_until
mute_has() { # JOB JSON: kind, active, ended
    [ "$(peal get "$1" -o json | jq -c '.status.mute | [.kind, .active, .ended]')" = "$2" ]
}

start_agent a --node-id a --store "$store"
run peal channel set ops --type webhook --hook "$hook"
expect_status 0
run peal add bad @manual --notify ops --shell "test -e '$scratch/well' || exit 3"
run peal add other @manual --notify ops --shell 'exit 4'
fail_once bad
wait_until got_is failure bad 1

# An acknowledgement: no further failures, and its recovery ends it.
run peal ack other
expect_status 4
expect_stderr_has '"other" has no failure to acknowledge'
run peal ack bad --reason 'disk ordered'
expect_status 0
expect_stderr_has 'bad: acknowledged until it succeeds, by '
expect_stderr_has ': disk ordered'
fail_once bad
fail_once bad
wait_until muted_is 2
run peal list
expect_stdout_has 'failed (acknowledged)'
run peal --lang zh list
expect_stdout_has '失败 (已确认)'
run curl -fsS --unix-socket "$PEAL_DATA/api.sock" 'http://peal/api/v1/messages?limit=1'
expect_json '.channels | map([.channel, .node, .state, .muted])' '[["ops","a","ok",2]]'
run peal channel log ops --state muted -o json
expect_json '[.[] | [.job, .event, .state, .held_back, (.answer | test("acknowledged by .*: disk ordered"))]]' \
    '[["bad","failure","muted",1,true]]'
touch "$scratch/well"
run peal run bad --wait
expect_status 0
wait_until got_is recovery bad 1
wait_until mute_has bad '["ack",false,"recovered"]'
run peal describe bad
expect_stdout_has 'acknowledgement ended with a success: '
rm "$scratch/well"
fail_once bad
wait_until got_is failure bad 2

# A mute takes all, on all nodes, also after both have been started anew, until it is taken back.
run peal mute other
expect_status 2
run peal mute other --for 2h --until '2099-01-01'
expect_status 6
run peal mute other --until 2h
expect_status 6
run peal mute other --for 2h --reason "$(printf '%0201d' 0)"
expect_status 6
run peal mute other nobody --for 2h --reason 'new disk'
expect_status 3
expect_stderr_has 'other: muted until '
here=$PEAL_DATA
start_agent b --node-id b --store "$store"
there=$PEAL_DATA
run peal run other --on b --wait
expect_status 10
wait_until muted_is 3
run peal stop
PEAL_DATA=$here run peal stop
PEAL_DATA=$here
run peal start -d --node-id a --store "$store"
PEAL_DATA=$there
run peal start -d --node-id b --store "$store"
wait_until mute_has other '["mute",true,null]'
run peal run other --on a --wait
expect_status 10
run peal run other --on b --wait
expect_status 10
run peal list --muted -o name
expect_stdout other
run curl -fsS --unix-socket "$PEAL_DATA/api.sock" http://peal/api/v1/mutes
expect_json '[.items[] | [.job, .kind, .active, .reason]]' '[["other","mute",true,"new disk"]]'
run peal unmute other
expect_status 0
expect_stderr_has 'other: mute ended: '
run peal unmute other
expect_status 4
expect_stderr_has '"other" is not muted'
PEAL_DATA=$here
wait_until mute_has other '["mute",false,"unmuted"]'
run peal run other --on a --wait
wait_until got_is failure other 1
run peal audit -o json
expect_json '[.[] | select(.action | test("mute|ack")) | [.action, .job, .detail]] | reverse | map([.[0], .[1]])' \
    '[["acknowledge","bad"],["mute","other"],["unmute","other"]]'

# It ends by itself, and says so.
run peal mute other --for 1s
expect_status 0
wait_until mute_has other '["mute",false,"time"]'
run peal describe other
expect_stdout_has 'mute ended: '
run peal run other --on a --wait
wait_until got_is failure other 2
finish
