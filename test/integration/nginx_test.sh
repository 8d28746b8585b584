#!/bin/bash
# Several nodes behind nginx, with the example of packaging/nginx: requests are shared out, the next
# node answers where one is gone, and streams of events pass through and go on.
# shellcheck disable=SC2317 # functions are called by run and wait_until
. "$(dirname "$0")/lib.sh"

program=$(PATH=$PATH:/usr/sbin command -v nginx) || {
    echo 'nginx is not installed'
    exit 77
}
unset PEAL_URL PEAL_LISTEN
etcd_start

# Through their UNIX sockets, where the kernel says who asks: this user.
for node in one two; do
    start_agent $node --store "$etcd_url/nginx" --node-id $node --listen none
done
run peal tls init --data "$scratch/tls"
expect_status 0

mapfile -t ports < <(free_ports)
url=https://127.0.0.1:${ports[0]}
web=$scratch/web
mkdir "$web"
sed -e "s|node-1.example.com:7325|unix:$scratch/one/api.sock|" \
    -e "s|node-2.example.com:7325|unix:$scratch/two/api.sock|" \
    -e "s|listen 443 ssl|listen 127.0.0.1:${ports[0]} ssl|" -e 's|https://peal|http://peal|' \
    -e "s|/etc/nginx/peal/cert.pem|$scratch/tls/tls/cert.pem|" \
    -e "s|/etc/nginx/peal/key.pem|$scratch/tls/tls/key.pem|" \
    -e '/proxy_ssl_/d' "$source_dir/packaging/nginx/peal.conf" >"$web/peal.conf"
user=
[ "$(id -u)" -ne 0 ] || user='user root;'
cat >"$web/nginx.conf" <<END
daemon off; worker_processes 1; pid $web/pid; error_log $web/error.log; $user
events { worker_connections 64; }
http { access_log off; client_body_temp_path $web/b; proxy_temp_path $web/p;
  fastcgi_temp_path $web/f; uwsgi_temp_path $web/u; scgi_temp_path $web/s;
  include $web/peal.conf; }
END
"$program" -c "$web/nginx.conf" -e "$web/error.log" &
web_pid=$!
trap 'kill $web_pid $stream 2>/dev/null; end_agents; etcd_stop; rm -rf "$scratch"' EXIT
stream=

ask() { # PATH [CURL OPTION...]
    curl -s --cacert "$scratch/tls/tls/cert.pem" "$url$1" "${@:2}"
}
nodes_asked() { # TIMES
    for _ in $(seq "$1"); do
        ask /api/v1/agent | jq -r .node
    done | sort -u | tr '\n' ' '
}
wait_until ask /livez -f

run nodes_asked 8
expect_stdout 'one two '

# What one node stores, all show.
run ask /api/v1/jobs/a -X PUT -d '{"schedule":"@manual","command":["true"]}'
expect_json .name '"a"'
agree() {
    for _ in 1 2 3 4; do
        ask /api/v1/jobs/a | jq -e '.name == "a"' || return
    done
}
wait_until agree

# Events come while the stream is open.
listen() { # FILE [CURL OPTION...]
    curl -sN --cacert "$scratch/tls/tls/cert.pem" "$url/api/v1/events?topics=jobs" "${@:2}" \
        >"$scratch/$1" &
    stream=$!
}
listen events
wait_until grep -q 'event: hello' "$scratch/events"
run ask /api/v1/jobs/b -X PUT -d '{"schedule":"@manual","command":["true"]}'
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
run ask /api/v1/jobs -o /dev/null -w '%{http_code}'
expect_stdout 200

# The client comes back with what it saw last: it is told to read anew, and then what happens.
last=$(sed -n 's/^id: //p' "$scratch/events" | tail -n 1)
listen again -H "Last-Event-ID: $last"
wait_until grep -q 'event: reset' "$scratch/again"
run ask /api/v1/jobs/c -X PUT -d '{"schedule":"@manual","command":["true"]}'
expect_json .name '"c"'
wait_until grep -q '"job":"c"' "$scratch/again"

# Mistakes come through as they are.
run ask /api/v1/nothing -w '%{http_code} %{content_type}' -o /dev/null
expect_stdout '404 application/problem+json'

finish
