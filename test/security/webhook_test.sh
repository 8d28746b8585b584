#!/bin/bash
# Attacks on the paths of webhooks: guessed and replayed signatures, doubled headers, paths that mean
# something else, bodies that are large or slow, words of headers that reach environments and logs.
# shellcheck disable=SC2016 # texts of jobs
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../integration/webhook_lib.sh"
port=$(free_ports | head -n 1)
start_agent data --listen "127.0.0.1:$port"
base=http://127.0.0.1:$port
body=$scratch/body
printf '{"a":1}' >"$body"
cat >"$scratch/jobs.yaml" <<YAML
name: hooked
schedule: "@manual"
overlap: allow
shell: |
  printf '[%s]' "\$PEAL_WEBHOOK_EVENT" "\$PEAL_WEBHOOK_DELIVERY" "\$PEAL_INPUT_TYPE" >>$scratch/seen
  echo >>$scratch/seen
---
name: bare
schedule: "@manual"
command: ["true"]
---
name: reads
schedule: "@manual"
shell: ': reads "\$PEAL_INPUT"; sleep 600; true'
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
make_webhook hooked --kind github --rate 100/s
github=$url github_secret=$secret
make_webhook bare --rate 100/s
generic=$url generic_secret=$secret
now=$(date +%s)

# shellcheck disable=SC2317 # run calls it
runs_of() { # JOB
    peal runs "$1" -o json | jq length
}

# ---- no oracle: whatever is wrong, the answer is the same ----
answer_of() { # without the id of the request
    jq -c 'del(.request_id)' "$scratch/out"
}
post "$base/hooks/01ARZ3NDEKTSV4RRFFQ69G5FAV" "$body" 'X-Hub-Signature-256: sha256=00'
expect_code 401
same=$(answer_of)
good=$(sign_github "$github_secret" "$body")
for headers in 'X-A: b' "X-Hub-Signature-256: ${good%?}0" "X-Hub-Signature-256: ${good^^}" \
    "X-Hub-Signature-256: " "X-Hub-Signature: $good" "Authorization: Bearer $github_secret" \
    "X-Gitlab-Token: $github_secret"; do
    post "$github" "$body" "$headers" 'X-GitHub-Delivery: wrong'
    expect_code 401
    [ "$(answer_of)" = "$same" ] || mismatch "expected $same"
done
post "$github" "$body" "X-Hub-Signature-256: $good" "X-Hub-Signature-256: $good" 'X-GitHub-Delivery: twice'
expect_code 401
post "$github" "$body" "X-Hub-Signature-256: $good" 'X-GitHub-Delivery: x' 'X-GitHub-Delivery: y'
expect_code 400
run runs_of hooked
expect_stdout 0

# ---- paths ----
uid=${github##*/}
for path in "/hooks/${uid,,}" "/hooks/$uid/" "/hooks//$uid" "/hooks/../hooks/$uid" "/hooks/$uid%00" \
    "/hooks/%2e%2e/$uid" "/hooks/hooked" "/hooks/" "/hooks" "/api/v1/hooks/$uid"; do
    post_github "$base$path" "$github_secret" "path" "$body"
    case $(head -n 1 "$scratch/err") in
    40[0145] | 422) checks=$((checks + 1)) ;;
    *) mismatch "expected a refusal of $path" ;;
    esac
done
for method in GET PUT DELETE PATCH; do
    run curl -sS -o "$scratch/answer" -w '%{http_code}' -X $method "$github"
    expect_stdout 401 # as for any path, known or not
done
# Encoded, it is still the same path, and the same delivery.
post_github "$base/hooks/%30${uid#0}" "$github_secret" encoded "$body"
expect_code 202
post_github "$github" "$github_secret" encoded "$body"
expect_code 200
run runs_of hooked
expect_stdout 1

# ---- replays ----
post_standard "$generic" "$generic_secret" first "$now" "$body"
expect_code 202
post_standard "$generic" "$generic_secret" first "$now" "$body"
expect_code 200
post_standard "$generic" "$generic_secret" old $((now - 400)) "$body"
expect_code 401
post_standard "$generic" "$generic_secret" ahead $((now + 400)) "$body"
expect_code 401
signature=$(sign_standard "$generic_secret" first "$now" "$body")
post "$generic" "$body" "webhook-signature: $signature" 'webhook-id: other' "webhook-timestamp: $now"
expect_code 401
post "$generic" "$body" "webhook-signature: $signature" 'webhook-id: first' "webhook-timestamp: $((now + 1))"
expect_code 401
printf '%s.x' "$now" >"$scratch/shifted" # "a.b.NOW.x": which part is the id?
signature=$(sign_standard "$generic_secret" a "$now" "$scratch/shifted")
printf x >"$scratch/rest"
post "$generic" "$scratch/rest" "webhook-signature: $signature" "webhook-id: a.$now" "webhook-timestamp: $now"
expect_code 401
# The secret of one webhook is nothing at another, nor is one kind of signature for another kind.
post_github "$generic" "$generic_secret" cross "$body"
expect_code 401
post_standard "$github" "$generic_secret" cross "$now" "$body"
expect_code 401
run runs_of bare
expect_stdout 1

# ---- words of headers ----
printf '[push_x_y__ _id_][z_ls_][text/plain; a_b]\n' >"$scratch/wanted"
: >"$scratch/seen"
run curl -sS -o "$scratch/answer" -w '%{http_code}' -X POST --data-binary "@$body" "$github" \
    -H "X-Hub-Signature-256: $good" -H "X-GitHub-Event: push\$x\`y\`\$ (id)" \
    -H 'X-GitHub-Delivery: z"ls"' -H $'Content-Type: text/plain; a\tb'
expect_stdout 202
# shellcheck disable=SC2317 # wait_until calls it
has_seen() {
    [ -s "$scratch/seen" ]
}
wait_until has_seen
run cmp "$scratch/seen" "$scratch/wanted"
expect_status 0
run peal runs hooked
expect_stdout_lacks '"ls"'

# ---- bodies ----
head -c 262145 /dev/zero >"$scratch/large"
post_github "$github" "$github_secret" large "$scratch/large"
expect_code 413
post_github "$base/hooks/01ARZ3NDEKTSV4RRFFQ69G5FAV" x large "$scratch/large"
expect_code 413
post_github "$github" "$github_secret" chunked "$scratch/large" 'Transfer-Encoding: chunked'
expect_code 413
# One that never ends holds up nobody, and starts nothing.
exec 9<>"/dev/tcp/127.0.0.1/$port"
printf 'POST /hooks/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\nX-Hub-Signature-256: %s\r\nX-GitHub-Delivery: slow\r\n\r\n{"a"' \
    "$uid" "$good" >&9
post_github "$github" "$github_secret" beside "$body"
expect_code 202
exec 9>&-
run sh -c "peal runs hooked -o json | jq -c '[.[] | .by] | any(endswith(\" slow\"))'"
expect_stdout false

# ---- guesses: 429, and yet the right secret is not locked out ----
for _ in $(seq 30); do
    post "$github" "$body" 'X-Hub-Signature-256: sha256=0' 'X-GitHub-Delivery: guess'
done
expect_code 429
expect_stdout_has 'wrong signature'
post_github "$github" "$github_secret" right "$body"
expect_code 202

# ---- who sees the secret ----
run peal user add anna --role viewer --password-file <(echo 'a long password of anna')
expect_status 0
run peal token create look --user anna
token=$(cat "$scratch/out")
for path in webhooks jobs/hooked/webhook jobs/hooked audit; do
    run curl -sS -H "Authorization: Bearer $token" "$base/api/v1/$path"
    expect_stdout_lacks "$github_secret"
    expect_stdout_lacks "${github_secret#whsec_}"
done
run curl -sS -o /dev/null -w '%{http_code}' -X POST -H "Authorization: Bearer $token" "$base/api/v1/jobs/hooked/webhook/rotate"
expect_stdout 403
run curl -sS -o /dev/null -w '%{http_code}' "$base/api/v1/webhooks"
expect_stdout 401
run grep -rlF "${github_secret#whsec_}" "$scratch/data" --include='*.log' --include='history*'
expect_status 1

# ---- the file of a run is nobody else's ----
make_webhook reads --kind github
post_github "$url" "$secret" file "$body"
expect_code 202
# shellcheck disable=SC2317 # wait_until calls it
is_running() {
    pid=$(processes_with ': reads "$PEAL_INPUT"' | head -n 1)
    [ -n "$pid" ] && [ -e "/proc/$pid/fd/3" ]
}
wait_until is_running
pid=$(processes_with ': reads "$PEAL_INPUT"' | head -n 1)
run cat "/proc/$pid/fd/3"
expect_stdout '{"a":1}'
if [ "$(id -u)" -eq 0 ]; then
    run setpriv --reuid=nobody --regid=nogroup --clear-groups cat "/proc/$pid/fd/3"
    expect_status 1
fi
run sh -c "echo x >/proc/$pid/fd/3"
[ "$status" -ne 0 ] || mismatch 'the file can be written'
finish
