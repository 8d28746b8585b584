#!/bin/bash
# Accounts through the real binary: the setup link, sessions, tokens, users of one namespace, links,
# the command line from elsewhere; and two nodes on one etcd that know the same of them.
. "$(dirname "$0")/lib.sh"
unset PEAL_URL PEAL_TOKEN PEAL_TOKEN_FILE PEAL_CA PEAL_LISTEN
export XDG_CONFIG_HOME=$scratch/config

# The address of the agent whose data folder it is.
url_of() { # NAME
    echo "http://127.0.0.1:$(sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' "$scratch/$1/peal.log" | tail -n 1)"
}

# One request: the body on stdout, and the status behind it on a line of its own.
ask() { # URL PATH [CURL OPTION...]
    local at=$1/api/v1$2 origin=$1
    shift 2
    run curl -s -w '\n%{http_code} %header{retry-after}' -H "Origin: $origin" "$@" "$at"
}
expect_answer() { # STATUS
    checks=$((checks + 1))
    [ "$(tail -n 1 "$scratch/out" | cut -d ' ' -f 1)" = "$1" ] || mismatch "expected the answer $1"
}
bearer() { # TOKEN
    echo "Authorization: Bearer $1"
}

# ---- the first start ----
start_agent one --listen 127.0.0.1:0

# Somebody else on the machine is told that it is not for them, not that it does not run.
if [ "$(id -u)" -eq 0 ]; then
    outside=$(mktemp -d)
    cp "$(command -v peal)" "$outside/peal"
    chmod 755 "$outside" "$outside/peal"
    other=(setpriv --reuid 65534 --regid 65534 --clear-groups "$outside/peal")
    for command in list state stop; do
        run "${other[@]}" $command --data "$scratch/one"
        expect_status 5
        expect_stdout ''
        expect_stderr_has 'is for root and for the user that it runs as'
    done
    run "${other[@]}" doctor --data "$scratch/one"
    expect_status 1
    expect_stdout_lacks 'is not running'
    expect_stdout_lacks 'database'
    rm -r "$outside"
fi
url=$(url_of one)
run stat -c %a "$scratch/one/setup-link"
expect_stdout 600
run cat "$scratch/one/setup-link"
expect_stdout_has "$url/#/setup/"
secret=$(sed 's|.*/||' "$scratch/one/setup-link")
ask "$url" /auth
expect_answer 200
expect_stdout_has '"accounts":false,"setup":true'
ask "$url" /jobs
expect_answer 401
ask "$url" /setup -d '{"secret":"wrong","name":"anna","password":"correct horse"}'
expect_answer 401
ask "$url" /setup -d "{\"secret\":\"$secret\",\"name\":\"anna\",\"password\":\"correct horse\"}" \
    -c "$scratch/anna"
expect_answer 200
expect_stdout_has '"role":"admin"'
run test -e "$scratch/one/setup-link"
expect_status 1
ask "$url" /setup -d "{\"secret\":\"$secret\",\"name\":\"otto\",\"password\":\"correct horse\"}"
expect_answer 409
run grep -c 'HttpOnly.*peal_\(session\|device\)' "$scratch/anna"
expect_stdout 2
ask "$url" /jobs -b "$scratch/anna"
expect_answer 200
run curl -s -o /dev/null -w '%{http_code}' -b "$scratch/anna" -X POST "$url/api/v1/agent/drain"
expect_stdout 403 # without an Origin

# An agent that has accounts makes no link.
run peal restart --listen 127.0.0.1:0
expect_status 0
run test -e "$scratch/one/setup-link"
expect_status 1
url=$(url_of one)
ask "$url" /me -b "$scratch/anna" # the session outlives the agent
expect_answer 200

# ---- users by the command line ----
echo 'battery staple' >"$scratch/password"
run peal user add otto --role operator --namespace team --password-file "$scratch/password"
expect_status 0
expect_stderr 'otto: made, team=operator'
run peal user add otto --password-file "$scratch/password"
expect_status 4
run peal user add 'o tto' --password-file "$scratch/password"
expect_status 6
run peal user add none --namespace team --password-file "$scratch/password"
expect_status 2
run peal user list
expect_stdout_has 'anna  admin'
expect_stdout_has 'otto  team=operator'
run peal user list -o name
expect_stdout "anna
otto"
run peal user delete anna --yes
expect_status 4
expect_stderr_has 'last admin'
run peal user add late --role edtor
expect_status 2
expect_stderr_has 'viewer, operator, editor, admin or none, not "edtor"; did you mean editor?'
run peal user add late --namespace team=boss
expect_status 2
expect_stderr_has 'the role in --namespace team is viewer, operator or editor, not "boss"'
run peal user set anna --disable --enable
expect_status 2
expect_stderr_has 'are one too many'
run peal user set late --role viewer
expect_status 3
expect_stderr 'peal: there is no user "late"
See: peal user list'
run peal token revoke nothing
expect_status 3
expect_stderr_has 'See: peal token list'
run peal token create ci --role viewer --expires soon
expect_status 6
expect_stderr 'peal: expires_in: expected a duration like "90d", or "never"'
run peal logout
expect_status 2
expect_stderr_has '--url https://HOST:7325'
run setsid peal user add late --role viewer
expect_status 2
expect_stderr_has '--password-file'

# ---- a namespace ----
run peal add team/own @manual -- echo mine
run peal add other/secret @manual -- echo theirs
run peal run team/own --wait
run peal run other/secret --wait
ask "$url" /login -d '{"name":"otto","password":"battery staple"}' -c "$scratch/otto"
expect_answer 200
ask "$url" /jobs -b "$scratch/otto"
expect_stdout_has team/own
expect_stdout_lacks secret
ask "$url" /runs -b "$scratch/otto"
expect_stdout_has team/own
expect_stdout_lacks secret
ask "$url" /jobs/team%2Fown/run -X POST -b "$scratch/otto"
expect_answer 202
ask "$url" /jobs/other%2Fsecret/run -X POST -b "$scratch/otto"
expect_answer 403
ask "$url" "/runs/$(peal runs other/secret -n 1 -o json | jq -r '.[0].id')/log" -b "$scratch/otto"
expect_answer 404
ask "$url" /users -b "$scratch/otto"
expect_answer 403
ask "$url" /jobs/other%2Fsecret -b "$scratch/otto" -H 'Accept-Language: zh'
expect_stdout_has 命名空间

# ---- wrong passwords ----
for _ in 1 2 3 4 5 6; do
    ask "$url" /login -d '{"name":"otto","password":"wrong"}'
    expect_answer 401
done
ask "$url" /login -d '{"name":"otto","password":"battery staple"}'
expect_answer 429
expect_stdout_has '429 1'
# shellcheck disable=SC2317 # called by wait_until
otto_gets_in() {
    ask "$url" /login -d '{"name":"otto","password":"battery staple"}'
    [ "$(tail -n 1 "$scratch/out" | cut -d ' ' -f 1)" = 200 ]
}
wait_until otto_gets_in
run curl -s --unix-socket "$scratch/one/api.sock" http://peal/metrics
expect_stdout_has 'peal_logins_total{result="wrong"} 6'

# ---- tokens ----
run peal token create ci --role viewer
expect_status 0
token=$(cat "$scratch/out")
run test "${token#peal_}" != "$token"
expect_status 0
ask "$url" /jobs -H "$(bearer "$token")"
expect_answer 200
ask "$url" /jobs/team%2Fown/run -X POST -H "$(bearer "$token")"
expect_answer 403
run peal token create nothing
expect_status 6
run peal token create short --role viewer --expires 1s
short=$(cat "$scratch/out")
# shellcheck disable=SC2317 # called by wait_until
is_expired() {
    ask "$url" /jobs -H "$(bearer "$short")"
    [ "$(tail -n 1 "$scratch/out" | cut -d ' ' -f 1)" = 401 ]
}
wait_until is_expired
run peal token list -o json
expect_json '[.[] | .label]' '["ci","short"]'
run sqlite3 "$scratch/one/peal.db" 'SELECT json FROM docs'
expect_stdout_lacks "$token"
expect_stdout_lacks 'battery'

# ---- a link ----
run peal link
expect_status 0
expect_stdout_has "$url/#/login/"
link=$(sed 's|.*/||' "$scratch/out")
ask "$url" /login -d "{\"link\":\"$link\"}" -c "$scratch/link"
expect_answer 200
expect_stdout_has '"kind":"link"'
ask "$url" /agent -b "$scratch/link"
expect_answer 200
ask "$url" /login -d "{\"link\":\"$link\"}"
expect_answer 401
run peal link nobody
expect_status 3

# ---- the command line, from elsewhere ----
run peal login
expect_status 2
run env -u PEAL_DATA peal login --url "$url" --name otto --password-file "$scratch/anna"
expect_status 1
run env -u PEAL_DATA peal login --url "$url" --name otto --password-file "$scratch/password"
expect_status 0
expect_stderr_has 'logged in as otto'
run stat -c %a "$scratch/config/peal/tokens.json"
expect_stdout 600
run env -u PEAL_DATA peal list --url "$url" -o name
expect_stdout team/own
run env -u PEAL_DATA peal logout --url "$url"
expect_status 0
run env -u PEAL_DATA peal list --url "$url" -o name
expect_status 1
run env -u PEAL_DATA peal logout --url "$url"
expect_status 3
run env -u PEAL_DATA peal login --url http://peal.example:7325 --name otto --password-file "$scratch/password"
expect_status 2
expect_stderr_has 'in the clear'

# ---- TLS, and an address that others can reach ----
run peal tls init
run peal restart --listen 0.0.0.0:0
expect_status 0
port=$(sed -n 's/.*listening address=0.0.0.0:0 port=\([0-9]*\) tls=yes.*/\1/p' "$scratch/one/peal.log")
run curl -s -i --cacert "$scratch/one/tls/cert.pem" "https://127.0.0.1:$port/api/v1/login" \
    -d '{"name":"otto","password":"battery staple"}'
expect_stdout_has 'Set-Cookie: __Host-peal_session='
expect_stdout_has '; Secure'
run peal stop

# ---- two nodes ----
etcd_start
start_agent a --node-id a --store "$etcd_url/accounts" --listen 127.0.0.1:0
start_agent b --node-id b --store "$etcd_url/accounts" --listen 127.0.0.1:0
one=$(url_of a)
two=$(url_of b)
run peal user add anna --password-file "$scratch/password" --data "$scratch/a"
expect_status 0
expect_stderr 'anna: made, admin'
# shellcheck disable=SC2317 # called by wait_until
is_set_up() { # FOLDER
    [ ! -e "$scratch/$1/setup-link" ]
}
wait_until is_set_up b
ask "$one" /login -d '{"name":"anna","password":"battery staple"}' -c "$scratch/jar"
expect_answer 200
# shellcheck disable=SC2317 # called by wait_until
answers() { # STATUS URL PATH CURL-OPTION...
    local wanted=$1
    shift
    ask "$@"
    [ "$(tail -n 1 "$scratch/out" | cut -d ' ' -f 1)" = "$wanted" ]
}
# The cookie is for the host; to the other node it goes as a browser behind a proxy would send it.
cookie=$(awk '/peal_session/ { print $6 "=" $7 }' "$scratch/jar")
wait_until answers 200 "$two" /me -H "Cookie: $cookie"
run peal token create ci --role viewer --data "$scratch/a"
token=$(cat "$scratch/out")
wait_until answers 200 "$two" /me -H "$(bearer "$token")"
run peal token revoke "$(peal token list -o name --data "$scratch/a")" --data "$scratch/b"
expect_status 0
wait_until answers 401 "$one" /me -H "$(bearer "$token")"
run peal user set anna --password-file "$scratch/b/node" --data "$scratch/b"
expect_status 6
echo 'another password' >"$scratch/password"
run peal user set anna --password-file "$scratch/password" --data "$scratch/b"
expect_status 0
wait_until answers 401 "$one" /me -H "Cookie: $cookie"

finish
