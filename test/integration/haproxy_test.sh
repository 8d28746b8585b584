#!/bin/bash
# A node behind HAProxy, with the example of packaging/haproxy: it is right, TLS holds to the node,
# and a session, the client's address and a stream of events come through.
# shellcheck disable=SC2317 # functions are called by run and wait_until
. "$(dirname "$0")/lib.sh"

program=$(PATH=$PATH:/usr/sbin command -v haproxy) || {
    echo 'haproxy is not installed'
    exit 77
}
unset PEAL_URL PEAL_TOKEN PEAL_TOKEN_FILE PEAL_CA PEAL_LISTEN
host=peal.example.com
printf 'hosts: %s\ntrusted_proxies: 127.0.0.1\n' "$host" >"$scratch/peal.yaml"
echo 'correct horse' >"$scratch/password"
run peal tls init --data "$scratch/one" --host "$host"
expect_status 0
start_agent one --config "$scratch/peal.yaml" --listen 127.0.0.1:0
run peal user add anna --role admin --password-file "$scratch/password"
expect_status 0
port=$(sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' "$scratch/one/peal.log")

# One node is there, the other is not.
run peal tls init --data "$scratch/front" --host "$host"
cat "$scratch/front/tls/cert.pem" "$scratch/front/tls/key.pem" >"$scratch/site.pem"
mapfile -t ports < <(free_ports)
url=https://$host:${ports[0]}
sed -e "s|node-1.example.com:7325|127.0.0.1:$port|" \
    -e "s|node-2.example.com:7325|127.0.0.1:${ports[1]}|" \
    -e "s|bind :443|bind 127.0.0.1:${ports[0]}|" -e 's|maxconn 20000|maxconn 100|' \
    -e 's|inter 2s fall 1|inter 500ms fall 3|' \
    -e "s|/etc/haproxy/peal/site.pem|$scratch/site.pem|" \
    -e "s|/etc/haproxy/peal/nodes.pem|$scratch/one/tls/cert.pem|" \
    "$source_dir/packaging/haproxy/peal.cfg" >"$scratch/haproxy.cfg"
run "$program" -c -f "$scratch/haproxy.cfg"
expect_status 0
"$program" -db -f "$scratch/haproxy.cfg" >"$scratch/haproxy.log" 2>&1 &
proxy_pid=$!
stream=
trap 'kill $proxy_pid $stream 2>/dev/null; end_agents; rm -rf "$scratch"' EXIT

browse() { # PATH [CURL OPTION...]
    curl -s --cacert "$scratch/front/tls/cert.pem" --resolve "$host:${ports[0]}:127.0.0.1" \
        -H "Origin: $url" -b "$scratch/cookies" "$url$1" "${@:2}"
}
wait_until browse /livez -f

# Each check of the node ends with a reset, often while the node still sends.
for _ in $(seq 100); do
    run browse /livez -f
done
expect_status 0
run browse /api/v1/login -d '{"name":"anna","password":"correct horse"}' -c "$scratch/cookies" \
    --interface 127.0.0.3 -H 'X-Forwarded-For: 203.0.113.9'
expect_json .name '"anna"'
run peal audit -o json
expect_json '[.[] | select(.action == "login") | .address]' '["127.0.0.3"]'
browse '/api/v1/events?topics=jobs' -N >"$scratch/events" &
stream=$!
wait_until grep -q 'event: hello' "$scratch/events"
run browse /api/v1/jobs/a -X PUT -d '{"schedule":"@manual","command":["true"]}'
expect_json .name '"a"'
wait_until grep -q '"job":"a"' "$scratch/events"

finish
