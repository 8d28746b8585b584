#!/bin/bash
# The API on TCP: addresses, a certificate of one's own, and the command line from elsewhere.
. "$(dirname "$0")/lib.sh"

export PEAL_DATA=$scratch/one
unset PEAL_URL PEAL_TOKEN PEAL_TOKEN_FILE PEAL_CA PEAL_LISTEN

# Addresses that are none, and those that others could reach.
run peal start --listen nonsense
expect_status 6
expect_stderr_has 'no address to listen on'
run peal start --listen 127.0.0.1 --listen 10.0.0.1:99999
expect_status 6
run peal start -d --listen 0.0.0.0:0
expect_status 6
expect_stderr_has 'which other machines can reach, without TLS'
expect_stderr_has 'peal user add'
expect_stderr_has 'peal tls init'

# A certificate.
run peal tls
expect_status 2
run peal tls init --host peal.example
expect_status 0
expect_stdout "$scratch/one/tls/cert.pem
$scratch/one/tls/key.pem"
run stat -c %a "$scratch/one/tls/key.pem"
expect_stdout 600
run openssl x509 -in "$scratch/one/tls/cert.pem" -noout -text
expect_stdout_has 'DNS:peal.example'
expect_stdout_has 'IP Address:127.0.0.1'
run peal tls init
expect_status 4
expect_stderr_has '--force'

# With TLS, but no account.
run peal start -d --listen 0.0.0.0:0
expect_status 6
expect_stderr_has 'without an account'
expect_stderr_lacks 'peal tls init'

start_agent one --listen 127.0.0.1:0
port=$(sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\) tls=yes.*/\1/p' "$scratch/one/peal.log")
url=https://127.0.0.1:$port
run test -n "$port"
expect_status 0
unset PEAL_DATA

run peal list --url "$url"
expect_status 5
expect_stderr_has 'certificate'
expect_stderr_has '--ca FILE'
run peal list --url "$url" --ca "$scratch/one/tls/cert.pem"
expect_status 1
expect_stderr_has 'Authorization: Bearer'
expect_stderr_has "Log in: peal login --url $url"
run peal list --url "http://127.0.0.1:$port"
expect_status 5
expect_stderr_has "--url $url"
echo wrong >"$scratch/token"
run peal list --url "$url/" --ca "$scratch/one/tls/cert.pem" --token-file "$scratch/token"
expect_status 1
run env PEAL_URL="$url" PEAL_CA="$scratch/one/tls/cert.pem" peal list
expect_status 1
run env PEAL_URL="$url" peal list --data "$scratch/one"
expect_status 0
run peal list --url "http://peal.example:7325" --token-file "$scratch/token"
expect_status 2
expect_stderr_has 'in the clear'
run peal list --url ftp://peal.example
expect_status 2
run peal list --url https://127.0.0.1:1
expect_status 5
expect_stderr_has "can't reach https://127.0.0.1:1"
expect_stderr_lacks '--ca FILE'
run peal list --url "$url" --token-file "$scratch/nothing"
expect_status 1

run peal state --url https://127.0.0.1:1
expect_status 5
expect_stderr_has "can't reach https://127.0.0.1:1"

# What can be seen of it from elsewhere: nothing of this machine's own.
run peal doctor --url "$url" --ca "$scratch/one/tls/cert.pem"
expect_status 1
expect_stderr_has 'Log in: peal login'
run peal doctor --url https://127.0.0.1:1
expect_status 5
expect_stderr_has "can't reach https://127.0.0.1:1"
expect_stdout ''
run peal token create doctor --role admin --data "$scratch/one"
cp "$scratch/out" "$scratch/admin"
run peal doctor --url "$url" --ca "$scratch/one/tls/cert.pem" --token-file "$scratch/admin"
expect_status 0
expect_stdout_has 'ok    agent: running'
expect_stdout_lacks 'data folder'
expect_stdout_lacks 'database'

# Nothing but TLS, and none that is old.
run curl -s -o /dev/null "http://127.0.0.1:$port/api/v1/jobs"
expect_status 52
run openssl s_client -connect "127.0.0.1:$port" -tls1_1
expect_status 1

# A new certificate without a restart.
cp "$scratch/one/tls/cert.pem" "$scratch/old.pem"
run peal tls init --force --data "$scratch/one"
expect_status 0
kill -HUP "$(cat "$scratch/one/peal.pid")"
wait_until grep -q 'reloaded signal=HUP' "$scratch/one/peal.log"
run peal list --url "$url" --ca "$scratch/old.pem"
expect_status 5
run peal list --url "$url" --ca "$scratch/one/tls/cert.pem"
expect_status 1

# None at all; and one that somebody else has, unless it was asked for.
export PEAL_DATA=$scratch/two
PEAL_LISTEN=none start_agent two
run grep -c listening "$scratch/two/peal.log"
expect_stdout 0
run peal start -d --data "$scratch/three" --listen "127.0.0.1:$port"
expect_status 1
expect_stderr_has 'in use'

finish
