#!/bin/bash
# Jobs of dkron from its own listing: shown, added, run; what can't be converted is told.
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
start_server
start_agent data --listen none --config "$scratch/peal.yaml"

listing=$scratch/jobs.json
cat >"$listing" <<END
[
{"id":"check","name":"check","displayname":"","timezone":"","schedule":"","owner":"","owner_email":"","success_count":0,"error_count":0,"last_success":null,"last_error":null,"disabled":false,"tags":null,"metadata":null,"retries":0,"dependent_jobs":null,"parent_job":"load","processors":null,"concurrency":"allow","executor":"http","executor_config":{"method":"POST","url":"$at/echo","headers":"[\"X-Job: check\"]","body":"a=\${b}","timeout":"20","expectCode":"200","expectBody":"a="},"status":"","next":"0001-01-01T00:00:00Z","ephemeral":false,"starts_at":null,"expires_at":null},
{"id":"load","name":"load","displayname":"The load","timezone":"Asia/Shanghai","schedule":"@every 8760h","owner":"Ops","owner_email":"ops@example.org","success_count":7,"error_count":1,"last_success":"2026-01-01T00:00:00Z","last_error":null,"disabled":true,"tags":{},"metadata":{"team":"db"},"retries":2,"dependent_jobs":["check"],"parent_job":"","processors":{},"concurrency":"forbid","executor":"shell","executor_config":{"command":"echo load \$PEAL_ATTEMPT; test \$PEAL_ATTEMPT = 3","shell":"true","env":"A=b","timeout":"1m"},"status":"success","next":"2027-01-01T00:00:00Z","ephemeral":false,"starts_at":null,"expires_at":null},
{"name":"insecure","schedule":"@hourly","executor":"http","executor_config":{"method":"GET","url":"https://x/","tlsNoVerifyPeer":"true"}},
{"name":"piped","schedule":"@hourly","executor":"shell","executor_config":{"command":"x"},"processors":{"files":{"forward":"true"}}},
{"name":"orphan","schedule":"","parent_job":"gone","executor":"shell","executor_config":{"command":"true"}}
]
END

run peal import dkron "$listing" --prefix old/
expect_status 6
expect_stdout_has 'after: [old/load]'
expect_stderr_has "$listing:4:130: error: job \"insecure\": executor_config/tlsNoVerifyPeer: certificates are always verified"
expect_stderr_has 'error: job "piped": processors: peal keeps all output itself'
expect_stderr_has 'warning: job "orphan": its parent "gone" is not among the imported jobs'
expect_stderr_has '3 jobs; nothing was changed'
expect_stderr_has '2 tasks could not be imported'
run peal import dkron "$listing" --lang zh
expect_stderr_has '任务“piped”：processors: '
expect_stderr_lacks 'peal keeps all output'

run peal import dkron "$listing" --prefix old/ --apply
expect_status 6
expect_stdout_has 'created old/load'
run peal get old/load -o json
expect_json '[.schedule, .timezone, .paused, .timeout, .labels.team, .notes, .owner, .retries.count, .retries.wait, .env.A]' \
    '["@every 8760h","Asia/Shanghai",true,"1m","db","The load","Ops <ops@example.org>",2,"0s","b"]'
run_with_stdin "$listing" peal import dkron - --prefix old/ --apply
expect_stderr_has '3 unchanged'

# Two retries, at once; the child is a call, after the last attempt.
run peal run old/load --follow
expect_status 0
expect_stdout 'load 1
load 2
load 3'
wait_until newest_is old/check ok
run peal logs old/check
expect_stdout_has 'POST /echo HTTP/1.1'
expect_stdout_has 'X-Job: check'
# shellcheck disable=SC2016 # not to be expanded
expect_stdout_has 'a=${b}'
run peal runs old/check -o json
expect_json length 1

# What is no listing.
echo '{"error":"leader not found"}' >"$scratch/other.json"
run peal import dkron "$scratch/other.json"
expect_status 6
expect_stderr "$scratch/other.json:1:1: expected dkron's list of jobs, the answer of GET /v1/jobs, found a map"
run peal import dkron
expect_status 2
finish
