#!/bin/bash
# shellcheck disable=SC2317 # what wait_until and run call
# peal cluster import between all kinds of stores, there and back: jobs with uid, cursor and state, calendars,
# channels and accounts; not while a node works there, or has open runs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"
. "$(dirname "$0")/redis_lib.sh"
redis_make
etcd_start
postgres_make trust
etcd=$etcd_url/from postgres_url="postgresql://peal@127.0.0.1:$postgres_port/peal" redis_url=redis://127.0.0.1:$redis_port
nodes_are() { # JSON
    [ "$(peal nodes -o json | jq -c '[.[] | [.node, .state]]')" = "$1" ]
}
# What is the same in every store.
jobs() {
    peal list -o json | jq -c '[.[] | .name] | sort'
    peal get daily -o json | jq -c '[.uid, .schedule, .calendars]'
    peal get later -o json | jq -c .paused
    peal calendar list -o json | jq -c '[.[] | .name]'
    peal group list -o json | jq -c '[.[] | [.name, .cluster, .labels, .jobs]]'
    peal channel list -o json | jq -c '[.[] | .name]'
    peal user list -o json | jq -c '[.[] | .name]'
    peal token list -o json | jq -c '[.[] | [.id, .label]]'
    peal secret list -o json | jq -c '[.[] | [.name, .version, .set_at]]'
    peal maintenance list -o json | jq -c '[.[] | [.id, .namespace, .from, .to, .reason]]'
    peal get daily -o json | jq -c '.status.mute | [.kind, .until, .reason]'
    peal webhook list -o json | jq -c '[.[] | [.job, .path, .kind]]'
}
# An agent on the store answers the same as that on the first one, and ends.
expect_jobs() { # NAME START_OPTION...
    start_agent "$@" --listen none
    wait_until nodes_are "[[\"$(peal state -o json | jq -r .node)\",\"ready\"]]"
    run jobs
    expect_stdout "$known"
    run peal undelete gone
    expect_status 0
    run peal delete gone --yes
    run peal stop
    expect_status 0
}
move() { # FROM TARGET_OPTION...
    run peal cluster import --from "$1" "${@:2}"
    expect_status 0
    expect_stdout '4 imported (1 of them deleted, kept for peal undelete), 0 already there, 0 not imported
1 account imported
1 token imported
1 calendar imported
2 groups imported
1 channel imported
1 secret imported
1 webhook imported
1 maintenance window imported
1 mute imported'
    run peal cluster import --from "$1" "${@:2}"
    expect_stdout '0 imported, 4 already there, 0 not imported'
}

start_agent first --store "$etcd" --node-id first --listen none
run peal calendar set holidays 12-25
run peal group set db --cluster 2 --label zone=1
run peal group set shop/ --cluster 5
run peal add daily @daily --calendar holidays --group db -- true
run peal add later @daily --paused -- true
run peal add gone @daily -- true
run peal delete gone --yes
run peal user add anna --role admin --no-password
run peal channel set ops --type webhook --hook http://127.0.0.1:1/
run peal token create nightly --user anna
run peal secret init
printf swordfish >"$scratch/value"
run peal secret set db-password --value-file "$scratch/value"
run peal maintenance add --from '2037-01-01 10:00' --to '2037-01-01 12:00' --namespace shop --reason disks
run peal mute daily --for 30d --reason 'known, later'
run peal webhook create daily
expect_status 0
run peal add slow @manual --shell "while [ ! -e '$scratch/go' ]; do sleep 0.05; done"
known=$(jobs)

run peal cluster import --from "$etcd" --store "$postgres_url"
expect_status 4
expect_stderr_has "node first works on $etcd: stop all its nodes first; nothing was imported"
run peal run slow
slow=$(cat "$scratch/out")
wait_until newest_is slow running
run peal stop
run peal cluster import --from "$etcd" --store "$postgres_url"
expect_status 4
expect_stderr_has "still open: $slow of slow"
expect_stderr_has "Start the agent there (peal start -d --store $etcd)"
touch "$scratch/go"
run peal start -d
wait_until newest_is slow ok
run peal stop

move "$etcd" --store "$postgres_url"
expect_jobs second --store "$postgres_url" --node-id second
move "$postgres_url" --store "$etcd_url/back"
expect_jobs third --store "$etcd_url/back" --node-id third
move "$postgres_url" --store sqlite --data "$scratch/alone"
expect_jobs alone
move "$scratch/alone" --store "$postgres_url?schema=again"
expect_jobs fourth --store "$postgres_url?schema=again" --node-id fourth
move "$etcd_url/back" --store sqlite --data "$scratch/other"
expect_jobs other
move "$etcd_url/back" --store "$redis_url"
expect_jobs fifth --store "$redis_url" --node-id fifth
move "$redis_url" --store "$postgres_url?schema=last"
expect_jobs sixth --store "$postgres_url?schema=last" --node-id sixth

# A node that was killed is gone after a while, though nobody else is there.
start_agent second --store "$postgres_url" --node-id second --listen none
kill -9 "$(cat "$scratch/second/peal.pid")"
run peal cluster import --from "$postgres_url" --store "$etcd_url/last"
expect_status 0

# Mistakes.
run peal cluster import --from "etcd://" --store "$postgres_url"
expect_status 2
expect_stderr_has '--from etcd://: a host is missing here'
run peal cluster import --from "sqlite:///x" --store "$postgres_url"
expect_status 2
expect_stderr_has '--from is a data folder, or etcd://, postgresql:// or redis://'
run peal cluster import --from "$scratch/alone" --store sqlite
expect_status 2
expect_stderr_has 'or --store sqlite --data DIR'
run peal cluster import --from "postgresql://peal@127.0.0.1:1/x" --store "$etcd"
expect_status 5
finish
