#!/bin/bash
# overlap: {policy: allow, at_once: N}: so many ticks of a job at the same time and no more, whoever asks
# for them; what is over the limit is skipped, and said so.
# shellcheck source=test/integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
start_agent a --listen none

run peal add often '@every 1s' --overlap skip --at-once 2 -- true
expect_status 6
expect_stderr_has '"at_once" is for the policy allow'
run peal add often '@every 1s' --overlap allow --at-once 2 --shell "while [ ! -e '$scratch/go' ]; do sleep 0.05; done"
expect_status 0
run peal get often -o json
expect_json .overlap '{"policy":"allow","at_once":2}'

# shellcheck disable=SC2317 # wait_until calls it
are() { # JOB STATE COUNT
    [ "$(peal runs "$1" -o json | jq "[.[] | select(.state == \"$2\")] | length")" -ge "$3" ]
}
# shellcheck disable=SC2317 # likewise
skipped() { # COUNT, for the reason of overlap
    [ "$(peal runs often --ledger -o json | jq '[.[] | select(.reason == "overlap") | .count] | add // 0')" -ge "$1" ]
}
wait_until are often running 2
wait_until skipped 3
run peal runs often -o json
expect_json '[.[] | select(.state == "running")] | length' 2 # and the third did not start
run peal run often
expect_status 4
expect_stderr_has 'of "often" is still under way (overlap: allow)'
run peal pause often
touch "$scratch/go"
wait_until are often ok 2
run peal run often --wait # there is room again
expect_status 0

# A workflow counts as one, however many steps are under way; so do the parts of a tick.
rm "$scratch/go"
cat >"$scratch/jobs.yaml" <<YAML
name: flow
schedule: "@manual"
overlap: {policy: allow, at_once: 1}
steps:
  - name: items
    each: {from: 1, to: 3, at_once: 3}
    shell: while [ ! -e $scratch/go ]; do sleep 0.05; done
---
name: parts
schedule: "@manual"
spread: shards 3
overlap: {policy: allow, at_once: 1}
shell: while [ ! -e $scratch/go ]; do sleep 0.05; done
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
for job in flow parts; do
    run peal run $job
    expect_status 0
done
wait_until are flow running 1
wait_until are parts running 3
for job in flow parts; do
    run peal run $job
    expect_status 4
done
touch "$scratch/go"
wait_until newest_is flow ok
wait_until are parts ok 3
run peal run flow --wait
expect_status 0
finish
