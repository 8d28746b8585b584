#!/bin/bash
# smuggling_test.sh nginx|haproxy ATTACK CONTROL
# Requests with an unfinished one in their body, through a real proxy that has a single connection
# to the agent: whoever asks next gets the answer to what they asked, and nothing is deleted. The
# files of packaging/, with TLS towards the agent and without. The server `control`, which reads
# less strictly, falls for it: the test can fail.
# shellcheck disable=SC2317 # functions are called by run and wait_until
. "$(dirname "$0")/lib.sh"

kind=$1
attack=$2
control=$3
program=$(PATH=$PATH:/usr/sbin command -v "$kind") || {
    echo "$kind is not installed"
    exit 77
}
host=peal.example.com
proxy_pid=
control_pid=
trap 'kill $proxy_pid $control_pid 2>/dev/null; end_agents; rm -rf "$scratch"' EXIT
run peal tls init --data "$scratch/front" --host "$host"
expect_status 0
cat "$scratch/front/tls/cert.pem" "$scratch/front/tls/key.pem" >"$scratch/site.pem"
mapfile -t ports < <(free_ports)
front=${ports[0]}

# ---- the proxies ----

# The example, with one connection to PORT; nginx passes on the id that the client chose.
nginx_configure() { # PORT plain|tls [LINE]
    local web=$scratch/web.$1.$2
    mkdir -p "$web"
    sed -e "s|node-1.example.com:7325.*|127.0.0.1:$1;|" -e '/node-2.example.com/d' \
        -e 's|keepalive 32|keepalive 1|' -e "s|listen 443 ssl|listen 127.0.0.1:$front ssl|" \
        -e "s|/etc/nginx/peal/cert.pem|$scratch/front/tls/cert.pem|" \
        -e "s|/etc/nginx/peal/key.pem|$scratch/front/tls/key.pem|" \
        -e "s|/etc/nginx/peal/nodes.pem|$scratch/nodes.pem|" \
        -e "s|\$request_id|\$http_x_request_id|" -e "s|^    proxy_http_version 1.1;|& ${3-}|" \
        "$source_dir/packaging/nginx/peal.conf" >"$web/peal.conf"
    [ "$2" = tls ] || sed -i 's|https://peal|http://peal|' "$web/peal.conf"
    nginx_frame "$web" "$scratch/proxy.conf"
}

haproxy_configure() { # PORT plain|tls
    sed -e "s|server node-1 .*|server node-1 127.0.0.1:$1 maxconn 1 pool-max-conn 1|" \
        -e '/server node-2/d' -e "s|bind :443|bind 127.0.0.1:$front|" \
        -e 's|maxconn 20000|maxconn 100|' -e 's|inter 2s fall 1|inter 500ms fall 5|' \
        -e 's|balance leastconn|&\n    http-reuse always|' \
        -e "s|/etc/haproxy/peal/site.pem|$scratch/site.pem|" \
        -e "s|/etc/haproxy/peal/nodes.pem|$scratch/nodes.pem|" \
        "$source_dir/packaging/haproxy/peal.cfg" >"$scratch/proxy.conf"
    [ "$2" = tls ] || sed -i -e 's| ssl verify required.*||' -e "s|hdr Host $host|hdr Host 127.0.0.1|" \
        "$scratch/proxy.conf"
}

answers() {
    curl -sf --cacert "$scratch/front/tls/cert.pem" --resolve "$host:$front:127.0.0.1" \
        -H 'Host: 127.0.0.1' "https://$host:$front/livez"
}

start_proxy() {
    case $kind in
    nginx) "$program" -c "$scratch/proxy.conf" -e "$scratch/proxy.log" & ;;
    haproxy) "$program" -db -f "$scratch/proxy.conf" >"$scratch/proxy.log" 2>&1 & ;;
    esac
    proxy_pid=$!
    wait_until answers
}

stop_proxy() {
    kill "$proxy_pid"
    wait "$proxy_pid" 2>/dev/null
    proxy_pid=
}

# ---- peal withstands it ----

withstand() { # CONFIGURE ARGUMENT...
    "$@"
    start_proxy
    run "$attack" swallow "tls:$front" "$token"
    expect_status 0
    tail -n 1 "$scratch/out"
    stop_proxy
    expect_bait
}

start_target plain
withstand "${kind}_configure" "$port" plain
if [ "$kind" = nginx ]; then
    withstand nginx_configure "$port" plain 'proxy_request_buffering off; proxy_buffering off;'
fi
run peal tls init --data "$scratch/tls" --host "$host"
expect_status 0
cp "$scratch/tls/tls/cert.pem" "$scratch/nodes.pem"
start_target tls
withstand "${kind}_configure" "$port" tls

# ---- another does not ----

"$control" >"$scratch/seen" &
control_pid=$!
wait_until test -s "$scratch/seen"
"${kind}_configure" "$(head -n 1 "$scratch/seen")" plain
start_proxy
run "$attack" swallow "tls:$front" none
expect_status 1
tail -n 1 "$scratch/out"
stop_proxy
run grep -c '^DELETE /api/v1/jobs/bait$' "$scratch/seen"
expect_status 0
finish
