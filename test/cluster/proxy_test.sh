#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# proxy_test.sh nginx|haproxy
# Two nodes behind a real proxy, with the file of packaging/: the output of a run is followed through
# it, whichever node has the run and whichever is asked, also when one of them dies; and only by who
# may see the job. While etcd is away, people are let in.
. "$(dirname "$0")/lib.sh"

kind=$1
program=$(PATH=$PATH:/usr/sbin command -v "$kind") || {
    echo "$kind is not installed"
    exit 77
}
unset PEAL_URL PEAL_TOKEN PEAL_TOKEN_FILE PEAL_CA PEAL_LISTEN
host=peal.example.com
gate=$scratch/gate
start_etcd 1

# ---- nodes ----

printf 'hosts: %s\ntrusted_proxies: 127.0.0.1\n' "$host" >"$scratch/peal.yaml"
start_api_node() { # NODE [OPTION...]
    run on "$1" start -d --store "etcd://$endpoints$prefix" --node-id "$1" --capacity 1 \
        --config "$scratch/peal.yaml" --label "name=$1" "${@:2}"
    expect_status 0
}
port_of() { # NODE
    sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' "$scratch/$1/peal.log" | tail -n 1
}
for node in one two; do
    nodes+=("$node")
    run peal tls init --data "$scratch/$node" --host "$host"
    expect_status 0
    start_api_node "$node" --listen 127.0.0.1:0
    cat "$scratch/$node/tls/cert.pem" >>"$scratch/nodes.pem"
done
for node in one two; do
    echo "---"
    echo "{name: team/on-$node, schedule: '@manual', where: name=$node, overlap: allow,"
    echo " command: [sh, -c, 'i=0; until [ -e $gate ]; do i=\$((i+1)); echo \$i; sleep 0.02; done; echo end']}"
done >"$scratch/jobs.yaml"
run on one apply -f "$scratch/jobs.yaml"
expect_status 0
on one token create all --role admin >"$scratch/all.token" 2>"$scratch/err"
on one token create others --role viewer --namespace others >"$scratch/others.token" 2>"$scratch/err"

# ---- the proxy ----

run peal tls init --data "$scratch/front" --host "$host"
expect_status 0
cat "$scratch/front/tls/cert.pem" "$scratch/front/tls/key.pem" >"$scratch/site.pem"
front=$(free_ports | head -n 1)
web=$scratch/web
mkdir "$web"
case $kind in
nginx)
    sed -e "s|node-1.example.com:7325|127.0.0.1:$(port_of one)|" \
        -e "s|node-2.example.com:7325|127.0.0.1:$(port_of two)|" \
        -e "s|listen 443 ssl|listen 127.0.0.1:$front ssl|" \
        -e "s|/etc/nginx/peal/cert.pem|$scratch/front/tls/cert.pem|" \
        -e "s|/etc/nginx/peal/key.pem|$scratch/front/tls/key.pem|" \
        -e "s|/etc/nginx/peal/nodes.pem|$scratch/nodes.pem|" \
        "$source_dir/packaging/nginx/peal.conf" >"$web/peal.conf"
    nginx_frame "$web" "$web/nginx.conf"
    "$program" -c "$web/nginx.conf" -e "$web/error.log" &
    ;;
haproxy)
    sed -e "s|node-1.example.com:7325|127.0.0.1:$(port_of one)|" \
        -e "s|node-2.example.com:7325|127.0.0.1:$(port_of two)|" \
        -e "s|bind :443|bind 127.0.0.1:$front|" -e 's|maxconn 20000|maxconn 100|' \
        -e "s|/etc/haproxy/peal/site.pem|$scratch/site.pem|" \
        -e "s|/etc/haproxy/peal/nodes.pem|$scratch/nodes.pem|" \
        "$source_dir/packaging/haproxy/peal.cfg" >"$web/haproxy.cfg"
    "$program" -db -f "$web/haproxy.cfg" >"$web/error.log" 2>&1 &
    ;;
esac
proxy=$!
trap 'kill $proxy 2>/dev/null; clean_up' EXIT

through() { # TOKEN ARGUMENT...: a command of peal, through the proxy
    PEAL_URL=https://127.0.0.1:$front PEAL_CA=$scratch/front/tls/cert.pem \
        PEAL_TOKEN_FILE=$scratch/$1.token peal "${@:2}"
}
is_let_in() { through all list; }
wait_for 20 is_let_in
for node in one two; do
    wait_for 20 node_is "$node" ready
done

# ---- followed through it ----

follow() { # JOB FILE
    through all run "$1" --follow >"$scratch/$2.out" 2>"$scratch/$2.err" &
    followers+=($!)
}
followers=()
for i in 1 2 3; do
    follow team/on-one "one-$i"
    follow team/on-two "two-$i"
done
for file in {one,two}-{1,2,3}; do
    wait_for 20 grep -qx 10 "$scratch/$file.out"
done
id=$(head -n 1 "$scratch/one-1.err")
for i in 1 2 3 4; do
    curl -sN --cacert "$scratch/front/tls/cert.pem" -H "Authorization: Bearer $(cat "$scratch/all.token")" \
        "https://127.0.0.1:$front/api/v1/runs/$id/log/stream" >"$scratch/stream-$i" &
    followers+=($!)
done
for i in 1 2 3 4; do
    wait_for 20 grep -q 'event: chunk' "$scratch/stream-$i"
done

# ---- whoever may not see the job sees nothing, from neither node ----

for _ in 1 2 3 4; do
    run through others logs -f "$id"
    expect_status 3
    expect_stdout ''
    run curl -s --cacert "$scratch/front/tls/cert.pem" -o "$scratch/answer" -w '%{http_code}' \
        -H "Authorization: Bearer $(cat "$scratch/others.token")" \
        "https://127.0.0.1:$front/api/v1/runs/$id/log/stream"
    expect_stdout 404
done

touch "$gate"
for pid in "${followers[@]}"; do
    ran="follower $pid"
    checks=$((checks + 1))
    wait "$pid" || mismatch "a follower ended with status $?"
done
is_in_order() { # FILE: 1, 2, 3, ..., end
    awk '$1 == "end" { ended = 1; next } ended || $1 != NR { bad = 1 } END { exit !ended || bad }' "$1"
}
for file in {one,two}-{1,2,3}; do
    run is_in_order "$scratch/$file.out"
    expect_status 0
done

# ---- one of the two dies, and the other goes on ----

rm "$gate"
follow team/on-two survivor
wait_for 20 grep -qx 10 "$scratch/survivor.out"
port_of_one=$(port_of one)
kill_agent one
seen=$(tail -n 1 "$scratch/survivor.out")
goes_on() { [ "$(tail -n 1 "$scratch/survivor.out")" -gt $((seen + 50)) ]; }
wait_for 20 goes_on
touch "$gate"
ran="a follower when the other node dies"
checks=$((checks + 1))
wait "${followers[-1]}" || mismatch "a follower ended with status $?"
run is_in_order "$scratch/survivor.out"
expect_status 0

# ---- etcd is away: nothing can start, and people are let in all the same ----

bring_back_one() { start_api_node one --listen "127.0.0.1:$port_of_one"; }
wait_for 20 bring_back_one
is_back one
wait_for 20 node_is one ready
tell_etcd kill 0
ready() { # NODE [QUERY]
    curl -s --unix-socket "$scratch/$1/api.sock" -o "$scratch/answer" -w '%{http_code}' "http://localhost/readyz${2:-}"
}
is_unready() { [ "$(ready "$1")" = 503 ] && [ "$(ready "$1" '?for=api')" = 200 ]; }
for node in one two; do
    wait_for 20 is_unready "$node"
done
page() { # PATH
    curl -s --cacert "$scratch/front/tls/cert.pem" -o "$scratch/answer" -w '%{http_code}' \
        -H "Authorization: Bearer $(cat "$scratch/all.token")" "https://127.0.0.1:$front$1" "${@:2}"
}
for _ in 1 2 3; do # what needs etcd fails, on both
    run page /api/v1/jobs/team%2Fon-one/pause -X POST
    expect_stdout 503
done
for _ in {1..20}; do # longer than the proxy takes to look twice
    run page /
    expect_stdout 200
    run page /api/v1/jobs
    expect_stdout 200
    nap 0.25
done
run through all cluster status
expect_stdout_has 'not well'
tell_etcd start 0

for node in "${nodes[@]}"; do
    PEAL_DATA=$scratch/$node check_logs
done
finish
