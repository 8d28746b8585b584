#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# TLS with certificates of both sides, and users, as docs/CLUSTER.md sets them up; and what is said
# when one of them is not right, which must be soon and clear.
. "$(dirname "$0")/lib.sh"

# ---- certificates ----

new='openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes'
pki=$scratch/pki
mkdir "$pki"

make_ca() { # NAME
    $new -x509 -days 2 -subj "/CN=$1" -keyout "$pki/$1.key" -out "$pki/$1.pem" 2>/dev/null
}
make_cert() { # NAME CA [DAYS AGO], valid for a day
    echo 'subjectAltName=IP:127.0.0.1' >"$pki/ext"
    $new -subj "/CN=$1" -keyout "$pki/$1.key" -out "$pki/$1.csr" 2>/dev/null
    faketime "${3:-0} days ago" openssl x509 -req -days 1 -in "$pki/$1.csr" -CA "$pki/$2.pem" \
        -CAkey "$pki/$2.key" -CAcreateserial -extfile "$pki/ext" -out "$pki/$1.pem" 2>/dev/null
}
make_ca ca
make_ca stranger
make_cert server ca
make_cert old-server ca 3
make_cert client ca
make_cert old-client ca 3
make_cert strange-client stranger

# ---- an etcd that wants to know who calls, and has users ----

start_etcd 1 "--cert-file=$pki/server.pem" "--key-file=$pki/server.key" --client-cert-auth \
    "--trusted-ca-file=$pki/ca.pem"
tls_ctl() {
    ctl --cacert "$pki/ca.pem" --cert "$pki/client.pem" --key "$pki/client.key" "$@" >/dev/null
}
tls_ctl user add root:other && tls_ctl user grant-role root root
tls_ctl role add peal && tls_ctl role grant-permission peal --prefix=true readwrite /peal/
tls_ctl user add peal:secret && tls_ctl user grant-role peal peal
tls_ctl auth enable

echo secret >"$scratch/right" && echo guess >"$scratch/wrong" && chmod 600 "$scratch"/{right,wrong}

config() { # CA CERT PASSWORD [SERVERS]: a file like the one of the guide; CERT none: without one
    echo "store: etcds://${4:-$endpoints}/peal"
    echo 'listen: none'
    echo 'etcd:'
    echo '  user: peal'
    echo "  password_file: $scratch/$3"
    echo "  ca: $pki/$1.pem"
    [ "$2" = none ] || printf '  cert: %s\n  key: %s\n' "$pki/$2.pem" "$pki/$2.key"
}

# ---- all is right ----

config ca client right >"$scratch/peal.yaml"
wait_for 10 peal doctor --config "$scratch/peal.yaml" # which gives etcd two seconds
run on a start -d --config "$scratch/peal.yaml"
expect_status 0
nodes=(a)
run on a add hello @manual -- "$append_run" "$trace"
expect_status 0
run on a run hello --wait
expect_status 0
run on a restart # with the same file
expect_status 0
run on a cluster status -o json
expect_json .store.ok true
stop_node a

# ---- one thing is wrong: it is said what, by the start and by the doctor ----

expect_refused() { # WORDS, of the file peal.yaml
    run peal start -d --data "$scratch/refused" --config "$scratch/peal.yaml"
    checks=$((checks + 1))
    [ "$status" -ne 0 ] || mismatch 'started'
    expect_stderr_has "$1"
    expect_stderr_has "peal doctor --config $scratch/peal.yaml --store"
    run peal doctor --config "$scratch/peal.yaml"
    [ "$status" -ne 0 ] || mismatch 'the doctor sees nothing'
    cat "$scratch/err" >>"$scratch/out"
    expect_stdout_has "$1"
}

while IFS='|' read -r ca cert password words; do
    echo "ca $ca, certificate $cert, password $password"
    config "$ca" "$cert" "$password" >"$scratch/peal.yaml"
    expect_refused "$words"
done <<TABLE
stranger|client|right|certificate: unable to get local issuer certificate
ca|none|right|the server wants a client certificate
ca|strange-client|right|not accept the client certificate
ca|old-client|right|not accept the client certificate
ca|client|wrong|password
TABLE

# A server whose certificate has expired.
kill "$etcd_PID"
wait "$etcd_PID" 2>/dev/null
exec {to_etcd}>&- {from_etcd}<&-
start_etcd 1 "--cert-file=$pki/old-server.pem" "--key-file=$pki/old-server.key"
config ca none right >"$scratch/peal.yaml"
expect_refused 'certificate has expired'

# Files that are not there, or do not belong together.
config nothing client right >"$scratch/peal.yaml"
run peal start -d --data "$scratch/refused" --config "$scratch/peal.yaml"
expect_stderr_has "$pki/nothing.pem"
sed "s,key: .*,key: $pki/server.key," <(config ca client right) >"$scratch/peal.yaml"
run peal start -d --data "$scratch/refused" --config "$scratch/peal.yaml"
expect_stderr_has "$pki/server.key"

finish
