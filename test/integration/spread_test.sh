#!/bin/bash
# Ticks with several runs, on one node: shards, all nodes, and what follows the tick.
. "$(dirname "$0")/lib.sh"
start_agent data --node-id here
log=$scratch/log

put() { # NAME SPREAD SCRIPT [MORE]
    cat >"$scratch/job.yaml" <<YAML
name: $1
schedule: "@manual"
shell: |
  $3
spread: $2
${4:-}
YAML
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
}

# shellcheck disable=SC2317 # wait_until calls it
ends_are() { # JOB "PART STATE" ...
    local job=$1
    shift
    [ "$(peal runs "$job" -o json | jq -r '.[] | "\(.part) \(.attempt) \(.state)"' | sort)" = "$(printf '%s\n' "$@")" ]
}

# Each shard has its number, and its record.
# shellcheck disable=SC2016 # the job's shell expands it
put work 'shards 3' "echo \"\$PEAL_SHARD/\$PEAL_SHARDS \$PEAL_PART/\$PEAL_PARTS \$PEAL_TICK\" >>$log"
run peal run work --wait
expect_status 0
run sh -c "sort '$log' | cut -d' ' -f1,2"
expect_stdout '0/3 0/3
1/3 1/3
2/3 2/3'
run sh -c "cut -d' ' -f3 '$log' | sort -u | wc -l"
expect_stdout 1
wait_until ends_are work '0 1 ok' '1 1 ok' '2 1 ok'
run peal runs work -o json
expect_json '[.[] | [.parts, .pinned]] | unique' '[[3,null]]'
run peal runs work
expect_stdout_has 'manual, shard 2 of 3'
run peal why work
expect_stdout_has 'The tick has 3 runs'

# The node is all that there are. It is no shard.
put everywhere all "env | grep -c ^PEAL_SHARD >>$log.all; echo \"\$PEAL_PART \$PEAL_PARTS\" >>$log.all"
run peal run everywhere --wait
expect_status 0
run cat "$log.all"
expect_stdout '0
0 1'
run peal runs everywhere -o json
expect_json '[.[] | [.part, .parts, .pinned, .node]]' '[[0,1,"here","here"]]'
put one-of-two 2 true
run peal run one-of-two --wait
expect_status 0
run peal get one-of-two -o json
expect_json '[.spread, .status.last.state]' '["2","ok"]'

# The tick is ok when all are, and is followed once.
# shellcheck disable=SC2016 # likewise
put half 'shards 3' 'test $PEAL_SHARD != 1'
cat >"$scratch/after.yaml" <<YAML
name: follows
after: half
command: [sh, -c, "echo ok >>$log.follows"]
---
name: mourns
after: {job: half, on: failure}
command: [sh, -c, "echo bad >>$log.follows"]
YAML
run peal apply -f "$scratch/after.yaml"
expect_status 0
run peal run half --wait
expect_status 10
wait_until ends_are half '0 1 ok' '1 1 failed' '2 1 ok'
wait_until grep -q bad "$log.follows"
run peal get half -o json
expect_json '.status.last.state' '"failed"'
run cat "$log.follows"
expect_stdout bad
# shellcheck disable=SC2016 # likewise
put half 'shards 3' true
run peal run half --wait
expect_status 0
wait_until grep -q ok "$log.follows"
run cat "$log.follows"
expect_stdout 'bad
ok'

# A shard is tried again by itself.
# shellcheck disable=SC2016 # likewise
put again 'shards 2' 'test "$PEAL_SHARD $PEAL_ATTEMPT" != "1 1"' 'retries: {count: 2, wait: 0s}'
run peal run again --wait
expect_status 0
wait_until ends_are again '0 1 ok' '1 1 failed' '1 2 ok'
run peal get again -o json
expect_json '.status.last.state' '"ok"'

# The last of its runs is called off: the tick is over all the same, and followed.
# shellcheck disable=SC2016 # likewise
put waits 'shards 3' 'test $PEAL_SHARD = 0 || exit 7$PEAL_SHARD' 'retries: {count: 1, wait: 1h, on: [exit 71]}'
cat >"$scratch/after.yaml" <<YAML
name: mourns-it
after: {job: waits, on: failure}
command: [sh, -c, "echo bad >>$log.waits"]
YAML
run peal apply -f "$scratch/after.yaml"
expect_status 0
run peal run waits
expect_status 0
wait_until ends_are waits '0 1 ok' '1 1 failed' '1 2 due' '2 1 failed'
test ! -e "$log.waits"
run peal kill waits
expect_status 0
wait_until ends_are waits '0 1 ok' '1 1 failed' '1 2 skipped' '2 1 failed'
wait_until grep -q bad "$log.waits"
run peal get waits -o json
expect_json '.status.last.state' '"failed"'

# The next tick waits for all of it, and the queue holds ticks, not runs.
put slow 'shards 2' "echo \$PEAL_SHARD >>$log.slow; while ! test -e $scratch/go; do sleep 0.1; done" 'overlap: queue'
run peal run slow
run peal run slow
# shellcheck disable=SC2317 # wait_until calls it
has_lines() { [ "$(wc -l <"$1")" -eq "$2" ]; }
wait_until has_lines "$log.slow" 2
run peal runs slow -o json
expect_json '[.[] | .state] | sort' '["queued","running","running"]'
touch "$scratch/go"
wait_until has_lines "$log.slow" 4
wait_until ends_are slow '0 1 ok' '0 1 ok' '1 1 ok' '1 1 ok'

# A tick of a schedule.
cat >"$scratch/job.yaml" <<YAML
name: ticks
schedule: "* * * * * *"
command: ["true"]
spread: shards 2
YAML
run peal apply -f "$scratch/job.yaml"
expect_status 0
# shellcheck disable=SC2317 # wait_until calls it
two_ticks() {
    [ "$(peal runs ticks -o json | jq '[.[] | select(.cause == "tick" and .state == "ok")] | group_by(.tick) | map(select(length == 2)) | length')" -ge 2 ]
}
wait_until two_ticks
run peal pause ticks
expect_status 0

# What is not understood is refused.
cat >"$scratch/job.yaml" <<YAML
name: bad
schedule: "@manual"
command: ["true"]
spread: shards 1000
YAML
run peal apply -f "$scratch/job.yaml"
expect_status 6
expect_stderr_has 'is none of one, all'
run peal add flagged @manual --spread all -- true
expect_status 0
run peal get flagged -o yaml
expect_stdout_has 'spread: all'

finish
