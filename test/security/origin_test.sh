#!/bin/bash
# Pages of other sites, and of other ports of this machine, which a browser lets ask with the cookie
# of this one; straight, and behind a proxy that speaks TLS for the agent.
# shellcheck disable=SC2317 # functions are called by run
. "$(dirname "$0")/lib.sh"

printf 'trusted_proxies: 127.0.0.2\nhosts: peal.example.com\n' >"$scratch/peal.yaml"
start_target plain --config "$scratch/peal.yaml"
url=http://127.0.0.1:$port
echo 'correct horse' >"$scratch/password"
run peal user add anna --role admin --password-file "$scratch/password"
expect_status 0
login='{"name":"anna","password":"correct horse"}'

# What the agent answers to a change by the cookie; the page that makes it is told by the headers.
status() { # CURL OPTION...
    curl -s -o "$scratch/answer" -w '%{http_code}' -X POST -d '{}' -b "$scratch/cookies" "$@" "$url/api/v1/jobs:batch"
}
expect_change() { # STATUS CURL OPTION...
    run status "${@:2}"
    expect_stdout "$1"
}

run curl -s "$url/api/v1/login" -d "$login" -c "$scratch/cookies"
expect_json .name '"anna"'
expect_change 200 -H "Origin: $url"
expect_change 403 -H "Origin: https://127.0.0.1:$port"
expect_change 403 -H "Origin: http://127.0.0.1:$((port + 1))"
expect_change 403 -H 'Origin: http://127.0.0.1'
expect_change 403 -H 'Origin: http://peal.example.com' # a name of this server, but not this site
expect_change 403 -H 'Origin: null'
expect_change 403
expect_change 200 -H 'Sec-Fetch-Site: same-origin'
expect_change 403 -H 'Sec-Fetch-Site: same-site'
expect_change 403 -H "Origin: $url" -H 'Sec-Fetch-Site: cross-site'
# A page can't log its visitor in as somebody else.
run curl -s -o /dev/null -w '%{http_code}' "$url/api/v1/login" -d "$login" -H 'Origin: http://127.0.0.1:1'
expect_stdout 403
# Nor hold streams open in the visitor's name.
run curl -s -o /dev/null -w '%{http_code}' -m 5 -b "$scratch/cookies" "$url/api/v1/events" -H 'Origin: http://127.0.0.1:1'
expect_stdout 403

# By their word, strangers are no proxy.
expect_change 403 -H 'Origin: https://peal.example.com' -H 'X-Forwarded-Proto: https' -H 'X-Forwarded-Host: peal.example.com'

# The proxy at 127.0.0.2 is trusted: the site is what its clients call it.
proxied=(--interface 127.0.0.2 -H 'X-Forwarded-Proto: https')
run curl -s "${proxied[@]}" -i "$url/api/v1/login" -H 'Host: peal.example.com' -d "$login"
cookie=$(sed -n 's/^Set-Cookie: \(__Host-peal_session=[^;]*\).*/\1/p' "$scratch/out")
proxied+=(-b "$cookie")
expect_change 200 "${proxied[@]}" -H 'Host: peal.example.com' -H 'Origin: https://peal.example.com'
expect_change 200 "${proxied[@]}" -H 'Host: peal.example.com:8443' -H 'Origin: https://peal.example.com:8443'
expect_change 200 "${proxied[@]}" -H 'X-Forwarded-Host: peal.example.com' -H 'Origin: https://peal.example.com:443'
expect_change 403 "${proxied[@]}" -H 'Host: peal.example.com' -H 'Origin: http://peal.example.com'
expect_change 403 "${proxied[@]}" -H 'Host: peal.example.com' -H 'Origin: https://peal.example.com:8443'
expect_change 403 "${proxied[@]}" -H 'X-Forwarded-Host: evil.example' -H 'Origin: https://evil.example'
expect_change 403 "${proxied[@]}" -H "Origin: $url"
expect_bait

# Browsers are told not to come without TLS again, where it is ours and the name is, too.
has_hsts() { # URL [CURL OPTION...]
    curl -sk -D - -o /dev/null "$1/api/v1/auth" "${@:2}" | grep -ci '^strict-transport-security: max-age='
}
run has_hsts "$url" -H 'Host: peal.example.com'
expect_stdout 0
run peal tls init --data "$scratch/tls" --host peal.example.com
expect_status 0
start_target tls
run has_hsts "https://peal.example.com:$port" --resolve "peal.example.com:$port:127.0.0.1"
expect_stdout 1
run has_hsts "https://localhost:$port"
expect_stdout 0
run has_hsts "https://127.0.0.1:$port"
expect_stdout 0
finish
