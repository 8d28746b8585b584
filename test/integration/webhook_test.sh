#!/bin/bash
# Webhooks of jobs: made and shown, signed requests of each kind, the body in the run's file, one run
# for each delivery, rates, and what is left when the job goes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/webhook_lib.sh"
port=$(free_ports | head -n 1)
start_agent data --listen "127.0.0.1:$port"
body=$scratch/body.json
printf '{"ref":"refs/heads/main","note":"\303\244 \\u0000"}' >"$body"

cat >"$scratch/jobs.yaml" <<'YAML'
name: deploy
schedule: "@manual"
shell: |
  echo "$PEAL_WEBHOOK $PEAL_WEBHOOK_EVENT $PEAL_WEBHOOK_DELIVERY $PEAL_INPUT_TYPE $PEAL_PARAM_env"
  sha256sum <"$PEAL_INPUT"
  (exec 3<&-; sha256sum <"$PEAL_INPUT")
  cat | wc -c
  echo x 2>/dev/null >"$PEAL_INPUT" || echo sealed
params: {env: {default: test}}
overlap: allow
---
name: words
schedule: "@manual"
command: [wc, -c]
---
name: once
schedule: "@manual"
command: [sleep, "600"]
---
name: needs
schedule: "@manual"
command: ["true"]
params: {day: {}}
---
name: fed
schedule: "@manual"
command: [cat]
stdin: of its own
---
name: again
schedule: "@manual"
overlap: allow
retries: {count: 1, wait: 0s}
shell: wc -c <"$PEAL_INPUT"; false
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# shellcheck disable=SC2317 # wait_until calls it
is_ok() { # RUN
    [ "$(peal runs "$1" -o json | jq -r '.[0].state')" = ok ]
}

# ---- made, and its secret shown once ----
run peal webhook list
expect_stderr_has 'no webhooks'
make_webhook deploy --kind github
expect_stderr_has 'it is not shown again'
uid=$(peal get deploy -o json | jq -r .uid)
run echo "$url"
expect_stdout "http://127.0.0.1:$port/hooks/$uid"
run peal webhook create deploy
expect_status 4
expect_stderr_has 'has a webhook already'
run peal webhook list -o json
expect_json '[.[] | [.job, .kind, .rate, .path]]' "[[\"deploy\",\"github\",\"30/m\",\"/hooks/$uid\"]]"
expect_stdout_lacks "$secret"
for command in 'webhook list' 'get deploy -o json' 'audit -o json' 'describe deploy' 'export'; do
    # shellcheck disable=SC2086 # words
    run peal $command
    expect_stdout_lacks "$secret"
done
run grep -rF "$secret" "$scratch/data/peal.log"
expect_status 1
run peal audit -o json
expect_json '[.[] | select(.action | startswith("webhook")) | [.action, .job, .detail]]' \
    '[["webhook_create","deploy","github"]]'

# ---- GitHub ----
post_github "$url" "$secret" 72d3162e-cc78-11e3-81ab-4c9367dc0958 "$body"
expect_code 202
expect_json .repeated false
id=$(jq -r .run_id "$scratch/out")
wait_until is_ok "$id"
sum=$(sha256sum <"$body")
run peal logs "$id"
expect_stdout "github push 72d3162e-cc78-11e3-81ab-4c9367dc0958 application/json test
$sum
$sum
0
sealed"
run peal runs "$id" -o json
expect_json '.[0] | [.cause, .by, .input]' '["webhook","github 72d3162e-cc78-11e3-81ab-4c9367dc0958",{"size":44,"type":"application/json","source":"github","event":"push","delivery":"72d3162e-cc78-11e3-81ab-4c9367dc0958"}]'
run peal audit -o json
expect_json '[.[] | select(.action == "run") | [.via, .actor, .detail]]' \
    '[["webhook","webhook","github 72d3162e-cc78-11e3-81ab-4c9367dc0958"]]'

# The same delivery is the same run, whatever its body is.
post_github "$url" "$secret" 72d3162e-cc78-11e3-81ab-4c9367dc0958 "$body"
expect_code 200
expect_json . "{\"run_id\":\"$id\",\"repeated\":true}"
run peal restart
expect_status 0
post_github "$url" "$secret" 72d3162e-cc78-11e3-81ab-4c9367dc0958 "$body"
expect_json . "{\"run_id\":\"$id\",\"repeated\":true}"
# At once: one of them starts the run, and all answers name it.
senders=()
for n in 1 2 3 4 5 6 7 8; do
    curl -sS -o "$scratch/answer.$n" -X POST --data-binary "@$body" -H 'X-GitHub-Delivery: at-once' \
        -H "X-Hub-Signature-256: $(sign_github "$secret" "$body")" "$url" &
    senders+=($!)
done
wait "${senders[@]}"
run sh -c "jq -rs '[(map(.run_id) | unique | length), (map(select(.repeated == false)) | length)] | @csv' '$scratch'/answer.[1-8]"
expect_stdout '1,1'

# A name and a definition that change leave the webhook as it is.
run peal rename deploy ship
post_github "$url" "$secret" renamed "$body"
expect_code 202
run peal webhook list -o name
expect_stdout ship

# Again: with the same body.
run peal run --again "$id" --follow
expect_stdout_has "$sum"

# An empty body is a file, too.
: >"$scratch/empty"
post_github "$url" "$secret" empty "$scratch/empty"
expect_code 202
wait_until is_ok "$(jq -r .run_id "$scratch/out")"
run peal logs "$(jq -r .run_id "$scratch/out")"
expect_stdout_has "$(sha256sum </dev/null)"

# ---- another secret, another rate ----
old=$secret
run peal webhook rotate ship
secret=$(sed -n 2p "$scratch/out")
post_github "$url" "$old" old "$body"
expect_code 401
post_github "$url" "$secret" new "$body"
expect_code 202
run_with_stdin <(echo 'a secret of its own') peal webhook rotate ship --secret-file -
expect_status 0
post_github "$url" 'a secret of its own' own "$body"
expect_code 202
run_with_stdin <(echo short) peal webhook rotate ship --secret-file -
expect_status 6
expect_stderr_has 'expected a text of 16 to 200 bytes'
run peal webhook set ship --rate 2/h
expect_status 0
post_github "$url" 'a secret of its own' rate-1 "$body"
expect_code 202
post_github "$url" 'a secret of its own' rate-2 "$body"
post_github "$url" 'a secret of its own' rate-3 "$body"
expect_code 429
expect_stdout_has 'too many requests of this webhook'
run peal webhook set ship --rate 2/d
expect_status 6
run peal webhook set ship
expect_status 2

# ---- GitLab: a token, or a signature ----
make_webhook words --kind gitlab
post "$url" "$body" "X-Gitlab-Token: $secret" 'X-Gitlab-Event: Push Hook' 'X-Gitlab-Event-UUID: u-1'
expect_code 202
id=$(jq -r .run_id "$scratch/out")
post "$url" "$body" "X-Gitlab-Token: $secret" 'X-Gitlab-Event: Push Hook' 'X-Gitlab-Event-UUID: u-1'
expect_json .run_id "\"$id\""
wait_until is_ok "$id"
run peal logs "$id" # standard input is empty, as ever
expect_stdout 0
run peal runs "$id" -o json
expect_json '.[0].input | [.source, .event]' '["gitlab","Push Hook"]'
post "$url" "$body" "X-Gitlab-Token: $secret" 'X-Gitlab-Event-UUID: u-1' 'Idempotency-Key: k-1'
expect_code 202
post_standard "$url" "$secret" msg-1 "$(date +%s)" "$body"
expect_code 202
# A wrong signature is not saved by a right token.
post "$url" "$body" "X-Gitlab-Token: $secret" 'webhook-signature: v1,AAAA' 'Idempotency-Key: k-2'
expect_code 401
post "$url" "$body" "X-Gitlab-Token: $secret"
expect_code 400
expect_stdout_has 'no id of its delivery'
run peal webhook delete words --yes
expect_status 0

# ---- generic ----
make_webhook words
post_standard "$url" "$secret" msg-1 "$(date +%s)" "$body"
expect_code 200 # the delivery is known, of the webhook before
post_standard "$url" "$secret" msg-2 "$(date +%s)" "$body"
expect_code 202

# ---- the largest body, and its attempts ----
make_webhook again --kind github
head -c 262144 /dev/urandom >"$scratch/large"
post_github "$url" "$secret" large "$scratch/large"
expect_code 202
id=$(jq -r .run_id "$scratch/out")
wait_until newest_is again failed
# shellcheck disable=SC2317 # wait_until calls it
has_two() {
    [ "$(peal runs again -o json | jq '[.[] | select(.finished_at != null)] | length')" = 2 ]
}
wait_until has_two
for run in $(peal runs again -o json | jq -r '.[].run_id'); do
    run peal logs "$run"
    expect_stdout 262144
done
run peal run --again "$id" --follow
expect_stdout_has 262144

# ---- what a run can't have ----
make_webhook once
post_standard "$url" "$secret" first "$(date +%s)" "$body"
expect_code 202
post_standard "$url" "$secret" second "$(date +%s)" "$body"
expect_code 409
expect_stdout_has 'still under way'
# It was not delivered, and may be tried again.
run peal kill once
post_standard "$url" "$secret" second "$(date +%s)" "$body"
[ "$(head -n 1 "$scratch/err")" = 202 ] || wait_until newest_is once killed
make_webhook needs
post_standard "$url" "$secret" needs "$(date +%s)" "$body"
expect_code 422
expect_stdout_has 'params.day'
run peal webhook create fed
expect_status 6
expect_stderr_has 'of its own, which leaves none for PEAL_INPUT'

# A pause is for ticks; what is deleted has no webhook, until it is back.
run peal pause words
url=$(peal webhook list -o json | jq -r '.[] | select(.job == "words").url')
run peal webhook rotate words
secret=$(sed -n 2p "$scratch/out")
post_standard "$url" "$secret" paused "$(date +%s)" "$body"
expect_code 202
run peal delete words --yes
post_standard "$url" "$secret" deleted "$(date +%s)" "$body"
expect_code 401
run peal undelete words
post_standard "$url" "$secret" back "$(date +%s)" "$body"
expect_code 202

# ---- in Chinese ----
run env PEAL_LANG=zh peal webhook list
expect_stdout_has words
run env PEAL_LANG=zh peal webhook
expect_stderr_has '要对 Webhook 做什么'
finish
