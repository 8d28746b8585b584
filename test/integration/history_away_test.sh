#!/bin/bash
# history_away_test.sh postgres|mongo
# A database that is away: the log has one line when it goes and one when it is back, it is tried
# again within two seconds, and what waits on disk is shown meanwhile, marked.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"

case $1 in
postgres)
    postgres_make trust
    url=postgresql://peal@127.0.0.1:$postgres_port/peal
    stop_server() { postgres_stop "$postgres"; }
    start_server() { postgres_start "$postgres" "$postgres_port"; }
    ;;
mongo)
    mongo_make
    echo horse >"$scratch/password"
    if mongo_has_users; then
        url="mongodb://peal@127.0.0.1:$mongo_port/peal?authSource=admin&password_file=$scratch/password"
    else
        url="mongodb://127.0.0.1:$mongo_port/peal?"
    fi
    stop_server() { mongo_kill; }
    start_server() { mongo_start; }
    ;;
esac
start_agent a --listen none --history "$url"
peal add job '@manual' --overlap allow -- sh -c 'echo it ran' 2>/dev/null
run_jobs() { # NUMBER
    for _ in $(seq "$1"); do
        run peal run job --wait
        expect_status 0
    done
}
events() { grep -c " $1 " "$PEAL_DATA/peal.log"; }
run_jobs 4
expect_runs job 4 'it ran'
checks=$((checks + 1))
[ "$(events history_unwell)" = 0 ] || mismatch 'it was never away'

stop_server
run_jobs 12
# shellcheck disable=SC2317 # wait_until calls it
all_wait() { [ "$(peal runs job -n 100 -o json 2>/dev/null | jq 'map(select(.spooled)) | length')" = 12 ]; }
wait_until all_wait
run peal runs job -n 100
expect_status 0
expect_stderr_has "the history's database does not answer: what it has on record is not shown"
expect_stderr_has "those marked with * (12) wait on the node's disk for the history's database"
expect_stdout_has 'ok *'
id=$(peal runs job -n 1 -o name 2>/dev/null)
run peal logs "$id"
expect_status 0
expect_stdout 'it ran'
run peal why job
expect_status 0
expect_stdout_has "$id"
# Alone it is shown from the store until that has forgotten it, half a second after its end.
# shellcheck disable=SC2317 # wait_until calls it
is_spooled() {
    [ "$(curl -s --unix-socket "$PEAL_DATA/api.sock" "http://peal/api/v1/runs/$id" |
        jq -c '[.state, .spooled]')" = '["ok",true]' ]
}
wait_until is_spooled
run peal list
expect_status 0

# What waits is shown after a restart, too.
run peal restart
expect_status 0
wait_until all_wait
run peal logs "$id"
expect_stdout 'it ran'
run_jobs 1

before=$(events history_well)
start_server
since=${EPOCHREALTIME/./}
# shellcheck disable=SC2317 # wait_until calls it
is_back() { [ "$(events history_well)" -gt "$before" ]; }
wait_until is_back
took=$(((${EPOCHREALTIME/./} - since) / 1000))
echo "back in the log $took ms after it answers again"
checks=$((checks + 1))
ran='the return of the database'
((took < 5000)) || mismatch "it took $took ms; it is to be tried every 1.5 s"
expect_well
expect_runs job 17 'it ran'
run peal runs job -n 100 -o json
expect_stderr ''
expect_json 'map(select(.spooled)) | length' 0
run events history_unwell
expect_stdout 2 # with the restart
run events history_well
expect_stdout 1
finish
