# Sourced by the attacks: what those of ../integration have, and an agent with a victim.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"
unset PEAL_URL PEAL_TOKEN PEAL_TOKEN_FILE PEAL_CA PEAL_LISTEN

# An agent with TCP, an account, and a job that an attack would delete; $port and $token are its
# port and the token of the account. It may have $descriptors.
descriptors=$(ulimit -n)
start_target() { # NAME [OPTION...]
    export PEAL_DATA=$scratch/$1
    run bash -c "ulimit -n $descriptors && exec peal start -d --listen 127.0.0.1:0 ${*:2}"
    expect_status 0
    port=$(sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' "$scratch/$1/peal.log" | tail -n 1)
    run peal add bait @manual -- true
    expect_status 0
    token=$(peal token create victim --role admin 2>"$scratch/err")
    checks=$((checks + 1))
    [ -n "$token" ] || mismatch 'expected a token'
}

# Nothing was deleted, by anybody.
expect_bait() {
    run peal get bait -o json
    expect_json .name '"bait"'
    run peal audit -o json
    expect_json '[.[] | select(.action == "delete")]' '[]'
}
