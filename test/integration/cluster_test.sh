#!/bin/bash
# Several nodes on one etcd: moving into it, seeing each other, draining, and what is elsewhere.
. "$(dirname "$0")/lib.sh"
etcd_start
store=$etcd_url/test

# A node that has worked alone.
start_agent a --node-id a
# shellcheck disable=SC2317 # called by wait_until
nodes_are() { # JSON
    [ "$(peal nodes -o json | jq -c '[.[] | [.node, .state]]')" = "$1" ]
}
wait_until nodes_are '[["a","ready"]]'
run peal nodes
expect_stdout_has 'ready  *'
run peal cluster status
expect_status 0
expect_stdout_has 'store    sqlite, well'
run peal calendar set holidays 12-25 --window 03:00-04:00 --tz Europe/Berlin
expect_status 0
run peal add daily @daily --calendar holidays -- true
run peal add later @daily --paused -- true
run peal add gone @daily -- true
run peal delete gone --yes
run peal add slow @manual --shell "while [ ! -e '$scratch/go' ]; do sleep 0.05; done"
run peal user add anna --role admin --no-password
expect_status 0
run peal channel set ops --type webhook --hook http://127.0.0.1:1/
expect_status 0
uid=$(peal get daily -o json | jq -r .uid)

# Its jobs move into the cluster when its agent is away and its runs are over.
run peal cluster import --from "$PEAL_DATA" --store "$store"
expect_status 4
expect_stderr_has "Stop it first: peal stop --data $PEAL_DATA"
run peal run slow
slow=$(cat "$scratch/out")
wait_until newest_is slow running
run peal stop
run peal cluster import --from "$PEAL_DATA" --store "$store"
expect_status 4
expect_stderr_has "still open: $slow of slow"
expect_stderr_has 'nothing was imported'
touch "$scratch/go"
run peal start -d
wait_until newest_is slow ok
run peal stop
run peal cluster import --from "$PEAL_DATA" --store "$store"
expect_status 0
expect_stdout '4 imported (1 of them deleted, kept for peal undelete), 0 already there, 0 not imported
1 account imported
1 calendar imported
1 channel imported'
expect_stderr "Next: peal start -d --data $PEAL_DATA --store $store"
run peal cluster import --from "$PEAL_DATA" --store "$store"
expect_status 0
expect_stdout '0 imported, 4 already there, 0 not imported'

# What is not a data folder, or not a cluster.
run peal cluster import --from "$scratch/nowhere" --store "$store"
expect_status 3
expect_stderr_has "there is no peal.db in $scratch/nowhere"
run test -e "$scratch/nowhere"
expect_status 1
run peal cluster import --from "$PEAL_DATA"
expect_status 2
expect_stderr_has 'where to? --store etcd://'
run peal cluster import --store "$store"
expect_status 2
run peal cluster statsu
expect_status 2
expect_stderr_has 'status, advance-cursors or import'

# Three nodes; the first finds its jobs again, as they were, and says that they are also in its file.
start_agent a --store "$store" --label zone=a
run grep -c jobs_left_behind "$PEAL_DATA/peal.log"
expect_stdout 1
start_agent b --store "$store" --node-id b --label zone=b
start_agent c --store "$store" --node-id c --label zone=c
export PEAL_DATA=$scratch/a
wait_until nodes_are '[["a","ready"],["b","ready"],["c","ready"]]'
run peal user list -o name
expect_stdout anna
run peal channel list -o name
expect_stdout ops

# A calendar with windows has a value that an older peal leaves alone; every node here reads it.
run peal calendar show holidays --data "$scratch/b" -o json
expect_json '[.windows, .timezone, .jobs]' '[["03:00-04:00"],"Europe/Berlin",["daily"]]'
run peal calendar set office --window 'mon-fri 09:00-17:30' --data "$scratch/c"
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
knows_office() { # NODE
    peal calendar show office --data "$scratch/$1"
}
for node in a b; do
    wait_until knows_office $node
done
run sh -c "curl -s --unix-socket '$scratch/b/api.sock' http://x/api/v1/agent | jq -c .store.set_aside"
expect_stdout '[]'
run peal list -o name
expect_stdout "daily
later
slow"
run peal get daily later -o json
expect_json '[.[] | .status.paused]' '[false,true]'
expect_json '.[0].uid' "\"$uid\""
run peal list --deleted -o name
expect_stdout gone
run peal nodes
expect_stdout_has 'zone=b'
run peal nodes -o name
expect_stdout "a
b
c"
run peal cluster status -o json
expect_json '[.store.kind, .store.ok, .store.halted, .nodes, .jobs, .clock_ok]' \
    '["etcd",true,false,{"ready":3},3,true]'
expect_json '.leader | IN("a", "b", "c")' true

# A name that is taken is the only one that stays behind.
start_agent d --node-id d
run peal add daily @daily -- false
run peal add fresh @daily -- true
run peal stop
run peal cluster import --from "$PEAL_DATA" --store "$store"
expect_status 4
expect_stdout '1 imported, 0 already there, 1 not imported'
expect_stderr_has 'daily: the store has another job of this name'
export PEAL_DATA=$scratch/a
run peal get fresh -o name
expect_status 0

# Ticks that a pause takes out are shown at once, by every node, as the same entry.
run peal add idle '* * * * * *' --paused -- true
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
pending_on() { # NODE
    peal runs idle --data "$scratch/$1" --ledger -o json |
        jq -er 'first(.[] | select(.pending and .reason == "paused")).entry_id'
}
for node in a b c; do
    wait_until pending_on $node
done
run test "$(pending_on a)" = "$(pending_on c)"
expect_status 0
run peal why idle --data "$scratch/b"
expect_stdout_has 'It was skipped: the job was paused'
run peal delete idle --yes
expect_status 0

# Drained nodes.
run peal drain bb
expect_status 3
expect_stderr_has 'no node is named "bb"; did you mean b?'
run peal drain
expect_status 2
run peal drain b
expect_status 0
expect_stderr 'b: takes no new runs, and none is running there'
run peal nodes --data "$scratch/c" -o json
expect_json '.[1] | [.node, .state, .drained]' '["b","drained",true]'
run peal undrain b
expect_stderr 'b: takes new runs'

# A run elsewhere: seen, waited for, killed; its output is where it is.
cat >"$scratch/on-b.yaml" <<'END'
name: on-b
schedule: '@manual'
shell: echo started; while :; do sleep 0.1; done
where: zone=b
END
run peal apply -f "$scratch/on-b.yaml"
expect_status 0
run peal run on-b
id=$(cat "$scratch/out")
# shellcheck disable=SC2317 # called by wait_until
has_begun() {
    [ "$(peal runs on-b -o json | jq -r '.[0] | .state + .node')" = begunb ]
}
wait_until has_begun
run peal runs on-b
expect_stdout_has 'NODE'
run peal why on-b
expect_stdout_has 'It is under way on b'
run peal top
expect_stdout_has '3 nodes'
run peal cluster import --from "$scratch/d" --store "$store" # what runs there is no obstacle
expect_stdout '0 imported, 1 already there, 1 not imported'
expect_stderr_lacks 'still open'
run peal logs "$id" # read from node b
expect_status 0
expect_stdout started
run peal logs --data "$scratch/b" "$id"
expect_stdout started
run peal kill on-b
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
last_is() { # JOB STATE
    [ "$(peal get "$1" -o json | jq -r .status.last.state)" = "$2" ]
}
wait_until last_is on-b killed
run peal logs on-b # which ran on the other node
expect_status 0
expect_stdout started

# A run on a node that is gone is recorded as lost at once: there is nothing to kill.
run peal run on-b
id=$(cat "$scratch/out")
wait_until has_begun
kill -9 "$(cat "$scratch/b/peal.pid")"
wait_until nodes_are '[["a","ready"],["b","gone"],["c","ready"]]'
wait_until last_is on-b lost
run peal kill "$id"
expect_status 4
expect_stderr 'peal: the run has ended already: lost'
run peal drain b
expect_stderr 'b: is gone; it takes no new runs when it comes back'
run peal undrain b
expect_stderr_has 'b: is no longer drained, but takes nothing new yet: has not been heard of for'

# Nothing was restored from a backup.
run peal cluster advance-cursors --yes
expect_status 4
expect_stderr_has 'there is nothing to advance'

finish
