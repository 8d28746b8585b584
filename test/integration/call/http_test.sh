#!/bin/bash
# Jobs that are HTTP calls: requests, answers, limits, addresses, kill and timeout.
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
start_server
start_agent data --listen none --config "$scratch/peal.yaml"

# ---- an answer ----
call /status/200
expect_end ok 'HTTP 200'
run peal logs "$(cat "$scratch/id")"
expect_stdout 'HTTP/1.1 200 Whatever
X-Test: yes
Content-Length: 11

status 200'
expect_requests /status/200 1
run jq '.[0].exit_code' "$scratch/run"
expect_stdout null

call /status/503
expect_end failed/http_status 'HTTP 503, expected 200-299'
run peal logs "$(cat "$scratch/id")"
expect_stdout_has 'status 503'
expect_stderr_has "peal: HTTP 503, expected 200-299"
call /status/404 --status 200 --status 400-499
expect_end ok 'HTTP 404'
call /status/200 --match 'status 2'
expect_end ok
call /status/200 --match 'status 3'
expect_end failed/http_body 'HTTP 200, but the body does not hold "status 3"'
apply <<END
name: forbids
schedule: '@manual'
http: {url: '$at/status/200', no_match: 'us 20'}
END
run peal run forbids --wait
expect_stderr_has 'HTTP 200, but the body holds "us 20"'
call /status/204 --method HEAD
expect_end ok
run tail -n 1 "$scratch/requests"
expect_stdout 'HEAD /status/204'

# ---- the request ----
apply <<END
name: team/echo
schedule: '@manual'
env: {API_TOKEN: "a b\"c", EMPTY: ""}
http:
  url: $at/echo?job=\${PEAL_JOB}&token=\${API_TOKEN}
  method: PUT
  headers: {X-Token: "\${API_TOKEN}", X-Plain: "\$\${API_TOKEN}", X-Empty: "\${EMPTY}", Content-Type: text/x-test}
  body: "run \${PEAL_RUN_ID} at \${PEAL_TICK}, attempt \${PEAL_ATTEMPT}, \$\${PEAL_JOB}"
END
expect_status 0
run peal run team/echo --wait
expect_status 0
id=$(cat "$scratch/out")
run peal logs "$id"
expect_stdout_has 'PUT /echo?job=team%2Fecho&token=a%20b%22c HTTP/1.1'
expect_stdout_has 'X-Token: a b"c'
# shellcheck disable=SC2016 # not to be expanded
expect_stdout_has 'X-Plain: ${API_TOKEN}'
expect_stdout_has 'X-Empty:'
expect_stdout_has 'Content-Type: text/x-test'
expect_stdout_has "run $id at 20"
# shellcheck disable=SC2016
expect_stdout_has ', attempt 1, ${PEAL_JOB}'
expect_stdout_lacks 'Expect:'
call /echo --body x
run peal logs "$(cat "$scratch/id")"
expect_stdout_has 'POST /echo'
expect_stdout_lacks 'Content-Type'

# A header can't be made two by a value.
apply <<END
name: split
schedule: '@manual'
env: {TWO: "a\r\nX-Evil: yes"}
http: {url: '$at/status/200', headers: {X-One: '\${TWO}'}}
END
expect_status 0
run peal run split --wait
expect_stderr_has 'the header X-One would hold a line break'
# shellcheck disable=SC2016
run peal add unknown @manual --http 'http://h/${NONE}'
expect_status 6
expect_stderr_has 'there is no variable NONE'
run peal add both @manual --http http://h --shell true
expect_stderr_has 'one of a command after --, --shell and --http is enough'
run peal add where @manual --http http://h --cwd /srv
expect_status 6
expect_stderr_has 'cwd: is for jobs with a process; an HTTP call has none'

# Some statuses are worth another attempt, others are not.
apply <<END
name: later
schedule: '@manual'
http: {url: '$at/status/503'}
retries: {count: 1, wait: 1s, on: 'http 429,500-599'}
---
name: never
schedule: '@manual'
http: {url: '$at/status/404'}
retries: {count: 1, wait: 1s, on: ['http 429,500-599', no_response]}
END
expect_status 0
run peal run later --wait
run peal run never --wait
# shellcheck disable=SC2317 # called by wait_until
is_tried_twice() {
    peal runs later -o json | jq -e 'length == 2 and all(.[]; .state == "failed")'
}
wait_until is_tried_twice
run sh -c 'peal runs never -o json | jq -c "[.[] | [.attempt, .reason, .retried]]"'
expect_stdout '[[1,"http_status",false]]'

# ---- addresses ----
call "http://127.0.0.2:$port/status/200"
expect_end failed/http_error '127.0.0.2 is a loopback address, which calls may reach only if http_allow'
call "http://[::1]:$port/status/200"
expect_end failed/http_error '::1 is a loopback address'
call "http://[::ffff:127.0.0.2]:$port/status/200"
expect_end failed/http_error 'loopback address'
call http://0x7f000002:"$port"/status/200
expect_end failed/http_error 'loopback address'
call http://169.254.169.254/latest/meta-data/
expect_end failed/http_error '169.254.169.254 is a link-local (metadata) address'
call http://10.0.0.1/
expect_end failed/http_error '10.0.0.1 is a private address'
# By a redirect, and by one that goes back and forth.
apply <<END
- name: away
  schedule: '@manual'
  http: {url: '$at/to/http://127.0.0.2:$port/status/200', redirects: 3}
- name: back
  schedule: '@manual'
  http: {url: '$at/to/$at/status/201', redirects: 1}
- name: not-followed
  schedule: '@manual'
  http: $at/to/$at/status/202
- name: loop
  schedule: '@manual'
  http: {url: '$at/loop', redirects: 3}
- name: other-scheme
  schedule: '@manual'
  http: {url: '$at/to/file:///etc/passwd', redirects: 3}
END
expect_status 0
run peal run away --wait
expect_stderr_has '127.0.0.2 is a loopback address'
run peal run back --wait
expect_stderr_has 'ok after'
run peal logs back
expect_stdout_has 'HTTP/1.1 302 Whatever'
expect_stdout_has 'HTTP/1.1 201 Whatever'
run peal run not-followed --wait
expect_stderr_has 'HTTP 302, expected 200-299'
expect_requests /status/202 0
run peal run loop --wait
expect_stderr_has 'Maximum (3) redirects followed'
expect_requests /loop 4
run peal run other-scheme --wait
expect_stderr_has 'failed'
run peal logs other-scheme
expect_stdout_lacks root:

# ---- servers that misbehave ----
call /cut
expect_end failed/http_error
call /close
expect_end failed/http_error 'Empty reply from server'
expect_requests /close 1
call /garbage
expect_end failed/http_error
call /framing
expect_end failed/http_error
call /heads
expect_end failed/http_error 'the head of the answer is longer than 256 KiB'
call http://127.0.0.1:1/
expect_end failed/http_error
call http://no-such-host.invalid/
expect_end failed/http_error 'no-such-host.invalid'
call /silent --timeout 1s
expect_end timed_out/timeout
run peal logs "$(cat "$scratch/id")"
expect_stderr_has "peal: no whole answer within 1 s"
call /body --timeout 1s
expect_end timed_out/timeout

# ---- a large answer ----
apply <<END
name: big
schedule: '@manual'
http: {url: '$at/big/1000000', match: '0000000000960000'}
output_limit: 10KiB
END
run peal run big --wait
expect_stderr_has 'does not hold'
apply <<END
name: big
schedule: '@manual'
http: {url: '$at/big/1000000', match: '000000000960000'}
output_limit: 10KiB
END
run peal run big --wait
expect_status 0
run peal logs big
expect_stdout_has '000000000000000'
expect_stdout_has '000000000999984'
expect_stdout_lacks '000000000500000'
run peal runs big -o json
expect_json '.[0].output_truncated' true

# ---- live, and killed ----
run peal add slow @manual --http "$at/slow/100"
run peal run slow
slow=$(cat "$scratch/out")
peal logs -f "$slow" >"$scratch/live" 2>/dev/null &
follower=$!
wait_until grep -q 'line 03' "$scratch/live"
run peal kill "$slow"
expect_status 0
wait $follower
run peal runs slow -o json
expect_json '.[0].state' '"killed"'
expect_json '.[0].reason' '"user"'
run peal logs slow
expect_stdout_lacks 'line 99'

# ---- what others see ----
run peal doctor
expect_stdout_has "ok    peal-call's version: "

# ---- another list, without a restart ----
printf 'http_allow: 127.0.0.2\n' >"$scratch/peal.yaml"
kill -HUP "$(peal state -o json | jq .pid)"
# shellcheck disable=SC2317 # called by wait_until
changed() {
    call "http://127.0.0.2:$port/status/206"
    [ "$(jq -r '.[0].state' "$scratch/run")" = ok ]
}
wait_until changed
call /status/207
expect_end failed/http_error '127.0.0.1 is a loopback address'
expect_requests /status/207 0

finish
