#!/bin/bash
# PagerDuty, Teams, Telegram and ntfy, as strict as they are: a job that prints what is markup
# somewhere fails and recovers, and one of them that is asked too often gets its message later.
. "$PEAL_SOURCE/test/integration/lib.sh"

export PEAL_LISTEN=none
mapfile -t ports < <(free_ports)
base=http://127.0.0.1:${ports[0]}
got=$scratch/got
: >"$got"
python3 "$PEAL_SOURCE/test/integration/notify/kinds_receiver.py" "${ports[0]}" "$got" &
receiver_pid=$!
trap 'kill "$receiver_pid"; end_agents; rm -rf "$scratch"' EXIT
wait_until curl -fsS -o /dev/null "$base/"

echo 'public_url: https://peal.example.com/' >"$scratch/peal.yaml"
start_agent one --config "$scratch/peal.yaml" --log "$scratch/log"
echo 0123456789abcdef0123456789abcdef >"$scratch/key"
echo 123:secret-bot >"$scratch/bot"
echo tk_1 >"$scratch/ntfy"
echo "$base/workflows/secret-path" >"$scratch/teams"
run peal channel set pager --type pagerduty --hook "$base/v2/enqueue" --key-file "$scratch/key"
expect_status 0
run peal channel set teams --type teams --hook-file "$scratch/teams" --language zh
expect_status 0
run peal channel set bot --type telegram --hook "$base" --key-file "$scratch/bot" --chat -1001
expect_status 0
run peal channel set phone --type ntfy --hook "$base/secret-topic" --key-file "$scratch/ntfy"
expect_status 0

# Without a URL where it is known; secrets are never shown again, and stay.
run peal channel set usual --type pagerduty --key-file "$scratch/key"
expect_status 0
run peal channel show usual -o json
expect_json '[.url, .token]' '["https://events.pagerduty.com/v2/enqueue","********"]'
run peal channel set bot2 --type telegram --chat -1001
expect_status 6
expect_stderr_has 'a channel of type telegram needs a "token"'
for name in pager teams bot phone; do
    run peal channel show "$name" -o json
    expect_stdout_lacks secret
    expect_stdout_lacks 0123456789abcdef
    expect_stdout_lacks tk_1
    run peal channel set "$name" --notes 'as before'
    expect_status 0
    run peal channel test "$name"
    expect_status 0
    expect_stderr "$name: sent"
done

# shellcheck disable=SC2317 # called by wait_until
count_is() { # KIND COUNT
    [ "$(jq -s "map(select(.kind == \"$1\")) | length" "$got")" -eq "$2" ]
}
: >"$got"
cat >"$scratch/nasty" <<'SH'
for i in $(seq 90); do printf '%s </pre> <b> &lt; & [x](http://evil) **"\\ 😀\r\n' $i; done
for i in $(seq 400); do printf '😀'; done
printf '\001\033[31m\377\n'
test -e "$WELL" || exit 3
SH
run peal add nasty @manual --notify pager --notify teams --notify bot --notify phone --env "WELL=$scratch/well" --shell "$(cat "$scratch/nasty")"
expect_status 0
touch "$got.busy"
run peal run nasty --wait
expect_status 10
for kind in pagerduty teams telegram ntfy; do
    wait_until count_is "$kind" 1
done
touch "$scratch/well"
run peal run nasty --wait
expect_status 0
for kind in pagerduty teams telegram ntfy; do
    wait_until count_is "$kind" 2
done
run jq -sc 'map(select(.kind == "pagerduty").body | [.event_action, .payload.severity]), (map(select(.kind == "pagerduty").body.dedup_key) | unique | length), map(select(.kind == "ntfy").body | .priority)' "$got"
expect_stdout '[["trigger","error"],["resolve",null]]
1
[4,3]'

# One of them was asked to wait, and nothing was refused or given up.
run peal channel log --state given_up
expect_stderr_has 'no messages'
run peal channel log --state sent -o json
expect_json '[length, (map(.tries) | add)]' '[8,9]'
run cat "$scratch/log"
expect_stdout_has 'HTTP status 429'
expect_stdout_lacks secret
expect_stdout_lacks 0123456789abcdef
finish
