#!/bin/bash
# @reboot on two nodes that boot together: each runs the job once, however often its agent is started.
# The kernel's boot id is a file of the test's, in a mount namespace of its own.
if [ -z "$PEAL_TEST_BOOTS" ]; then
    if unshare --mount true 2>/dev/null; then
        PEAL_TEST_BOOTS=1 exec unshare --mount "$0" "$@"
    fi
    echo 'skipped: only root can pretend that the machine was booted'
    exit 77
fi
. "$(dirname "$0")/lib.sh"
kernel=/proc/sys/kernel/random
boot() {
    cat $kernel/uuid >"$scratch/boot_id"
}
boot
if ! mount --bind "$scratch/boot_id" $kernel/boot_id 2>/dev/null; then
    echo 'skipped: nothing can be mounted here'
    exit 77
fi
etcd_start
store=$etcd_url/test

start_both() {
    start_agent a --store "$store" --node-id a
    start_agent b --store "$store" --node-id b
}
stop_both() {
    run peal stop --data "$scratch/a"
    run peal stop --data "$scratch/b"
}
# shellcheck disable=SC2317 # called by wait_until
runs_are() { # JSON
    [ "$(peal runs on-boot -n 10 -o json | jq -c '[.[] | [.node, .by, .cause, .state]] | sort')" = "$1" ]
}

# shellcheck disable=SC2317 # called by wait_until
have_noticed() { # a job that is there by then is due
    grep -q boot_noticed "$scratch/a/peal.log" && grep -q boot_noticed "$scratch/b/peal.log"
}

start_both
wait_until have_noticed
run peal add on-boot @reboot --shell 'sleep 1'
expect_status 0
stop_both

boot
start_both
both='["a","a","reboot","ok"],["b","b","reboot","ok"]'
wait_until runs_are "[$both]"

# The agents only; and a job that is made after the boot.
run peal add later @reboot -- true
stop_both
start_both
run peal run later --wait
expect_status 0
wait_until runs_are "[$both]"
run peal runs later -o json
expect_json '[.[] | .cause]' '["manual"]'

# One of them is booted while the job is paused.
run peal pause on-boot
stop_both
boot
start_both
# shellcheck disable=SC2317
is_skipped() {
    [ "$(peal why on-boot -o json | jq -r '[.state, .reason] | join(" ")')" = 'skipped paused' ]
}
wait_until is_skipped
wait_until runs_are "[$both]"
stop_both
finish
