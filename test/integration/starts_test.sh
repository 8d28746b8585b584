#!/bin/bash
# The agent is running, and nothing can start: `state` has a status for it, and `state`, `start -d`,
# `add` and `doctor` say the same. The disk: fault.disk_full; the clock: integration.clock; another
# agent under the same name: fault.cluster_twins.
. "$(dirname "$0")/lib.sh"

# shellcheck disable=SC2317 # called by wait_until, as the other functions here
state_is() { # STATUS
    local got=0
    peal state || got=$?
    [ "$got" -eq "$1" ]
}

expect_trouble() { # REASON TEXT [RESULT OF DOCTOR]
    run peal state
    expect_status 8
    expect_stdout_has 'running, but nothing can start (pid'
    expect_stdout_has "$2"
    run peal state -o json
    expect_status 8
    expect_json '[.state, .starts.ok, .starts.reason]' "[\"running\",false,\"$1\"]"
    run peal doctor
    [ -n "${3:-}" ] || expect_status 1
    expect_stdout_has "${3:-FAIL}  starts: nothing can start ($1): "
    expect_stdout_has "$2"
}

expect_note() { # TEXT: on stderr, of the command that has just run
    expect_status 0
    expect_stderr_has 'note: nothing can start now: '
    expect_stderr_has "$1"
}

# ---- nothing is wrong ----

start_agent data --node-id one
run peal state
expect_status 0
expect_stdout_has 'running (pid'
expect_stdout_lacks 'nothing can start'
run peal add well @manual -- true
expect_status 0
expect_stderr_lacks 'nothing can start'
run peal doctor
expect_stdout_has 'ok    starts: nothing is in the way'
run peal state --help
expect_stdout_has '8 running, but this node can'

# ---- jobs that name no user, where root's agent has no default ----

if [ "$(id -u)" -eq 0 ]; then
    hint='peal restart --default-user NAME'
    run env -u PEAL_DEFAULT_USER "$(command -v peal)" restart --fresh --listen none --node-id one
    expect_status 0
    expect_stderr_has "$hint"
    run peal state
    expect_status 0
    expect_stdout_has "jobs that name no user are not started"
    expect_stdout_has "$hint"
    run peal add nobodys @manual -- true
    expect_status 0
    expect_stderr_has "$hint"
    run peal add somebodys @manual --user nobody -- true
    expect_stderr_lacks "$hint"
    run peal add call @manual --http http://127.0.0.1:9/
    expect_stderr_lacks "$hint"
    run peal restart --default-user root
    expect_status 0
    run peal state
    expect_stdout_lacks "$hint"
    run peal add nobodys --replace @manual -- true
    expect_stderr_lacks "$hint"
fi

# ---- drained ----

run peal drain one
expect_status 0
wait_until state_is 8
expect_trouble drained 'the node is drained: nothing is started here until: peal undrain one' warn
run peal add more @manual -- true
expect_note 'peal undrain one'
run peal restart
expect_note 'peal undrain one'
run peal stop
expect_status 0
run peal start -d --listen none
expect_note 'peal undrain one'
run peal undrain one
expect_status 0
wait_until state_is 0

# ---- about to stop ----

run curl -sf -X POST --unix-socket "$PEAL_DATA/api.sock" http://localhost/api/v1/agent/drain
expect_status 0
run peal state
expect_status 8
expect_stdout_has 'draining (pid'
expect_stdout_has 'the agent is about to stop'
run peal stop
expect_status 0

# ---- no spawner ----

mkdir "$scratch/bin"
cp "$(command -v peal)" "$(command -v peal-spawn)" "$scratch/bin/"
export PEAL_DATA=$scratch/lame
run "$scratch/bin/peal" start -d --listen none
expect_status 0
# shellcheck disable=SC2317 # wait_until calls it
has_spawner() { peal state -o json | jq -e '.spawner.pid > 0'; }
wait_until has_spawner
rm "$scratch/bin/peal-spawn"
kill -9 "$(peal state -o json | jq .spawner.pid)"
wait_until state_is 8
expect_trouble spawner "the spawner (peal-spawn) can't be reached"
run peal add some @manual -- true
expect_note "the spawner (peal-spawn) can't be reached"
run peal stop
expect_status 0

# ---- the store is away ----

etcd_start
start_agent member --listen none --store "$etcd_url/p" --node-id one
run peal state
expect_status 0
etcd_stop
wait_until state_is 8
expect_trouble store_away etcd
finish
