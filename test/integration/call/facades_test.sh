#!/bin/bash
# Clients of dkron and of the tutorial against the real agent: what they save runs, is tried again,
# is killed, and is found in their logs.
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
start_server
start_agent data --listen none --config "$scratch/peal.yaml" --facade dkron,tutorial

ask() { # PATH [OPTION...]
    local path=$1
    shift
    run curl -sS --unix-socket "$PEAL_DATA/api.sock" "http://peal$path" "$@"
}

# ---- dkron ----
# shellcheck disable=SC2317 # wait_until calls it
executions_are() { # JOB JSON, of [attempt, success], newest first
    local path=/v1/jobs/$1/executions
    [ "$(curl -sS --unix-socket "$PEAL_DATA/api.sock" "http://peal$path" |
        jq -c '[.[] | [.attempt, .success]]')" = "$2" ]
}

# Retries: at once, as executions with their numbers.
# shellcheck disable=SC2016 # the job's shell expands it
ask /v1/jobs -d '{"name":"flaky","schedule":"@manually","retries":3,"executor":"shell",
    "executor_config":{"shell":"true","command":"echo attempt $PEAL_ATTEMPT; test $PEAL_ATTEMPT = 3"}}'
expect_json '[.name, .retries]' '["flaky",3]'
ask /v1/jobs/flaky -X POST
expect_json .name '"flaky"'
wait_until executions_are flaky '[[3,true],[2,false],[1,false]]'
ask /v1/jobs/flaky/executions
expect_json '[.[].output]' '["attempt 3\n","attempt 2\n","attempt 1\n"]'
expect_json '[.[].group] | unique | length' 1
ask /v1/jobs/flaky
expect_json .status '"success"'

# The http executor: request, headers, body, expected code and body, redirects, time limit.
call_as_dkron() { # NAME CONFIG
    ask /v1/jobs -d "{\"name\":\"$1\",\"schedule\":\"@manually\",\"executor\":\"http\",\"executor_config\":$2}"
    expect_json '[.name, .executor]' "[\"$1\",\"http\"]"
    run peal run "$1" --wait
}
call_as_dkron put "{\"method\":\"PUT\",\"url\":\"$at/echo?q=\${x}\",\"headers\":\"[\\\"X-One: 1\\\",\\\"X-Two: a: b\\\"]\",\"body\":\"the body\",\"timeout\":\"20\",\"expectCode\":\"200,206\",\"expectBody\":\"the body\",\"debug\":\"true\"}"
expect_status 0
run peal logs put
# shellcheck disable=SC2016 # not to be expanded
expect_stdout_has 'PUT /echo?q=${x} HTTP/1.1'
expect_stdout_has 'X-One: 1'
expect_stdout_has 'X-Two: a: b'
expect_stdout_has 'the body'
call_as_dkron code "{\"method\":\"GET\",\"url\":\"$at/status/204\",\"expectCode\":\"200,206\"}"
expect_status 10
expect_stderr_has 'HTTP 204, expected 200,206'
call_as_dkron body "{\"method\":\"GET\",\"url\":\"$at/status/200\",\"expectBody\":\"nothing like it\"}"
expect_status 10
expect_stderr_has 'the body does not hold'
call_as_dkron moved "{\"method\":\"GET\",\"url\":\"$at/to/$at/status/200\",\"expectCode\":\"200\"}"
expect_status 0
call_as_dkron slow "{\"method\":\"GET\",\"url\":\"$at/silent\",\"timeout\":\"1\"}"
expect_status 10
expect_stderr_has 'timed_out'
ask /v1/jobs -d '{"name":"open","schedule":"@manually","executor":"http","executor_config":{"method":"GET","url":"https://x/","tlsNoVerifyPeer":"true"}}'
expect_json '[.status, .errors[0].pointer]' '[422,"/executor_config/tlsNoVerifyPeer"]'
# What is read can be sent back, and read as a listing.
ask /v1/jobs/put
cp "$scratch/out" "$scratch/put.json"
ask /v1/jobs -d "@$scratch/put.json"
expect_json .name '"put"'
run peal get put -o json
expect_json .revision 1
ask /v1/jobs
cp "$scratch/out" "$scratch/all.json"
run peal import dkron "$scratch/all.json" --apply
expect_status 0
expect_stderr_has '6 unchanged'

# ---- the tutorial ----
# shellcheck disable=SC2317 # wait_until calls it
log_has() { # JOB NUMBER
    [ "$(curl -sS --unix-socket "$PEAL_DATA/api.sock" "http://peal/job/log?name=$1" |
        jq '.data | length')" = "$2" ]
}
# shellcheck disable=SC2016 # likewise
ask /job/save --data-urlencode 'job={"name":"hi","command":"echo hi; echo $((1 + 1))","cronExpr":"0 0 1 1 * 2099"}'
expect_json . '{"errno":0,"msg":"success","data":null}'
# shellcheck disable=SC2016 # likewise
ask /job/save --data-urlencode 'job={"name":"hi","command":"echo hi; echo $((1 + 2))","cronExpr":"* * * * * * *"}'
expect_json '[.errno, .data.cronExpr]' '[0,"0 0 0 1 1 * 2099"]'
ask /job/list
expect_json '[.data[] | select(.name == "hi")] | length' 1
wait_until newest_is hi ok # every second
ask /job/save --data-urlencode 'job={"name":"hi","command":"exec sleep 1000","cronExpr":"0 0 1 1 * 2099"}'
expect_json .errno 0
# shellcheck disable=SC2317 # wait_until calls it
is_idle() { [ "$(peal runs hi -o json | jq '[.[] | select(.finished_at == null)] | length')" = 0 ]; }
wait_until is_idle
ask '/job/log?name=hi&skip=0&limit=1'
expect_json '[.errno, .data[0].jobName, .data[0].output, .data[0].err]' '[0,"hi","hi\n3\n",""]'
expect_json '[.data[0] | .planTime <= .startTime, .startTime <= .endTime]' '[true,true]'
before=$(peal runs hi -o json -n 1000 | jq length)
run peal run hi
wait_until newest_is hi running
ask /job/kill -d name=hi
expect_json . '{"errno":0,"msg":"success","data":null}'
wait_until newest_is hi killed
wait_until log_has hi $((before + 1 > 20 ? 20 : before + 1))
ask /worker/list
expect_json '[.errno, (.data | length)]' '[0,1]'
ask /job/delete -d name=hi
expect_json '[.errno, .data.name]' '[0,"hi"]'
ask /job/delete -d name=hi
expect_json '[.errno, .data]' '[0,null]'
ask /job/list
expect_json '[.data[] | select(.name == "hi")] | length' 0
run peal get hi
expect_status 3
finish
