#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# Several nodes on one PostgreSQL: each tick starts once, whatever becomes of a node, of the server, or
# of its data.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"

postgres_make trust
url="postgresql://peal@127.0.0.1:$postgres_port/peal?schema=jobs"
ticks=$scratch/ticks

has_ticks() { # COUNT
    [ "$(wc -l <"$ticks")" -ge "$1" ]
}
more_ticks() { # COUNT
    local count
    count=$(wc -l <"$ticks")
    wait_until has_ticks $((count + $1))
}
nodes_are() { # JSON
    [ "$(peal nodes -o json | jq -c '[.[] | [.node, .state]]')" = "$1" ]
}
is_gone() { # NODE
    [ "$(peal nodes -o json | jq -r ".[] | select(.node == \"$1\") | .state")" != ready ]
}
is_halted() {
    [ "$(peal cluster status -o json | jq .store.halted)" = true ]
}

# What can't be meant, or used, is refused at once.
run peal start --data "$scratch/a" --store "postgresql://peal:secret@127.0.0.1/peal"
expect_status 6
expect_stderr_has 'a password does not belong here'
run peal start --data "$scratch/a" --store "postgresql://peal@127.0.0.1:$postgres_port/nowhere"
expect_stderr_has 'database "nowhere" does not exist'

for node in a b c; do
    run peal start -d --data "$scratch/$node" --store "$url" --node-id $node --listen none
    expect_status 0
done
export PEAL_DATA=$scratch/a
wait_until nodes_are '[["a","ready"],["b","ready"],["c","ready"]]'
run peal add count '@every 1s' --shell "echo \"\$PEAL_TICK\" >>'$ticks'"
expect_status 0
wait_until has_ticks 2
run peal doctor
expect_status 0
expect_stdout_has 'ok    PostgreSQL: '
expect_stdout_has 'warn  commits: fsync is off'
expect_stdout_has 'ok    connections: '
expect_stdout_has 'ok    tables: '
expect_stdout_has 'ok    transactions: none is open for long'
expect_stdout_has 'ok    its clock: '
expect_stdout_has 'ok    lease: allowed'
expect_stdout_has 'ok    write: allowed: p50 '
expect_stdout_has 'ok    watch: from a write to its event: p50 '
run peal lock build --store "$url" -- true
expect_status 0

# A node dies: the others have its ticks, and tell that it is gone.
kill -9 "$(cat "$scratch/c/peal.pid")"
more_ticks 3
wait_until is_gone c

# The server dies and comes back.
postgres_stop "$postgres"
postgres_start "$postgres" "$postgres_port"
more_ticks 3
[ "$(ask "SELECT count(*) FROM jobs.kv_shown WHERE key LIKE '/peal/jobs/%'")" = 1 ] ||
    mismatch 'the job is not there for people'

# Its data are put back to what they were: nothing is started until somebody says so.
postgres_stop "$postgres"
cp -a "$postgres/data" "$scratch/backup"
postgres_start "$postgres" "$postgres_port"
more_ticks 3
postgres_stop "$postgres"
rm -rf "$postgres/data"
cp -a "$scratch/backup" "$postgres/data"
rm -f "$postgres/data/postmaster.pid"
postgres_start "$postgres" "$postgres_port"
wait_until is_halted
run peal cluster status
expect_status 5
expect_stdout_has 'restored from a backup'
run peal cluster advance-cursors --yes
expect_status 0
more_ticks 2

run sh -c "sort '$ticks' | uniq -d"
expect_stdout ''
finish
