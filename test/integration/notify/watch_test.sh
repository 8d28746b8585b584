#!/bin/bash
# Runs that take too long or too short a time, and jobs that do not succeed in time: told once each,
# also when agents are killed and another node leads.
# shellcheck source=test/integration/notify/lib.sh
. "$PEAL_SOURCE/test/integration/notify/lib.sh"
export PEAL_LISTEN=none
receiver_start
etcd_start
store=$etcd_url/watch

start_agent a --node-id a --store "$store"
a=$PEAL_DATA
run peal channel set ops --type webhook --hook "$hook"
expect_status 0
define() { # NAME FIELDS...
    printf 'name: %s\nschedule: "@manual"\n' "$1" >"$scratch/job.yaml"
    printf '%s\n' "${@:2}" >>"$scratch/job.yaml"
    run peal apply -f "$scratch/job.yaml"
}
define wrong 'command: ["true"]' 'notify: {to: ops, too_long: soon}'
expect_status 6
expect_stderr_has 'is neither a duration like 2h nor auto'
define wrong 'command: ["true"]' 'notify: {to: ops, success_by: "25:00"}'
expect_status 6

# By a time of day, which comes while the rest is tested: of those that had a tick by then, the one without a success.
by=$(date -u -d '+75 seconds' +%H:%M)
for each in 'due|*/5 * * * * *|false' 'good|*/5 * * * * *|true' 'yearly|@yearly|false'; do
    IFS='|' read -r name schedule command <<<"$each"
    printf 'name: %s\nschedule: "%s"\ntimezone: UTC\ncommand: ["%s"]\nnotify: {to: ops, on: [overdue], success_by: "%s"}\n' \
        "$name" "$schedule" "$command" "$by" >"$scratch/job.yaml"
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
done

# Too long, while it still runs; the agent is killed, and does not tell again.
define long "shell: \"while [ ! -e '$scratch/go' ]; do sleep 0.1; done\"" 'notify: {to: ops, too_long: 1s}'
expect_status 0
run peal run long
wait_until got_is too_long long 1
run grep -c 'under way for more than 1s' "$got"
expect_stdout 1
kill -9 "$(cat "$a/peal.pid")"
start_agent b --node-id b --store "$store"
b=$PEAL_DATA
PEAL_DATA=$a
run peal start -d --node-id a --store "$store"
touch "$scratch/go"
wait_until newest_is long ok

# Too short; one that takes its time is not.
define short 'command: ["true"]' 'notify: {to: ops, too_short: 10s}'
run peal run short --wait
expect_status 0
wait_until got_is too_short short 1

# Learned, from ten good runs at least.
define learned "shell: 'sleep \$(cat $scratch/length)'" 'notify: {to: ops, too_short: auto}'
echo 1 >"$scratch/length"
for _ in 1 2 3 4 5 6 7 8 9 10; do
    peal run learned --wait >/dev/null 2>&1 &
    wait $!
done
echo 0 >"$scratch/length"
run peal run learned --wait
wait_until got_is too_short learned 1

# No success at all.
define rare 'command: ["false"]' 'notify: {to: ops, on: [overdue], success_within: 2s}'
expect_status 0
wait_until got_is overdue rare 1
run grep -c '"event":"overdue".*it never succeeded' "$got"
expect_stdout 1

# Another node leads: nothing is told twice.
leader=$(peal cluster status -o json | jq -r .leader)
victim=$a
other=$b
[ "$leader" = a ] || { victim=$b other=$a; }
kill -9 "$(cat "$victim/peal.pid")"
PEAL_DATA=$other
# shellcheck disable=SC2317 # called by wait_until
leads() {
    [ "$(peal cluster status -o json | jq -r .leader)" != "$leader" ]
}
wait_until leads
define second 'command: ["false"]' 'notify: {to: ops, success_within: 2s}'
wait_until got_is overdue second 1
patience=150
wait_until got_is overdue due 1
for event in overdue:due too_long:long too_short:short overdue:rare overdue:second; do
    run got_count "${event%:*}" "${event#*:}"
    expect_stdout 1
done
for name in good yearly; do
    run got_count overdue "$name"
    expect_stdout 0
done
finish
