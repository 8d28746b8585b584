#!/bin/bash
# HTTP calls over TLS: the server's certificate, an authority of one's own, a client certificate.
server=$1
# shellcheck source=test/integration/call/lib.sh
. "$(dirname "$0")/lib.sh"
command -v openssl >/dev/null || { echo 'openssl is not there'; exit 77; }
keys=$scratch/keys
mkdir "$keys"
chmod 755 "$keys"

make_ca() { # NAME
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=$1" \
        -keyout "$keys/$1.key" -out "$keys/$1.pem" 2>/dev/null
}
make_pair() { # NAME CA EXTENSION
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
        -keyout "$keys/$1.key" -out "$keys/$1.csr" 2>/dev/null
    openssl x509 -req -in "$keys/$1.csr" -CA "$keys/$2.pem" -CAkey "$keys/$2.key" -CAcreateserial \
        -days 30 -extfile <(echo "$3") -out "$keys/$1.pem" 2>/dev/null
}
make_ca ca
make_ca other
make_pair server ca subjectAltName=IP:127.0.0.1
make_pair stray ca subjectAltName=DNS:somewhere.else
make_pair client ca extendedKeyUsage=clientAuth
chmod 644 "$keys"/*

serve_tls() { # PORT CERT [OPTION...]
    local port=$1 cert=$2
    shift 2
    openssl s_server -accept "127.0.0.1:$port" -cert "$keys/$cert.pem" -key "$keys/$cert.key" \
        -www -quiet "$@" >/dev/null 2>&1 &
    servers="$servers $!"
}
mapfile -t ports < <(free_ports; free_ports)
ports=("${ports[@]:0:3}")
serve_tls "${ports[0]}" server
serve_tls "${ports[1]}" stray
serve_tls "${ports[2]}" server -Verify 1 -verify_return_error -CAfile "$keys/ca.pem"
for port in "${ports[@]}"; do
    wait_until bash -c "true <>/dev/tcp/127.0.0.1/$port"
done
start_agent data --listen none --config "$scratch/peal.yaml"

expect_call() { # PORT FIELDS TEXT
    apply <<END
name: tls
schedule: '@manual'
http: {url: 'https://127.0.0.1:$1/'$2}
END
    expect_status 0
    run peal run tls --wait
    expect_stderr_has "$3"
}

expect_call "${ports[0]}" '' 'certificate'
expect_call "${ports[0]}" ", ca: $keys/other.pem" 'certificate'
expect_call "${ports[0]}" ", ca: $keys/ca.pem" 'ok after'
expect_call "${ports[0]}" ", ca: $keys/none.pem" "can't read the file of ca, $keys/none.pem: No such file"
run peal runs tls -o json
expect_json '.[0].reason' '"no_start"'
expect_call "${ports[1]}" ", ca: $keys/ca.pem" 'SSL: no alternative certificate subject name matches'
expect_call "${ports[2]}" ", ca: $keys/ca.pem" 'failed'
expect_call "${ports[2]}" ", ca: $keys/ca.pem, cert: $keys/client.pem, key: $keys/client.key" 'ok after'
expect_call "${ports[2]}" ", ca: $keys/ca.pem, cert: $keys/client.pem, key: $keys/server.key" 'failed'

finish
