#!/bin/bash
# Channels by the command line: made, changed, shown without secrets, tried, named by jobs, deleted.
# shellcheck source=test/integration/notify/lib.sh
. "$PEAL_SOURCE/test/integration/notify/lib.sh"

export PEAL_LISTEN=none
start_agent one --log "$scratch/log"
receiver_start

run peal channel list
expect_status 0
expect_stderr_has 'no channels; make one: peal channel set'

echo hush-1 >"$scratch/secret"
echo "$hook?token=hush-2" >"$scratch/hook"
run peal channel set ops --type webhook --hook-file "$scratch/hook" --secret-file "$scratch/secret" \
    --header 'Authorization=Bearer hush-3'
expect_status 0
expect_stderr 'ops: made; try it: peal channel test ops'

run peal channel show ops -o name
expect_stdout ops
run peal channel show ops
expect_status 0
expect_stdout_has "url: $hook?********"
expect_stdout_has "secret: '********'"
expect_stdout_lacks hush

# What is not named stays, what is secret too.
run peal channel set ops --quiet 0s --on failure,lost --notes 'room 3'
expect_status 0
run peal channel test ops
expect_status 0
expect_stderr 'ops: sent'
body=$(cut -d ' ' -f 4- "$got")
timestamp=$(cut -d ' ' -f 2 "$got")
signature=sha256=$(printf '%s.%s' "$timestamp" "$body" | openssl dgst -sha256 -hmac hush-1 -r | cut -d ' ' -f 1)
run cut -d ' ' -f 3 "$got"
expect_stdout "$signature"

run peal channel list -o json
expect_json '.[0] | [.name, .type, .on, .quiet, .delivery.sent]' '["ops","webhook",["failure","lost"],null,0]'
run peal channel list -o name
expect_stdout ops

# Mistakes are told with their place.
run peal channel set ops --on failure,sucess
expect_status 6
expect_stderr_has 'did you mean "success"?'
run peal channel set x --type webhook
expect_status 2
expect_stderr_has 'where to? --hook-file F'
run peal channel set x --type mail --smtp smtp://localhost --from peal@example.com
expect_status 6
expect_stderr_has 'a channel of type mail needs one or more receivers: "to"'
run peal channel set a/b --type slack --hook https://hooks.slack.com/x
expect_status 6
run peal channel test opps
expect_status 3
expect_stderr_has 'there is no channel "opps"'

# Jobs name channels that are there; channels that jobs name stay.
run peal add j @manual --notify opss -- true
expect_status 6
expect_stderr_has 'there is no channel "opss"; did you mean "ops"?'
run peal add j @manual --notify ops -- true
expect_status 0
run peal get j -o yaml
expect_stdout_has 'notify: ops'
run peal channel delete ops --yes
expect_status 4
expect_stderr_has '"ops" is named by j; change that first'
run peal add j @manual --replace -- true
expect_status 0
run peal channel delete ops --yes
expect_status 0
run peal channel show ops
expect_status 3

# Templates: checked when they are set, shown without being sent, and taken away by an empty one.
run peal add db/backup '30 2 * * *' --tz Asia/Shanghai -- true
# shellcheck disable=SC2016 # fields of a template
run peal channel set words --type webhook --hook "$hook" --title '${jop}'
expect_status 6
# shellcheck disable=SC2016 # likewise
expect_stderr_has 'there is no field ${jop}; did you mean ${job}?'
# shellcheck disable=SC2016 # fields of a template
run peal channel set words --type webhook --hook "$hook" --title '${job}: ${state}!' --text '${exit_code} ${output}'
expect_status 0
run peal channel test words --job db/backup --preview
expect_stdout '[test] db/backup: failed!

1 the first line of its output
the last line'
run peal channel test words --job db/backup --event recovery --preview
expect_stdout_has '[test] db/backup: ok!'
run peal channel test words --job db/bakcup --preview
expect_status 3
run peal channel test words --event nothing
expect_status 6
run peal channel test words --job db/backup
expect_status 0
run tail -n 1 "$got"
expect_stdout_has '"title":"[test] db/backup: failed!","text":"[test] db/backup: failed!\n1 the first line'
# A job's own go first: what is wrong with them is said with its place, and a failure has them.
cat >"$scratch/own.yaml" <<'YAML'
name: own
schedule: "@manual"
command: ["false"]
notify:
  to: words
  title: "${job} needs ${noed}"
YAML
run peal apply -f "$scratch/own.yaml"
expect_status 6
# shellcheck disable=SC2016 # likewise
expect_stderr_has 'own.yaml:6:24: notify.title: there is no field ${noed}; did you mean ${node}?'
sed -i 's/noed/channel/' "$scratch/own.yaml"
run peal apply -f "$scratch/own.yaml"
expect_status 0
run peal channel test words --job own --preview
expect_stdout '[test] own needs words

1 the first line of its output
the last line'
run peal run own --wait
# shellcheck disable=SC2317 # wait_until calls it
own_came() { grep -q '"title":"own needs words","text":"own needs words\\n1 "' "$got"; }
wait_until own_came
run peal delete own --yes
run peal channel set words --title '' --text ''
expect_status 0
run peal channel show words -o json
expect_json '[.title, .text]' '[null,null]'
run peal channel delete words --yes
run peal delete db/backup --yes

# A receiver that is not there is told, too.
receiver_stop
run peal channel set down --type webhook --hook "$hook"
expect_status 0
run peal channel test down
expect_status 1
expect_stderr_has 'down: not sent: '

run peal audit -o json
expect_status 0
expect_stdout_lacks hush
expect_json '[.[] | select(.target.kind == "channel") | [.action, .target.name, .detail]]' \
    '[["channel_create","down","type, url"],["channel_delete","words",null],["channel_change","words","title, text"],["channel_create","words","type, url, title, text"],["channel_delete","ops",null],["channel_change","ops","on, notes"],["channel_create","ops","type, url, headers, secret"]]'
run cat "$scratch/log"
expect_stdout_lacks hush
finish
