#!/bin/bash
# Tasks of gocron as jobs: shown, added, run; what can't be converted is told.
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
start_server
start_agent data --listen none --config "$scratch/peal.yaml"

listing=$scratch/tasks.json
cat >"$listing" <<END
{"code":0,"message":"操作成功","data":{"total":6,"data":[
{"id":6,"name":"收 尾","level":2,"dependency_task_id":"","dependency_status":1,"spec":"","protocol":2,"command":"echo after \$PEAL_AFTER_JOB","http_method":1,"timeout":0,"multi":0,"retry_times":0,"retry_interval":0,"notify_status":0,"notify_type":0,"notify_receiver_id":"","notify_keyword":"","tag":"","remark":"","status":1,"created":"2020-01-01T00:00:00+08:00","deleted":"0001-01-01T00:00:00Z","hosts":null,"next_run_time":"0001-01-01T00:00:00Z"},
{"id":5,"name":"弱依赖","level":1,"dependency_task_id":"6","dependency_status":2,"spec":"0 0 3 1 1 ?","protocol":2,"command":"exit 3","multi":1,"retry_times":2,"retry_interval":1,"status":1},
{"id":4,"name":"form","level":1,"spec":"0 0 3 1 1 *","protocol":1,"command":"$at/echo?a=b&c=\${PEAL_JOB}","http_method":2,"timeout":20,"multi":1,"status":1},
{"id":3,"name":"only 200","level":1,"spec":"0 0 3 1 1","protocol":1,"command":"$at/status/204","http_method":1,"multi":1,"status":1,"notify_status":1,"notify_type":3},
{"id":2,"name":"备份","level":1,"dependency_task_id":"6","dependency_status":1,"spec":"@every 8760h","protocol":2,"command":"echo \"backup of \$PEAL_JOB\"; [ -n \"\$BASH_VERSION\" ]","timeout":60,"multi":0,"tag":"运维","remark":"每天","status":0,"hosts":[{"id":9,"task_id":2,"host_id":1,"name":"10.0.0.5","port":5921,"alias":"db"}]},
{"id":1,"name":"备份","level":1,"spec":"0 61 * * * *","protocol":2,"command":"true","status":1}
]}}
END
cp "$listing" "$scratch/before"

# ---- only shown ----
run peal import gocron "$listing"
expect_status 6
expect_stdout_has 'name: "备份-2"'
expect_stdout_has 'after: [{job: "弱依赖", "on": always}]'
expect_stderr_has "$listing:7:"
expect_stderr_has 'error: task 1 "备份": schedule: minute 61 is out of range'
expect_stderr_has 'warning: task 2 "备份": gocron runs it on the host db (10.0.0.5:5921)'
expect_stderr_has 'warning: task 3 "only 200": gocron tells of failures by a webhook'
expect_stderr_has 'info: task 6 "收 尾": runs after each of 2 tasks'
expect_stderr_has 'http_allow'
expect_stderr_has '6 jobs; nothing was changed, --apply adds them'
expect_stderr_has '1 task could not be imported'
run peal list -o json
expect_json length 0
run peal import gocron "$listing" --lang zh
expect_stderr_has '任务 2“备份”：gocron 在主机 db (10.0.0.5:5921) 上运行'
expect_stderr_has '1 个任务未能导入'

# ---- added ----
run peal import gocron "$listing" --prefix old/ --apply
expect_status 6
expect_stdout_has 'created old/备份-2'
expect_stdout_has 'created old/收-尾-after-5'
run peal get old/备份-2 -o json
expect_json '[.schedule, .paused, .timeout, .labels.tag, .notes, .overlap // "skip", .catch_up]' \
    '["@every 8760h",true,"1m","运维","每天\nHosts in gocron: db (10.0.0.5:5921)","skip","skip"]'
run peal get old/only-200 -o json
expect_json '[.schedule, .http.status, .http.redirects, .timeout, .overlap]' '["0 0 3 1 1 *","200",10,"5m","allow"]'
run_with_stdin "$listing" peal import gocron - --prefix old/ --apply
expect_stderr_has '6 unchanged'
run peal add old/form @manual --replace -- true
run peal import gocron "$listing" --prefix old/ --apply
expect_status 4
expect_stderr_has 'there is another job named old/form'
run peal import gocron "$listing" --prefix old/ --apply --replace
expect_stdout_has 'changed old/form'
run cmp "$listing" "$scratch/before"
expect_status 0

# ---- a shell task, and its child after success ----
run peal run old/备份-2 --follow
expect_status 0
expect_stdout 'backup of old/备份-2'
wait_until newest_is old/收-尾 ok
run peal logs old/收-尾
expect_stdout 'after old/备份-2'

# ---- three attempts, a second apart; the child of a weak dependency runs after the last ----
run peal run old/弱依赖 --wait
expect_status 10
run peal runs old/弱依赖 -o json
expect_json '[.[] | [.attempt, .attempts, .state, .exit_code]]' \
    '[[3,3,"failed",3],[2,3,"failed",3],[1,3,"failed",3]]'
wait_until newest_is old/收-尾-after-5 ok
run peal runs old/收-尾-after-5 -o json
expect_json length 1

# ---- HTTP: the query of a POST is its body; only 200 is a success ----
run peal run old/form --wait
expect_status 0
run peal logs "$(cat "$scratch/out")"
expect_stdout_has 'POST /echo HTTP/1.1'
expect_stdout_has 'Content-Type: application/x-www-form-urlencoded'
# shellcheck disable=SC2016 # not to be expanded
expect_stdout_has 'a=b&c=${PEAL_JOB}'
run peal run old/only-200 --wait
expect_status 10
expect_stderr_has 'HTTP 204, expected 200'

# ---- what is no listing ----
printf '{"code":401,"message":"认证失败"}' >"$scratch/refused.json"
run peal import gocron "$scratch/refused.json" --apply
expect_status 6
expect_stderr "$scratch/refused.json:1:9: this is gocron's answer to a call that failed: code 401, \"认证失败\""
head -c 700 "$listing" >"$scratch/cut.json"
run peal import gocron "$scratch/cut.json"
expect_status 6
expect_stdout ''
expect_stderr_has "$scratch/cut.json:3:"
run peal import gocron "$scratch/nowhere.json"
expect_status 3
run peal import gocron
expect_status 2
run peal import gocron "$listing" --prefix 'a b'
expect_status 2
finish
