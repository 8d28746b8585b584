#!/bin/bash
# Several nodes behind nginx as people run it, with the example of packaging/nginx: TLS to nginx and
# from there to the nodes, sessions that hold on all of them, the next node where one is gone,
# streams of events that pass through and go on, and whose word is taken for where a client is.
# shellcheck disable=SC2317 # functions are called by run and wait_until
. "$(dirname "$0")/lib.sh"

program=$(PATH=$PATH:/usr/sbin command -v nginx) || {
    echo 'nginx is not installed'
    exit 77
}
unset PEAL_URL PEAL_TOKEN PEAL_TOKEN_FILE PEAL_CA PEAL_LISTEN
etcd_start
host=peal.example.com

# ---- the nodes, each with a certificate of its own ----
printf 'hosts: %s\ntrusted_proxies: 127.0.0.1\n' "$host" >"$scratch/peal.yaml"
port_of() { # NODE
    sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' "$scratch/$1/peal.log" | tail -n 1
}
for node in one two; do
    run peal tls init --data "$scratch/$node" --host "$host"
    expect_status 0
    start_agent $node --config "$scratch/peal.yaml" --store "$etcd_url/nginx" --node-id $node \
        --listen 127.0.0.1:0
    cat "$scratch/$node/tls/cert.pem" >>"$scratch/nodes.pem"
done
echo 'correct horse' >"$scratch/password"
run peal user add anna --role admin --password-file "$scratch/password"
expect_status 0

# ---- nginx ----
run peal tls init --data "$scratch/front" --host "$host"
expect_status 0
mapfile -t ports < <(free_ports)
url=https://$host:${ports[0]}
web=$scratch/web
mkdir "$web"
sed -e "s|node-1.example.com:7325|127.0.0.1:$(port_of one)|" \
    -e "s|node-2.example.com:7325|127.0.0.1:$(port_of two)|" \
    -e "s|listen 443 ssl|listen 127.0.0.1:${ports[0]} ssl|" \
    -e "s|/etc/nginx/peal/cert.pem|$scratch/front/tls/cert.pem|" \
    -e "s|/etc/nginx/peal/key.pem|$scratch/front/tls/key.pem|" \
    -e "s|/etc/nginx/peal/nodes.pem|$scratch/nodes.pem|" \
    "$source_dir/packaging/nginx/peal.conf" >"$web/peal.conf"
nginx_frame "$web" "$web/nginx.conf"
"$program" -c "$web/nginx.conf" -e "$web/error.log" &
web_pid=$!
trap 'kill $web_pid $stream 2>/dev/null; end_agents; etcd_stop; rm -rf "$scratch"' EXIT
stream=

# As a browser: by its name, with the cookie, from a page of this site.
browse() { # PATH [CURL OPTION...]
    curl -s --cacert "$scratch/front/tls/cert.pem" --resolve "$host:${ports[0]}:127.0.0.1" \
        -H "Origin: $url" -b "$scratch/cookies" "$url$1" "${@:2}"
}
nodes_asked() { # TIMES
    for _ in $(seq "$1"); do
        browse /api/v1/agent | jq -r .node
    done | sort -u | tr '\n' ' '
}
wait_until browse /livez -f

# ---- a session, made by one node and known to both ----
run browse /api/v1/agent -o /dev/null -w '%{http_code}'
expect_stdout 401
# From 127.0.0.3, and whatever that says of itself.
run browse /api/v1/login -d '{"name":"anna","password":"correct horse"}' -c "$scratch/cookies" \
    --interface 127.0.0.3 -H 'X-Forwarded-For: 203.0.113.9'
expect_json .name '"anna"'
run grep -c '#HttpOnly_.*TRUE.*__Host-peal_session' "$scratch/cookies"
expect_stdout 1
run nodes_asked 8
expect_stdout 'one two '

# What one node stores, all show.
put() { # NAME [CURL OPTION...]
    browse "/api/v1/jobs/$1" -X PUT -d '{"schedule":"@manual","command":["true"]}' "${@:2}"
}
run put a
expect_json .name '"a"'
agree() {
    for _ in 1 2 3 4; do
        browse /api/v1/jobs/a | jq -e '.name == "a"' || return
    done
}
wait_until agree

# ---- where a client is: nginx is believed, and nobody else ----
logins() {
    for node in one two; do
        peal audit --data "$scratch/$node" -o json | jq -r '.[] | select(.action == "login") | .address'
    done | sort -u | tr '\n' ' '
}
run logins
expect_stdout '127.0.0.3 '
curl -s --cacert "$scratch/one/tls/cert.pem" --resolve "$host:$(port_of one):127.0.0.1" \
    --interface 127.0.0.2 -H 'X-Forwarded-For: 203.0.113.9' -o "$scratch/direct" \
    -d '{"name":"anna","password":"correct horse"}' "https://$host:$(port_of one)/api/v1/login"
run logins
expect_stdout '127.0.0.2 127.0.0.3 '

# ---- events come while the stream is open ----
listen() { # FILE [CURL OPTION...]
    browse '/api/v1/events?topics=jobs' -N "${@:2}" >"$scratch/$1" &
    stream=$!
}
listen events
wait_until grep -q 'event: hello' "$scratch/events"
run put b
wait_until grep -q '"job":"b"' "$scratch/events"

# The node that sends them is killed: its ids start with the time of its start.
first=two
epoch=$(sed -n 's/^id: \([0-9a-f]*\)-.*/\1/p' "$scratch/events" | head -n 1)
started=$(curl -s --unix-socket "$scratch/one/api.sock" http://peal/api/v1/agent | jq -r .started_at)
[ "$(printf %x "$(date -d "$started" +%s%3N)")" != "$epoch" ] || first=one
kill -9 "$(cat "$scratch/$first/peal.pid")"
wait $stream
other=two
[ $first = one ] || other=one

run nodes_asked 8
expect_stdout "$other "
run browse /api/v1/jobs -o /dev/null -w '%{http_code}'
expect_stdout 200

# The client comes back with what it saw last: the other node goes on from there.
last=$(sed -n 's/^id: //p' "$scratch/events" | tail -n 1)
listen again -H "Last-Event-ID: $last"
wait_until grep -q '^id: ' "$scratch/again"
run grep -c 'event: reset' "$scratch/again"
expect_stdout 0
run put c
expect_json .name '"c"'
wait_until grep -q '"job":"c"' "$scratch/again"

# Mistakes come through as they are.
run browse /api/v1/nothing -w '%{http_code} %{content_type}' -o /dev/null
expect_stdout '404 application/problem+json'

# ---- a node without TLS: the proxy says whether the client has it ----
printf 'trusted_proxies: 127.0.0.2\n' >"$scratch/plain.yaml"
start_agent plain --config "$scratch/plain.yaml" --listen 127.0.0.1:0
run peal user add anna --role admin --password-file "$scratch/password"
expect_status 0
cookie_from() { # ADDRESS PROTOCOL
    curl -s -i --interface "$1" -H "X-Forwarded-Proto: $2" \
        -d '{"name":"anna","password":"correct horse"}' \
        "http://127.0.0.1:$(port_of plain)/api/v1/login" | grep -i '^set-cookie:'
}
run cookie_from 127.0.0.2 https
expect_stdout_has '__Host-peal_session='
expect_stdout_has '; Secure'
run cookie_from 127.0.0.2 http
expect_stdout_has 'Set-Cookie: peal_session='
expect_stdout_lacks Secure
run cookie_from 127.0.0.3 https
expect_stdout_has 'Set-Cookie: peal_session='
expect_stdout_lacks Secure

finish
