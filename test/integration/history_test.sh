#!/bin/bash
# peal start --history: two nodes on one PostgreSQL, which goes away and comes back.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"

# What can't be meant is refused at once.
run peal start --data "$scratch/a" --history mysql://localhost/peal
expect_status 6
expect_stderr_has 'peal: --history: a history is sqlite, postgresql://USER@HOST/DATABASE or mongodb://USER@HOST/DATABASE'

postgres_make trust
etcd_start
for node in a b; do
    run peal start -d --data "$scratch/$node" --store "$etcd_url" --node-id "$node" \
        --history "postgresql://peal@127.0.0.1:$postgres_port/peal" --listen none
    expect_status 0
done
export PEAL_DATA=$scratch/a
# shellcheck disable=SC2016 # the job expands it
peal add shared '@manual' -- sh -c 'echo it ran on $PEAL_NODE' 2>/dev/null
for _ in 1 2 3 4 5 6; do
    run peal run shared --wait
    expect_status 0
done

# Both nodes see all of it, whoever ran it, and its output.
for node in a b; do
    PEAL_DATA=$scratch/$node expect_runs shared 6 'it ran on'
done

# Away: runs go on, and what they leave waits on disk.
postgres_stop "$postgres"
run peal run shared
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
says_so() {
    peal state --data "$scratch/a" | grep 'is away.*on disk' ||
        peal state --data "$scratch/b" | grep 'is away.*on disk'
}
wait_until says_so

# Back: it is delivered, once.
postgres_start "$postgres" "$postgres_port"
expect_runs shared 7 'it ran on'

# A restarted agent remembers its history; sqlite leaves it.
run peal restart --data "$scratch/b"
expect_status 0
run peal runs shared --data "$scratch/b"
expect_stdout_has shared
run peal restart --data "$scratch/b" --history sqlite
expect_status 0
run peal stop --data "$scratch/a" # which would be asked for the runs that its history has
expect_status 0
run peal runs shared --data "$scratch/b"
expect_stderr_has "no runs"
finish
