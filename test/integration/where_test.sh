#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# A job whose `where` no node matches: a warning, with the label and since when, wherever one looks,
# until a node has it.
. "$(dirname "$0")/lib.sh"

PEAL_DATA=$scratch/data
export PEAL_DATA
run peal start -d --listen none --label zone=eu
expect_status 0
run peal add render @manual --where zone=eu,gpu -- true
expect_status 0
run peal add plain @manual -- true
expect_status 0
told='no node that takes runs has the labels of its where: zone=eu,gpu; none has gpu'
ask() { # PATH [LANGUAGE]
    curl -s --unix-socket "$PEAL_DATA/api.sock" -H "Accept-Language: ${2:-en}" "http://localhost$1"
}

run peal list
grep -q '^render .*warning' "$scratch/out" || mismatch 'render has no warning'
checks=$((checks + 1))
run peal list -o wide
expect_stdout_has "$told"
run peal list -o wide --lang zh
expect_stdout_has '警告'
expect_stdout_has '没有可接受运行的节点具有 where 要求的标签：zone=eu,gpu；没有节点具有 gpu'
run peal describe render
expect_stdout_has "Warning     $told"
expect_stdout_has 'Since       '
run ask /api/v1/jobs/render
changed=$(jq -r .updated_at "$scratch/out")
expect_json '[.status.problem, .status.warning.reason, .status.warning.detail, .status.warning.since]' \
    "[null,\"no_node\",\"$told\",\"$changed\"]"
run ask /api/v1/jobs/render zh
expect_json '.status.warning.detail' '"没有可接受运行的节点具有 where 要求的标签：zone=eu,gpu；没有节点具有 gpu"'
run ask '/api/v1/jobs?status=warning&fields=name'
expect_json '.items' '[{"name":"render"}]'
run ask '/api/v1/jobs?status=broken&fields=name'
expect_json '.items' '[]'
run ask '/api/v1/jobs?words=ER+rend&fields=name' # parts of names, in any order
expect_json '.items' '[{"name":"render"}]'
run ask '/api/v1/jobs?words=render+plain&fields=name'
expect_json '.items' '[]'
run ask /api/v1/jobs:facets
expect_json '.status | map(select(.value == "warning" or .value == "broken"))' '[{"value":"warning","count":1}]'
run ask /metrics
expect_stdout_has 'peal_job_warning{job="render",reason="no_node"} 1'
expect_stdout_lacks 'peal_job_warning{job="plain"'

run peal run render
expect_status 0
run peal why render
expect_stdout_has 'It is due, but no node has the labels of its where: zone=eu,gpu.'
expect_stdout_has 'None has gpu. That is so since '
run peal why render --lang zh
expect_stdout_has '没有节点具有 gpu。自 '

run peal restart --label zone=eu --label gpu=
expect_status 0
has_run() { peal runs render -o json | jq -e 'any(.[]; .state == "ok")'; }
wait_until has_run
run ask /api/v1/jobs/render
expect_json '.status.warning' null
run ask /metrics
expect_stdout_lacks 'peal_job_warning{job="render"'

# By the node that ran it, also after a restart: the store of one node keeps no names of nodes.
run peal restart --label zone=eu --label gpu=
expect_status 0
node=$(peal nodes -o json | jq -r '.[0].node')
run peal list --node "$node"
expect_stdout_has render
expect_stdout_lacks plain
run peal list --node nowhere
expect_stderr_has 'no such jobs'
run ask "/api/v1/jobs:facets?node=$node"
expect_json '.nodes' "[{\"value\":\"$node\",\"count\":1}]"
finish
