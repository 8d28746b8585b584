#!/bin/bash
# peal maintenance, and one pause of the cluster or of a namespace.
. "$(dirname "$0")/lib.sh"
start_agent data

run peal maintenance list
expect_status 0
expect_stderr_has 'no maintenance; add some: peal maintenance add'
run peal add shop/a '@every 1s' -- true
expect_status 0
run peal add b '@every 1s' -- true
expect_status 0

# a namespace: its ticks are skipped, those of others are not
run peal pause --namespace shop --reason 'moving house'
expect_status 0
expect_stderr 'namespace shop: paused; moving house'
run peal pause --namespace shop
expect_status 4
expect_stderr_has 'it is paused already'
# shellcheck disable=SC2317 # wait_until calls it
skipped() { # JOB REASON
    peal runs "$1" --ledger -o json | jq -r "[.[] | select(.reason == \"$2\") | .count] | add // 0"
}
# shellcheck disable=SC2317 # wait_until calls it
is_skipped() { # JOB REASON
    [ "$(skipped "$1" "$2")" -gt 1 ]
}
wait_until is_skipped shop/a paused
[ "$(skipped b paused)" = 0 ] || fail 'b was skipped, too'
run peal why shop/a -o json
expect_stdout_has '"detail": "moving house"'
run peal next shop/a
expect_stdout_has 'left out: a pause of the cluster or of its namespace'
run peal state
expect_stdout_has 'namespace shop: paused; moving house'
run peal cluster status
expect_stdout_has 'namespace shop: paused; moving house'

# what somebody asks for runs, and the answer says so
run peal run shop/a --wait
expect_status 0
expect_stderr_has 'its namespace or the cluster is paused'

run peal resume --namespace shop
expect_status 0
expect_stderr 'namespace shop: resumed'
run peal resume --namespace shop
expect_status 3
expect_stderr_has 'namespace shop is not paused'
# shellcheck disable=SC2317 # wait_until calls it
is_run() {
    [ "$(peal runs shop/a -o json | jq -r '[.[] | select(.cause == "tick")] | length')" -gt 0 ]
}
wait_until is_run

# maintenance of the cluster
run peal maintenance add
expect_status 2
run peal maintenance add --to '2001-01-01 00:00'
expect_status 6
expect_stderr_has 'to: the end is not after the beginning, or has passed'
run peal maintenance add --for 1h --reason disks
expect_status 0
expect_stderr_has 'the cluster: maintenance until'
wait_until is_skipped b maintenance
run peal why b
expect_stdout_has 'maintenance was under way (disks)'
id=$(peal maintenance list -o json | jq -r '.[] | select(.state == "active") | .id')
run peal maintenance remove "$id"
expect_status 0
expect_stderr ended
run peal maintenance remove "$id"
expect_status 4
expect_stderr_has 'it is over already'
run peal maintenance add --from 2100-01-01T00:00:00Z --for 1h --namespace 'a//b'
expect_status 6
run peal maintenance add --from 2100-01-01T00:00:00Z --for 1h --namespace a/b
expect_status 0
id=$(peal maintenance list -o json | jq -r '.[] | select(.state == "coming") | .id')
run peal maintenance remove "$id"
expect_stderr removed
run peal maintenance remove "$id"
expect_status 3

# on record, and the whole survives the agent
run peal audit -o json
expect_stdout_has maintenance_add
expect_stdout_has maintenance_end
run peal pause --cluster
expect_status 0
run peal pause b --cluster
expect_status 2
run peal restart
expect_status 0
run peal state
expect_stdout_has 'the cluster: paused'
run peal --lang zh resume --cluster
expect_stderr '集群：已恢复'
finish
