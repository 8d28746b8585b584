#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# peal lock on an etcd of three members over TLS: what is held stays held while a member dies, and is
# lost when no majority is left; who waits gets it with a larger fence.
. "$(dirname "$0")/lib.sh"

new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
pki=$scratch/pki
mkdir "$pki"
$new -x509 -days 2 -subj /CN=ca -keyout "$pki/ca.key" -out "$pki/ca.pem" 2>/dev/null
echo 'subjectAltName=IP:127.0.0.1' >"$pki/ext"
for name in server client; do
    $new -subj "/CN=$name" -keyout "$pki/$name.key" -out "$pki/$name.csr" 2>/dev/null
    openssl x509 -req -days 1 -in "$pki/$name.csr" -CA "$pki/ca.pem" -CAkey "$pki/ca.key" \
        -CAcreateserial -extfile "$pki/ext" -out "$pki/$name.pem" 2>/dev/null
done

start_etcd 3 "--cert-file=$pki/server.pem" "--key-file=$pki/server.key" --client-cert-auth \
    "--trusted-ca-file=$pki/ca.pem"
export ETCDCTL_CACERT=$pki/ca.pem ETCDCTL_CERT=$pki/client.pem ETCDCTL_KEY=$pki/client.key
wait_for 20 etcd_is_well

cat >"$scratch/peal.yaml" <<END
store: etcds://$endpoints/peal
etcd:
  ca: $pki/ca.pem
  cert: $pki/client.pem
  key: $pki/client.key
END
export PEAL_DATA=$scratch/data
lock() { # ARGUMENT... of peal lock
    peal lock --config "$scratch/peal.yaml" "$@"
}
log=$scratch/log
: >"$log"
mkfifo "$scratch/go"
has_line() { grep -qxF -e "$1" "$log"; }
waits() { # COUNT
    [ "$(lock --list -o json | jq -r '.[0].waiting')" = "$1" ]
}

# ---- a member dies, the leader of them: nothing is lost ----

# shellcheck disable=SC2016 # the command's own $
lock one --ttl 60s -- sh -c 'echo "first $PEAL_FENCE" >>"$1"; read -r x <"$2"' sh "$log" "$scratch/go" \
    2>"$scratch/first.err" &
first=$!
wait_for 20 has_line 'first 1'
# shellcheck disable=SC2016
lock one -- sh -c 'echo "second $PEAL_FENCE" >>"$1"' sh "$log" 2>"$scratch/second.err" &
second=$!
wait_for 20 waits 1
leader=$(etcd_leader)
tell_etcd kill "$leader"
wait_for 20 etcd_leader
run lock one --no-wait -- true
expect_status 11
echo go >"$scratch/go"
status=0
wait $first || status=$?
ran='the first holder'
expect_status 0
run cat "$scratch/first.err"
expect_stdout ''
status=0
wait $second || status=$?
ran='the second holder'
expect_status 0
run cat "$log"
expect_stdout 'first 1
second 2'

# ---- no majority: it is lost before its lease could end, and the command is stopped ----

lock two --ttl 5s --grace 1s -- sh -c "echo held >>$log; exec sleep 600" 2>"$scratch/lost" &
holder=$!
wait_for 20 has_line held
other=$(((leader + 1) % 3))
tell_etcd stop "$other"
status=0
wait $holder || status=$?
ran='the holder without a majority'
expect_status 12
run cat "$scratch/lost"
expect_stdout_has 'lost two: '
tell_etcd cont "$other"
tell_etcd start "$leader"
wait_for 30 etcd_is_well
# shellcheck disable=SC2016
run lock two -- sh -c 'echo $PEAL_FENCE'
expect_status 0
expect_stdout 2

# ---- who shows no certificate, or does not trust the server's, is told so ----

run peal lock one --store "etcds://$endpoints/peal" --timeout 2s -- true
expect_status 5
expect_stderr_has certificate

finish
