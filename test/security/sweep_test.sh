#!/bin/bash
# sweep_test.sh SWEEP
# Every route by every method, for everybody: strangers, each role everywhere, in the job's namespace
# and in another one, credentials that are not good any more, cookies that pages of other sites send,
# and a job on the socket. SWEEP has the table of routes, and who may do what (sweep_rows.c).
. "$(dirname "$0")/lib.sh"

sweep=$1
printf 'facades: dkron,tutorial\n' >"$scratch/peal.yaml"
start_target plain --config "$scratch/peal.yaml"
socket=$PEAL_DATA/api.sock
url=http://127.0.0.1:$port
echo 'correct horse' >"$scratch/password"

# ---- a job is nobody on the socket, for all routes ----

sed -e 's/^ *//' >"$scratch/quiet.jq" <<'JQ'
    [.[] | select(.action != "run")]
JQ
"$sweep" digest "$socket" >/dev/null || mismatch 'expected things to ask for'
run peal audit -n 1000 -o json
jq -f "$scratch/quiet.jq" "$scratch/out" >"$scratch/before"
run peal add sweep @manual -- "$sweep" job "$socket"
expect_status 0
run peal run sweep --follow
expect_status 0
expect_stdout_has ' 0 mistakes'
cat "$scratch/out"
run peal delete sweep --yes
expect_status 0
run peal audit -n 1000 -o json
jq -f "$scratch/quiet.jq" "$scratch/out" | jq '[.[] | select(.job != "sweep")]' >"$scratch/after"
run diff "$scratch/before" "$scratch/after"
expect_status 0

# ---- callers ----

callers=$scratch/callers
caller() { # NAME known|unknown EVERYWHERE A B HOW HEADER
    printf '%s %s %s %s %s %s %s\n' "$@" >>"$callers"
}

# A token with rights in some places; its role `editor` is one without define.
by_token() { # NAME EVERYWHERE A B [OPTION...]
    local name=$1 everywhere=$2 a=$3 b=$4 secret
    local options=("${@:5}")
    case "$everywhere$a$b" in *editor*) options+=(--no-define) ;; esac
    [ "$everywhere" = none ] || options+=(--role "${everywhere/definer/editor}")
    [ "$a" = none ] || options+=(--namespace "a=${a/definer/editor}")
    [ "$b" = none ] || options+=(--namespace "b=${b/definer/editor}")
    secret=$(peal token create "$name" "${options[@]}" 2>"$scratch/err")
    checks=$((checks + 1))
    [ -n "$secret" ] || mismatch "expected a token: $(cat "$scratch/err")"
    caller "$name" known "$everywhere" "$a" "$b" token "Authorization: Bearer $secret"
}
caller stranger unknown none none none none ''
caller guesser unknown none none none none "Authorization: Bearer peal_$(printf 'x%.0s' {1..43})"
caller basic unknown none none none none 'Authorization: Basic cm9vdDpyb290'
caller forger unknown none none none none 'Cookie: peal_session=1.2.3.anna.0000'
for role in viewer operator editor definer admin; do
    by_token "$role" $role none none
    [ $role = admin ] && continue # admins are so everywhere
    by_token "a-$role" none $role none
    by_token "b-$role" none none $role
done
by_token guest none viewer definer # looks at a, and is at home in b
by_token upper viewer none definer

# Tokens of users may no more than both: of an admin, limited; of one who has nothing where the token is for.
run peal user add anna --role admin --password-file "$scratch/password"
expect_status 0
run peal user add otto --namespace b=editor --password-file "$scratch/password"
expect_status 0
by_token limited none viewer none --user anna
token_of_otto=$(peal token create nowhere --user otto --namespace a=editor 2>"$scratch/err")
caller nowhere known none none none token "Authorization: Bearer $token_of_otto"

# What is not good any more.
for name in deleted disabled; do
    run peal user add $name --role admin --password-file "$scratch/password"
    expect_status 0
    secret=$(peal token create $name-token --user $name 2>"$scratch/err")
    caller $name-token unknown none none none none "Authorization: Bearer $secret"
done
by_token revoked admin none none
by_token expired admin none none --expires 1s
log_in() { # NAME
    curl -s -D - -o /dev/null "$url/api/v1/login" -d "{\"name\":\"$1\",\"password\":\"correct horse\"}" |
        sed -n 's/^Set-Cookie: \(peal_session=[^;]*\).*/\1/p'
}
for name in deleted disabled; do
    caller $name-cookie unknown none none none none "Cookie: $(log_in $name)|Origin: $url"
done
run peal user delete deleted --yes
expect_status 0
run peal user set disabled --disable
expect_status 0
id=$(peal token list -o json | jq -r '.[] | select(.label == "revoked") | .id')
run peal token revoke "$id"
expect_status 0
sed -i -e 's/^\(revoked\|expired\) known admin none none token/\1 unknown none none none none/' "$callers"

# An admin's cookie: by a page of ours, by nobody says which, by one of another site.
caller cookie-own known admin none none cookie-own "Cookie: $(log_in anna)|Origin: $url"
caller cookie-bare known admin none none cookie "Cookie: $(log_in anna)"
caller cookie-other known admin none none cookie-other "Cookie: $(log_in anna)|Origin: http://127.0.0.1:1"
caller stranger-other unknown none none none cookie-other 'Origin: http://evil.example'
run grep -c . "$callers"
expect_stdout 31
run grep -c 'Cookie: [|]' "$callers"
expect_stdout 0
of_expired=$(sed -n 's/^expired .*\(Authorization: [^|]*\).*/\1/p' "$callers")
# shellcheck disable=SC2317 # called by wait_until
has_expired() {
    [ "$(curl -s -o /dev/null -w '%{http_code}' -H "$of_expired" "$url/api/v1/jobs")" = 401 ]
}
wait_until has_expired

# ---- all of them ----

run "$sweep" "$port" "$socket" "$callers"
expect_status 0
tail -n 1 "$scratch/out"
finish
