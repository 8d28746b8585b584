#!/bin/bash
# Workflows through the real binary: steps with outputs, fan-outs, failures, cancels, restarts.
. "$(dirname "$0")/lib.sh"
start_agent data
log=$scratch/log

cat >"$scratch/jobs.yaml" <<YAML
name: etl/chain
schedule: "@manual"
params: {day: {default: monday}}
steps:
  - name: extract
    shell: |
      echo extracting \${params.day}
      echo "rows=3" >>"\$PEAL_OUTPUT"
      echo '{"not":"mixed"}' >/dev/null
      echo 'files=a b c' >>"\$PEAL_OUTPUT"
  - name: load
    after: extract
    each: {of: steps.extract.files, at_once: 2}
    command: [sh, -c, 'echo loading "\$0"', "\${item}"]
  - name: full
    after: extract
    when: steps.extract.rows > 100
    shell: echo full
  - name: report
    after: [load, extract]
    shell: echo \${steps.extract.rows} rows of \${params.day}
finally:
  - name: cleanup
    shell: echo cleaning
---
name: etl/fails
schedule: "@manual"
steps:
  - name: first
    shell: echo no rows >&2; exit 3
  - name: never
    after: first
    shell: echo never >>$log
  - name: alarm
    after: {step: first, on: failure}
    shell: echo alarm >>$log
finally:
  - name: cleanup
    shell: echo cleanup >>$log
---
name: etl/retries
schedule: "@manual"
steps:
  - name: shaky
    shell: echo try >>$log.shaky; [ \$(wc -l <$log.shaky) -ge 3 ]
    retries: {count: 3, wait: 0s}
  - name: behind
    after: shaky
    shell: "true"
---
name: etl/long
schedule: "@manual"
overlap: queue
steps:
  - name: wait
    shell: echo begun >>$log.long; while [ ! -e $scratch/go ]; do sleep 0.05; done; echo ok=1 >>"\$PEAL_OUTPUT"
  - name: behind
    after: wait
    shell: echo got \${steps.wait.ok}
finally:
  - name: cleanup
    shell: echo cleanup >>$log.cleanup
---
name: etl/slow
schedule: "@manual"
timeout: 1s
steps:
  - name: sleep
    shell: sleep 600
finally:
  - name: cleanup
    shell: echo slow >>$log.cleanup
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# shellcheck disable=SC2317 # wait_until calls it
has_lines() { # FILE COUNT
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}

# shellcheck disable=SC2317 # likewise
state_is() { # RUN STATE
    [ "$(peal runs "$1" -o json 2>/dev/null | jq -r '.[0].state')" = "$2" ]
}

steps_of() { # RUN
    run peal workflow describe "$1" -o json
}

# A chain: values of one step in the next, a fan-out over a list, a condition, what comes finally.
run peal workflow run etl/chain -p day=friday --follow
expect_status 0
expect_stdout_has 'extract  | extracting friday'
expect_stdout_has 'load[0]  | loading a'
expect_stdout_has 'load[2]  | loading c'
expect_stdout_has 'report   | 3 rows of friday'
expect_stdout_has 'cleanup  | cleaning'
expect_stdout_lacks 'full'
expect_stderr_has 'etl/chain: ok after'
id=$(head -n 1 "$scratch/err")
steps_of "$id"
expect_json '[.steps[] | [.name, .state, .reason, .final, .items]]' \
    '[["extract","ok",null,false,null],["load","ok",null,false,{"ok":3}],["full","skipped","when",false,null],["report","ok",null,false,null],["cleanup","ok",null,true,null]]'
expect_json '[.steps[3].after, .steps[2].when, .instance.state, .counts]' \
    '[[{"step":"extract","on":"success"},{"step":"load","on":"success"}],"steps.extract.rows > 100","ok",{"ok":4,"skipped":1}]'
run peal workflow graph "$id"
expect_stdout_has 'load  ok'
run env LC_ALL=C peal workflow graph etl/chain
expect_stdout_has '* extract'
expect_stdout_has '+-'
run peal workflow graph etl/chain
expect_stdout_has '● extract'
run peal logs "$id"
expect_stdout_has 'report   | 3 rows of friday'
peal logs -f etl/chain >"$scratch/follow" 2>&1 &
follower=$!
wait_until grep -q 'etl/chain.*: ok after' "$scratch/follow"
kill "$follower"
run cat "$scratch/follow"
expect_stdout_has 'report   | 3 rows of friday'
run peal runs --instance "$id" -o json
expect_json '[length, ([.[] | select(.step == null)] | length)]' '[9,1]'
run peal runs etl/chain -o json
expect_json '[length, .[0].step, .[0].cause]' '[1,null,"manual"]'
run peal runs etl/chain --steps -o json
expect_json 'length' '9'
run peal workflow list -o name
expect_stdout 'etl/chain
etl/fails
etl/long
etl/retries
etl/slow'

# A failure: what waits for success is skipped, what waits for failure and `finally` run.
run peal run etl/fails --wait
expect_status 10
expect_stderr_has 'first: failed (exit code 3)'
expect_stderr_has 'etl/fails: failed'
id=$(head -n 1 "$scratch/out")
steps_of "$id"
expect_json '[.steps[] | [.name, .state, .reason]]' \
    '[["first","failed","exit_code"],["never","skipped","upstream"],["alarm","ok",null],["cleanup","ok",null]]'
expect_json '[.instance.state, .instance.reason]' '["failed","step_failed"]'
# What people are shown as the cause is what the failed step has printed.
run curl -sS --unix-socket "$PEAL_DATA/api.sock" 'http://peal/api/v1/jobs:causes?names=etl%2Ffails'
expect_json '[.items[] | [.name, .run.reason, .run.detail, .line]]' '[["etl/fails","step_failed","first: failed","no rows"]]'
run cat "$log"
expect_stdout_has alarm
expect_stdout_has cleanup
expect_stdout_lacks never

# Only instances count as runs of the job.
run peal why etl/fails -o json
expect_json '[.run.run_id, .run.step]' "[\"$id\",null]"
run peal stats etl/fails -o json
expect_json '[.[] | .failed] | add' '1'
expect_json '[.[] | .ok + .skipped] | add' '0'

# Attempts of a step are its own.
run peal run etl/retries --wait
expect_status 0
id=$(head -n 1 "$scratch/out")
steps_of "$id"
expect_json '[.steps[] | [.name, .state, .attempt]]' '[["shaky","ok",3],["behind","ok",1]]'

# The agent is killed in the middle; the step goes on, and its values are not lost. An edit does
# not reach the instance, and the next one waits in the queue.
run peal run etl/long
long=$(head -n 1 "$scratch/out")
wait_until has_lines "$log.long" 1
run peal run etl/long
queued=$(head -n 1 "$scratch/out")
run peal runs "$queued" -o json
expect_json '.[0].state' '"queued"'
steps_of "$long"
expect_json '[.steps[] | [.name, .state]]' '[["wait","running"],["behind","waiting"],["cleanup","waiting"]]'
expect_json '.steps[1].why | test("^waits for wait [(]running since [0-9:]* UTC[)]$")' 'true'
run peal why etl/long -o json
expect_json '.instances | length' '1'
expect_json '[.instances[0].run_id, .instances[0].more, [.instances[0].steps[] | [.name, .state]]]' \
    "[\"$long\",0,[[\"behind\",\"waiting\"],[\"cleanup\",\"waiting\"]]]"
expect_json '.instances[0].steps[0].text | test("^waits for wait [(]running since")' 'true'
run peal why etl/long
expect_stdout_has "instance $long: 1 running, 2 waiting"
expect_stdout_has '  behind: waits for wait (running since'
run env LC_ALL=zh_CN.UTF-8 peal why etl/long
expect_stdout_has 'behind: 等待 wait（自'
sed -i 's/echo got/echo other/' "$scratch/jobs.yaml"
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal state -o json
kill -9 "$(jq -r .pid "$scratch/out")"
touch "$scratch/go"
start_agent data
wait_until state_is "$long" ok
run peal logs "$long"
expect_stdout_has 'behind   | got 1'
wait_until state_is "$queued" ok
run peal logs "$queued"
expect_stdout_has 'behind   | other 1'
rm "$scratch/go"

# Cancel: the running step is killed, the one behind it is skipped, `finally` runs.
run peal run etl/long
id=$(head -n 1 "$scratch/out")
wait_until has_lines "$log.long" 3
run peal workflow cancel etl/long
expect_status 0
expect_stderr "$id: told to end; its final steps still run"
wait_until state_is "$id" killed
wait_until has_lines "$log.cleanup" 3
steps_of "$id"
expect_json '[.steps[] | [.name, .state]]' '[["wait","killed"],["behind","skipped"],["cleanup","ok"]]'
run peal workflow cancel etl/long
expect_status 3
expect_stderr_has 'etl/long has no instance that is under way'

# A time limit of the whole.
run peal run etl/slow --wait
expect_status 10
expect_stderr_has 'etl/slow: timed_out'
wait_until has_lines "$log.cleanup" 4

run peal workflow runs etl/long -o json
expect_json '[.[] | [.state, .steps]]' \
    '[["killed",{"killed":1,"skipped":1,"ok":1}],["ok",{"ok":3}],["ok",{"ok":3}]]'

run peal workflow validate "$scratch/jobs.yaml"
expect_status 0
sed 's/after: shaky/after: shakey/' "$scratch/jobs.yaml" >"$scratch/wrong.yaml"
run peal workflow validate "$scratch/wrong.yaml"
expect_status 6
expect_stderr_has 'there is no step "shakey"; did you mean "shaky"?'

# Too much, and what can't be read as values.
cat >"$scratch/values.yaml" <<'YAML'
name: etl/values
schedule: "@manual"
steps:
  - name: much
    shell: printf 'x=%70000d\n' 1 >>"$PEAL_OUTPUT"
  - name: replaced
    shell: rm -f "$(readlink "$PEAL_OUTPUT")"; ln -s /etc/passwd "$(readlink "$PEAL_OUTPUT" | sed 's/ (deleted)//')"
  - name: odd
    shell: echo 'no value' >>"$PEAL_OUTPUT"
YAML
run peal apply -f "$scratch/values.yaml"
run peal run etl/values --wait
expect_status 10
steps_of "$(head -n 1 "$scratch/out")"
expect_json '[.steps[] | [.name, .state]]' '[["much","failed"],["replaced","failed"],["odd","failed"]]'
expect_lacks out 'root:'

# What failed is run again, in a new instance that has the values of what did not; and a part of it.
cat >"$scratch/again.yaml" <<'YAML'
name: etl/again
schedule: "@manual"
params: {who: {default: me}}
steps:
  - name: a
    shell: echo a >>"$LOG"; echo "x=$RANDOM" >>"$PEAL_OUTPUT"; echo "who=$PEAL_PARAM_who" >>"$PEAL_OUTPUT"
  - name: f
    after: a
    each: {from: 1, to: 3}
    shell: echo f >>"$LOG"; echo "y=$PEAL_ITEM" >>"$PEAL_OUTPUT"
  - name: b
    after: f
    shell: echo b >>"$LOG"; test -e "$FLAG" && echo "${steps.a.who} ${steps.f.y}"
  - name: c
    after: b
    shell: echo c >>"$LOG"
finally:
  - name: z
    shell: echo z >>"$LOG"
YAML
# shellcheck disable=SC2317 # run calls it
ran() { # how often which step has run
    sort "$log.again" | uniq -c | awk '{ print $2 $1 }' | paste -s -d ' '
}
export LOG=$log.again FLAG=$scratch/flag
printf 'env: {LOG: %s, FLAG: %s}\n' "$LOG" "$FLAG" >>"$scratch/again.yaml"
run peal apply -f "$scratch/again.yaml"
expect_status 0
run peal workflow run etl/again -p who=you --wait
expect_status 10
failed=$(head -n 1 "$scratch/out")
run ran
expect_stdout 'a1 b1 f3 z1'
touch "$FLAG"
run peal workflow retry "$failed" --wait
expect_status 0
again=$(head -n 1 "$scratch/out")
run ran
expect_stdout 'a1 b2 c1 f3 z2'
steps_of "$again"
expect_json '[.steps[] | [.name, .state, .earlier]]' \
    '[["a","ok",true],["f","ok",true],["b","ok",false],["c","ok",false],["z","ok",false]]'
run peal logs "$again"
expect_stdout_has 'you ["1","2","3"]'
run peal workflow retry "$again" f --wait
expect_status 0
run ran
expect_stdout 'a1 b3 c2 f6 z3'
run peal workflow retry "$again" --all --wait
run ran
expect_stdout 'a2 b4 c3 f9 z4'
run peal workflow run etl/again --only c --wait
expect_status 0
run ran
expect_stdout 'a2 b4 c4 f9 z4'
run peal workflow run etl/again --skip b --skip f --wait
run ran
expect_stdout 'a3 b4 c5 f9 z5'
run peal workflow run etl/again --only nope
expect_status 6
expect_stderr_has 'there is no step "nope"'
run peal workflow retry etl/again
expect_status 3
expect_stderr_has 'is not the id of a run'

# What steps wait for: a node with the labels, the items before, the next attempt.
cat >"$scratch/waits.yaml" <<'YAML'
name: etl/waits
schedule: "@manual"
steps:
  - name: gpu
    where: gpu
    shell: "true"
  - name: items
    each: {from: 1, to: 9, at_once: 3}
    shell: sleep 600
  - name: again
    shell: exit 1
    retries: {count: 2, wait: 1h}
  - name: end
    after: [gpu, items, again]
    shell: "true"
YAML
run peal apply -f "$scratch/waits.yaml"
run peal workflow run etl/waits
waits=$(head -n 1 "$scratch/out")
# shellcheck disable=SC2317 # wait_until calls it
all_wait() {
    [ "$(peal why etl/waits -o json | jq -c '[.instances[0].steps[].name]')" = \
        '["gpu","items","again","end"]' ]
}
wait_until all_wait
run peal why etl/waits
expect_stdout_has 'It has been under way for'
expect_stdout_has "instance $waits: "
expect_stdout_has '  gpu: no node has the labels of its where: gpu'
expect_stdout_has '  items: at_once: 3 of 3 items under way, 6 to come'
expect_stdout_has '  again: attempt 2 of 3 starts at '
expect_stdout_has '  end: waits for gpu (waiting for a node), items (running since '
run peal workflow cancel "$waits"
wait_until state_is "$waits" killed
run peal why etl/waits -o json
expect_json '.instances' '[]'

# A job that is a step: renamed, it is in the workflow by its new name; deleted, there is a warning.
cat >"$scratch/refers.yaml" <<'YAML'
name: part/job
schedule: "@manual"
shell: echo part
---
name: part/flow
schedule: "@manual"
steps: [{name: a, job: part/job}]
---
name: part/outer
schedule: "@manual"
steps:
  - name: a
    job: part/job
  - name: b
    workflow: part/flow
YAML
run peal apply -f "$scratch/refers.yaml"
expect_status 0
run peal rename part/job part/task
expect_status 0
run peal rename part/flow part/inner
expect_status 0
run peal export yaml
expect_stdout_has 'job: part/task'
expect_stdout_has 'workflow: part/inner'
expect_stdout_lacks 'part/job'
expect_stdout_lacks 'part/flow'
run peal workflow run part/outer --wait
expect_status 0
run peal delete part/task --yes
expect_status 0
expect_stderr_has 'part/inner runs part/task as a step, and will fail without it'
expect_stderr_has 'part/outer runs part/task as a step, and will fail without it'
run peal workflow run part/outer --wait
expect_status 6
expect_stderr_has 'step a: there is no job part/task'
run peal undelete part/task
run peal rename part/task other/task
run peal workflow run part/inner --wait
expect_status 6
expect_stderr_has 'step a: there is no job part/task'
run peal rename other/task part/task
run peal workflow run part/outer --wait
expect_status 0

# What is not a workflow.
run peal add plain @manual -- true
run peal workflow graph plain
expect_status 3
expect_stderr_has 'plain is not a workflow: it has no steps'
run peal run plain --wait
run peal workflow describe "$(head -n 1 "$scratch/out")"
expect_status 3
expect_stderr_has 'is not of a workflow'

finish
