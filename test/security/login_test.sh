#!/bin/bash
# Strangers who guess passwords, all at once and from many addresses: what is let through to be
# compared, who is kept out by it, and whether they can tell who has an account.
# shellcheck disable=SC2317 # functions are called by run
. "$(dirname "$0")/lib.sh"

# The proxy at 127.0.0.2 says where its clients are, so that a stranger can be at many places.
printf 'trusted_proxies: 127.0.0.2\n' >"$scratch/peal.yaml"
start_target plain --config "$scratch/peal.yaml"
url=http://127.0.0.1:$port/api/v1/login
echo 'correct horse' >"$scratch/password"
for name in anna otto; do
    run peal user add $name --role viewer --password-file "$scratch/password"
    expect_status 0
done

# The status of one login.
log_in() { # NAME PASSWORD ADDRESS [CURL OPTION...]
    curl -s -o "$scratch/answer" -w '%{http_code}' --interface 127.0.0.2 -H "X-Forwarded-For: $3" \
        -d "{\"name\":\"$1\",\"password\":\"$2\"}" "${@:4}" "$url"
}

# Many of them at once; how many there were of each status.
volley() { # NAME COUNT FIRST LAST: by COUNT logins from each address 198.51.100.FIRST to LAST
    local at
    for at in $(seq "$3" "$4"); do
        for _ in $(seq "$2"); do
            printf 'url = "%s"\noutput = /dev/null\ninterface = 127.0.0.2\nsilent\nwrite-out = "%%{http_code}\\n"\n' "$url"
            printf 'header = "X-Forwarded-For: 198.51.100.%s"\n' "$at"
            printf 'data = "{\\"name\\":\\"%s\\",\\"password\\":\\"wrong horse\\"}"\nnext\n' "$1"
        done
    done | sed '$d' >"$scratch/config"
    curl -s -Z --parallel-immediate --parallel-max 64 -K "$scratch/config" 2>/dev/null | sort | uniq -c
}
count_of() { # STATUS: in what volley has said
    awk -v status="$1" '$2 == status { n = $1 } END { print n + 0 }' "$scratch/out"
}

# ---- guesses that are under way count ----
run volley anna 32 1 1
wrong=$(count_of 401)
checks=$((checks + 1))
{ [ "$wrong" -ge 1 ] && [ "$wrong" -le 6 ]; } || mismatch "expected 6 guesses to be let through, not $wrong"
checks=$((checks + 1))
[ "$((wrong + $(count_of 429)))" -eq 32 ] || mismatch 'expected 429 for the others'

# ---- nobody can tell a name that is there from one that is not ----
answers() { # NAME ADDRESS: all there are, of more tries than are let through
    for _ in {1..12}; do
        log_in "$1" 'wrong horse' "$2"
        echo
        sed 's/"request_id":"[^"]*"//; s/in [0-9]* s/in N s/' "$scratch/answer"
        echo
    done
}
answers otto 203.0.113.1 >"$scratch/there"
answers nobody 203.0.113.2 >"$scratch/not_there"
run diff <(sort -u "$scratch/there") <(sort -u "$scratch/not_there")
expect_status 0
for name in there not_there; do
    run grep -c '^401' "$scratch/$name"
    checks=$((checks + 1))
    [ "$(cat "$scratch/out")" -ge 6 ] || mismatch 'expected 6 guesses' # more, where they take long
    run grep -c '^429' "$scratch/$name"
    expect_status 0
done

# ---- the right password gets in while strangers try, from 20 addresses at once ----
run log_in anna 'correct horse' 192.0.2.1 -c "$scratch/cookies"
expect_stdout 200
run grep -c 'HttpOnly.*peal_device' "$scratch/cookies"
expect_stdout 1
(while [ ! -e "$scratch/enough" ]; do volley anna 3 10 29 >>"$scratch/volleys"; done) &
strangers=$!
wait_until grep -q ' 429$' "$scratch/volleys" # they are being refused
refused=0
for try in 1 2 3 4 5 6; do
    run log_in anna 'correct horse' 192.0.2.1 # an address where she was before
    expect_stdout 200
    run log_in anna 'correct horse' 198.51.100.10 -b "$scratch/cookies" # her device, behind a stranger's address
    expect_stdout 200
    [ "$(log_in anna 'correct horse' 192.0.2.1"$try")" = 200 ] || refused=$((refused + 1)) # a new one
done
checks=$((checks + 1))
[ "$refused" -le 1 ] || mismatch "expected a new device to get in; it was refused $refused times of 6"
touch "$scratch/enough"
wait $strangers

# A device of one account is none of another, nor is one that somebody makes up.
exhaust() { # ADDRESS: until there is a pause of some seconds
    log_in otto 'wrong horse' "$1" >/dev/null
    grep -qE 'in ([4-9]|[1-9][0-9]+) s' "$scratch/answer"
}
wait_until exhaust 198.51.100.40
run log_in otto 'wrong horse' 198.51.100.40 -b "$scratch/cookies"
expect_stdout 429
wait_until exhaust 198.51.100.41
run log_in otto 'wrong horse' 198.51.100.41 -b "peal_device=1.d.$(date +%s).0123456789abcdef.otto.$(printf '0%.0s' {1..64})"
expect_stdout 429
expect_bait
finish
