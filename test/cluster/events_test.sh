#!/bin/bash
# A stream of events that breaks off on one node goes on at another where it was: nothing is missed,
# and nothing has to be read anew.
. "$(dirname "$0")/lib.sh"

listener=

# What a node tells, from an id on, into a file.
listen() { # NODE FILE [ID]
    local id=()
    [ $# -lt 3 ] || id=(-H "Last-Event-ID: $3")
    curl -sS -N --unix-socket "$scratch/$1/api.sock" "${id[@]}" \
        http://peal/api/v1/events >"$scratch/$2" 2>&1 &
    listener=$!
    wait_until grep -q -e '^event: hello' -e '^event: reset' "$scratch/$2"
}

# The id of what came last.
leave() { # FILE
    kill "$listener"
    wait "$listener" 2>/dev/null
    last_id=$(sed -n 's/^id: //p' "$scratch/$1" | tail -n 1)
}

hears_of() { # FILE JOB
    wait_until grep -q "\"job\":\"$2\"" "$scratch/$1"
}

add() { # NODE JOB
    run on "$1" add "$2" @manual -- true
    expect_status 0
}

# shellcheck disable=SC2317 # called by run
jobs_of() { # FILE
    sed -n 's/.*"job":"\([a-z]*\)".*"change":"put".*/\1/p' "$scratch/$1" | uniq
}

# It went on where it was, with these jobs in this order and no others. What happened at the place
# of the last id is told again; whether that is the job AGAIN depends on what else there was to tell.
went_on() { # FILE AGAIN JOB...
    run grep -c '^event: reset' "$scratch/$1"
    expect_stdout 0
    run jobs_of "$1"
    [ "$(head -n 1 "$scratch/out")" != "$2" ] || sed -i 1d "$scratch/out"
    expect_stdout "$(printf '%s\n' "${@:3}")"
}

start_etcd 1
start_nodes a b

listen a first
add a one
add b two
hears_of first two
went_on first - one two
leave first
early=$last_id

add b three # while nobody listens
add a four
listen b second "$early"
hears_of second four
went_on second two three four
run grep -c '"change":"leader"' "$scratch/second"
expect_stdout 1
leave second

add a five
listen a third "$last_id" # and back
hears_of third five
went_on third four five
leave third

# A node that was not there can't know; one that was restarted can't, either, until something new
# has happened.
start_nodes c
listen c fourth "$early"
run grep -c '^event: reset' "$scratch/fourth"
expect_stdout 1
leave fourth
listen a fifth "$last_id"
add b six
hears_of fifth six
leave fifth
add a seven
listen c sixth "$last_id"
hears_of sixth seven
went_on sixth six seven
leave sixth

for node in a b c; do
    stop_node "$node"
done
finish
