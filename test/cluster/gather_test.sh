#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# Three nodes without a database that they share: each shows the runs, the output and the changes of
# all of them. One that is away is named, and is whole again when it is back. Who is no node of the
# cluster reads nothing, and a node that only works opens no port.
. "$(dirname "$0")/lib.sh"

start_etcd 1
for node in a b c; do
    start_node "$node" --label "name=$node"
done

# ---- what ran anywhere is seen everywhere ----

for node in a b c; do
    echo "---"
    echo "{name: on-$node, schedule: '@manual', where: name=$node, command: [echo, hello from $node]}"
done >"$scratch/jobs.yaml"
run on a apply -f "$scratch/jobs.yaml"
expect_status 0
for node in a b c; do
    wait_for 20 node_is "$node" ready
    wait_for 10 on "$node" get "on-$node"
    run on "$node" run "on-$node"
    expect_status 0
done

sees() { # NODE RAN-ON
    has_state "$1" "on-$2" ok &&
        [ "$(on "$1" logs "$(on "$1" runs "on-$2" -n 1 -o name)")" = "hello from $2" ]
}
for node in a b c; do
    for other in a b c; do
        wait_for 20 sees "$node" "$other"
    done
    run on "$node" runs -o json
    expect_status 0
    expect_stderr ''
    checks=$((checks + 1))
    [ "$(jq -r 'map(.job) | sort | join(" ")' <"$scratch/out")" = "on-a on-b on-c" ] ||
        mismatch "$node shows other runs"
    run on "$node" stats -o json
    checks=$((checks + 1))
    [ "$(jq 'map(.ok) | add' <"$scratch/out")" = 3 ] || mismatch "$node counts other runs"
done

# Pages of one, through all three histories.
page_by_page() {
    local cursor='' page
    while page=$(curl -s --unix-socket "$scratch/b/api.sock" \
        "http://localhost/api/v1/runs?limit=1${cursor:+&cursor=$cursor}"); do
        jq -r '.items[].id' <<<"$page"
        cursor=$(jq -r '.next // empty' <<<"$page")
        [ -n "$cursor" ] || break
    done
}
run page_by_page
cp "$scratch/out" "$scratch/pages"
run on b runs -o json
checks=$((checks + 1))
jq -r '.[].id' <"$scratch/out" | cmp - "$scratch/pages" || mismatch "pages differ from the list"

# What was asked of one node is on the trail of all.
run on c pause on-b
expect_status 0
trail_has() { on "$1" audit -o json | jq -e 'map(.action) | index("pause")'; } # NODE
wait_for 5 trail_has a
run on a nodes -o wide
expect_stdout_has ' own '
run on a doctor
expect_stdout_has 'histories: those of all 3 nodes can be read'

# ---- one is away ----

of_b=$(on a runs on-b -n 1 -o name)
kill_agent b
is_marked() { on "$1" runs -o json 2>&1 >/dev/null | grep -q "^node b .*: what it has on record is not shown"; }
wait_for 5 is_marked a
wait_for 20 node_is b gone a
run on a runs -o json
expect_status 0
expect_stderr 'node b is away: what it has on record is not shown'
checks=$((checks + 1))
[ "$(jq -r 'map(.job) | sort | join(" ")' <"$scratch/out")" = "on-a on-c" ] ||
    mismatch "a shows other runs"
run on a logs "$of_b"
expect_status 3
expect_stderr_has 'node b is away, and may have it'
run curl -s --unix-socket "$scratch/a/api.sock" 'http://localhost/api/v1/stats'
expect_stdout_has '"incomplete":[{"node":"b","why":"is away"}]'
bring_back b --label name=b
wait_for 20 sees a b
run on a runs -o json
expect_stderr ''

# One that is silent is not waited for.
freeze b
before=$(now_ms)
run on a runs -o json
took=$(($(now_ms) - before))
expect_status 0
expect_stderr_has 'node b '
checks=$((checks + 1))
((took < 8000)) || mismatch "waited $took ms for a silent node"
thaw b
wait_for 30 sees a b

# ---- strangers ----

port_of() { ctl get "$prefix/nodes/$1" --print-value-only | jq -r .history_address; } # NODE
at=$(port_of a)
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=peal \
    -keyout "$scratch/stranger.key" -out "$scratch/stranger.pem" 2>/dev/null
ask() { # OPTION...
    curl -sk --max-time 10 "$@" -d '{"limit":10}' "https://$at/peer/v1/history/read"
}
ask_output() { # OPTION...
    curl -sk --max-time 10 "$@" -d '{"run_id":"01K9ZQ3V7C8XH2M4N5P6Q7R8S9","limit":10}' "https://$at/peer/v1/output"
}
run ask_output # without any
checks=$((checks + 1))
[ "$status" != 0 ] || mismatch "shows output to who shows no certificate"
run ask_output --cert "$scratch/stranger.pem" --key "$scratch/stranger.key"
checks=$((checks + 1))
[ "$status" != 0 ] || mismatch "shows output to a stranger"
expect_stdout ''
run ask # without any
checks=$((checks + 1))
[ "$status" != 0 ] || mismatch "answers who shows no certificate"
run ask --cert "$scratch/stranger.pem" --key "$scratch/stranger.key"
checks=$((checks + 1))
[ "$status" != 0 ] || mismatch "answers a stranger"
expect_stdout ''
run curl -s --max-time 10 "http://$at/peer/v1/history/read"
checks=$((checks + 1))
[ "$status" != 0 ] || mismatch "answers without TLS"

# With a fingerprint that is announced it is a node, until that node has left.
print=$(openssl x509 -in "$scratch/stranger.pem" -outform der | sha256sum | cut -d' ' -f1)
lease=$(ctl lease grant 60 | cut -d' ' -f2)
ctl get "$prefix/nodes/a" --print-value-only |
    jq -c --arg print "$print" '.fingerprint = $print | .history_address = ""' >"$scratch/guest"
ctl put "$prefix/nodes/guest" --lease "$lease" <"$scratch/guest" >/dev/null
is_let_in() { ask --cert "$scratch/stranger.pem" --key "$scratch/stranger.key" | grep -q '"rows"'; }
is_kept_out() { ! is_let_in; }
wait_for 10 is_let_in
run curl -sk --cert "$scratch/stranger.pem" --key "$scratch/stranger.key" -o "$scratch/answer" \
    -w '%{http_code}' -d '{}' "https://$at/api/v1/jobs"
expect_stdout 404
# It may read the history and output, and nothing else: neither write it, nor call the API there.
guest() { # METHOD PATH
    curl -sk --max-time 10 --cert "$scratch/stranger.pem" --key "$scratch/stranger.key" -X "$1" -d '{}' \
        -o "$scratch/answer" -w '%{http_code}' "https://$at$2"
}
for path in /peer/v1/history/append /peer/v1/history/prune /peer/v1/docs /api/v1/users /api/v1/login /v1/jobs / /livez; do
    run guest POST "$path"
    expect_stdout 404
done
for method in PUT PATCH DELETE; do
    for path in /peer/v1/history/read /peer/v1/output; do
        run guest $method $path
        expect_stdout 405
    done
done
run guest POST /peer/v1/output # without a run
expect_stdout 422
run ask_output --cert "$scratch/stranger.pem" --key "$scratch/stranger.key"
expect_json .chunks '[]'
run on a runs -o json
expect_stderr_has 'node guest does not share its history (--peer-listen)'
ctl lease revoke "$lease" >/dev/null
wait_for 10 is_kept_out

# ---- a node that only works ----

start_node d --role worker
run ss -ltnpH
checks=$((checks + 1))
! grep -q "pid=$(agent_of d)," "$scratch/out" || mismatch "a worker listens on TCP"
checks=$((checks + 1))
grep -q "pid=$(agent_of a)," "$scratch/out" || mismatch "a does not listen"
for node in "${nodes[@]}"; do
    PEAL_DATA=$scratch/$node check_logs
done
finish
