#!/bin/bash
# The language of the command line: of help, messages, tables and the agent's answers; data is the
# same in all.
. "$(dirname "$0")/lib.sh"
unset LC_ALL
export LANG=zh_CN.UTF-8

expect_chinese() { # out|err true|false
    checks=$((checks + 1))
    local found=false
    ! LC_ALL=C.UTF-8 grep -qP '\p{Han}' "$scratch/$1" || found=true
    [ "$found" = "$2" ] || mismatch "expected Chinese in std$1: $2"
}

# Help and usage, with --lang in any place.
run peal --help
expect_status 0
expect_stdout_has '用法：peal COMMAND'
run peal help list
expect_stdout_has '选项：'
expect_stdout_has '  -o, --output F'
for line in '--lang en list --help' 'list --help --lang=en' 'help list --lang en'; do
    # shellcheck disable=SC2086 # words of a command line
    run peal $line
    expect_status 0
    expect_stdout_has 'Options:'
    expect_chinese out false
done
run peal nxt
expect_status 2
expect_stderr 'peal: 未知命令“nxt”；是否指 next？
参见：peal --help'
run peal next @daily -n 0
expect_status 2
expect_stderr_has '-n 应为 1 到 10000 之间的数，而不是“0”'
run peal list --lang fr
expect_status 2
expect_stderr_has '--lang 应为 en 或 zh，而不是“fr”'
run peal next @daily --lang
expect_status 2
expect_stderr_has '选项 --lang 需要一个值'
run env LANG=C peal nxt --lang zh
expect_stderr_has '未知命令'
run env LANG=C PEAL_LANG=zh peal nxt
expect_stderr_has '未知命令'

# Chinese is for terminals that show UTF-8.
run env LANG=zh_CN peal --help
expect_chinese out false

# Manual pages and completion stay as they are.
run peal completion fish
expect_chinese out false

# Tables: headers and words, in columns.
start_agent data
run peal add one @manual -- true
run peal run one --wait
run peal add two '0 0 1 1 *' --paused -- true
run peal list
expect_status 0
expect_chinese out true
expect_stdout_has '名称'
expect_stdout_has '已暂停'
expect_stdout_has '成功'
run peal runs
expect_stdout_has '触发方式'
expect_stdout_has '手动'
run peal list --lang en
expect_stdout_has 'STATUS'
expect_chinese out false

# An agent that does not start says why: here, and in the background.
printf 'lisen: none\n' >"$scratch/peal.yaml"
run peal start --data "$scratch/other" --config "$scratch/peal.yaml"
expect_status 6
expect_stderr "peal: $scratch/peal.yaml:1:1"'：未知的键“lisen”；是否指 listen？'
run peal start --data "$scratch/other" --listen 127.0.0.1:99999
expect_status 6
expect_stderr_has '“127.0.0.1:99999”不是监听地址'
run peal start -d --data /proc/none --listen none
expect_stderr 'peal: 无法创建数据目录 /proc/none：没有该文件或目录；请用 --data 选择其他目录'
run peal start -d --data /proc/none --listen none --lang en
expect_chinese err false

# The agent's own messages.
run peal logs 01M7M2SCEFHXWX1FHWVSBZV2AY
expect_status 3
expect_stderr_has '没有运行 01M7M2SCEFHXWX1FHWVSBZV2AY'
run peal why one
expect_chinese out true
run peal why one --lang en
expect_chinese out false

# The agent's health, and accounts.
run peal state
expect_stdout_has "数据目录 $scratch/data"
run peal doctor
expect_status 0
expect_stdout_has "正常  数据目录：$scratch/data 可写"
run peal doctor -o json
expect_status 0
expect_chinese out false
# shellcheck disable=SC2317 # called by wait_until
is_drained() {
    peal state -o json | jq -e '.starts.reason == "drained"'
}
run peal drain "$(peal state -o json | jq -r .node)"
expect_status 0
wait_until is_drained
run peal state
expect_status 8
expect_stdout_has '节点已排空，不启动任何运行；恢复：peal undrain'
run peal nodes -o wide
expect_stdout_has '排空'
run peal state --lang en
expect_status 8
expect_stdout_has 'the node is drained: nothing is started here until: peal undrain'
expect_chinese out false
run peal undrain "$(peal state -o json | jq -r .node)"
expect_status 0
run peal user add anna --no-password
expect_stderr 'anna：已创建，admin'
run peal user list
expect_stdout_has '未设密码'
# Words of answers: states of nodes, actions, and what the agent says of a node.
node=$(peal nodes -o name)
run peal drain "$node"
expect_stderr "$node：已停止接受新的运行，其上已没有运行"
# shellcheck disable=SC2317 # called by wait_until
tells_drained() { # with its next heartbeat
    peal nodes -o json | jq -e 'all(.[]; .state == "drained")'
}
wait_until tells_drained
run peal nodes -o wide
expect_stdout_has '已排空'
expect_stdout_has "由 $(id -un) 排空"
run peal cluster status
expect_stdout_has '已排空 1'
run peal add three @manual -- true
expect_stderr_has "注意：目前无法启动任何运行：节点已排空，不启动任何运行；恢复：peal undrain $node"
run peal undrain "$node"
run peal audit -n 1
expect_stdout_has "取消排空  节点 $node"
run peal why two
expect_stdout_has '状态      尚未触发'
run peal kill tw
expect_status 3
expect_stderr 'peal: 没有名为“tw”的任务；是否指 two？'
run peal next '30 2 * * *' --tz Europe/Berlin --from 2027-03-28 -n 1
expect_stdout_has '周日 2027-03-28T03:00:00+02:00'
expect_stdout_has '已顺移：这一天没有 02:30'

# What the parsers say.
run peal validate 'x y'
expect_status 6
expect_stderr_has '计划无效：应有 5 到 7 个字段，实际为 2 个'
run peal validate 'x y' --lang en
expect_stderr_has 'invalid schedule: expected 5 to 7 fields, found 2'
expect_chinese err false
run peal validate 'x y' -o json
expect_stdout_has 'expected 5 to 7 fields, found 2'
expect_chinese out false
printf 'name: four\nschedule: "0 25 * * *"\ncommand: [true]\n' >"$scratch/four.yaml"
run peal apply -f "$scratch/four.yaml"
expect_status 6
expect_stderr_has 'schedule：小时 25 超出范围 0-23'

# Data has one language.
for line in 'list -o json' 'list -o yaml' 'runs -o json' 'why one -o json' 'state -o yaml' \
    'next two -n 2 -o json' 'get one -o name' 'nodes -o name' 'audit -o json'; do
    # shellcheck disable=SC2086 # words of a command line
    run peal $line --lang en
    cp "$scratch/out" "$scratch/english"
    # shellcheck disable=SC2086
    run peal $line
    expect_status 0
    expect_stdout "$(cat "$scratch/english")"
done

finish
