#!/bin/bash
# An agent that is installed anew finds the spawner of the version before, and upgrades it while a job
# runs. $1: a peal-spawn of an earlier version.
. "$(dirname "$0")/lib.sh"
old=$1
programs=$scratch/bin
mkdir "$programs"
cp "$(command -v peal)" "$programs/peal"
spawner=$(command -v peal-spawn)
PATH=$programs:$PATH
hash -r
export PEAL_DATA=$scratch/one PEAL_DEFAULT_USER=nobody
chmod 711 "$scratch" # for the jobs' user
log=$PEAL_DATA/peal.log

# As a package does: the file is replaced, not written over.
install_spawner() { # FILE
    cp "$1" "$programs/new"
    chmod 755 "$programs/new"
    mv "$programs/new" "$programs/peal-spawn"
}

# shellcheck disable=SC2317 # called by wait_until
spawner_is() { # FILTER JSON, of what the agent says
    [ "$(peal state -o json | jq -c ".spawner | $1")" = "$2" ]
}

install_spawner "$old"
start_agent one --node-id one
run peal add long @manual -- sh -c "echo \$\$; until [ -e '$scratch/go' ]; do sleep 0.1; done; echo end; exit 5"
expect_status 0
run peal run long
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
has_begun() { [ "$(peal logs long)" -gt 0 ]; }
wait_until has_begun
job=$(peal logs long)

# Beside it there is no newer one: it goes on as it is, and the next step is said.
wait_until spawner_is .version '"0.0.1"'
run peal state -o json
expect_json '.spawner | [.ok, .version, .revision]' '[false,"0.0.1","v0.0.0-7-gc0ffee"]'
run grep -c spawner_not_upgraded "$log"
expect_stdout 1
run grep spawner_not_upgraded "$log"
expect_stdout_has 'next="install the peal-spawn of this version'
run peal doctor
expect_status 0
expect_stdout_has "warn  spawner's version: 0.0.1 (v0.0.0-7-gc0ffee), not the agent's"
pid=$(peal state -o json | jq .spawner.pid)

# A file that can't go on from the state of the old one.
cat >"$scratch/broken" <<END
#!/bin/sh
[ "\$1" != --can-resume ] && exec $old "\$@"
exit 1
END
install_spawner "$scratch/broken"
run peal restart
expect_status 0
wait_until spawner_is .ok false
run peal state -o json
expect_json '[.spawner.pid, .spawner.version]' "[$pid,\"0.0.1\"]"
run grep -c upgrade_refused "$PEAL_DATA/spawn/peal-spawn.log"
expect_stdout 1

# The one that was built with the agent.
install_spawner "$spawner"
run peal restart
expect_status 0
wait_until spawner_is '.ok and .version != null' true # there is no version before it is connected
run peal state -o json
expect_json '.spawner.pid' "$pid"
expect_json '.spawner.version == .version' true
run grep -c spawner_upgraded "$log"
expect_stdout 1
run peal doctor
expect_status 0
expect_stdout_has "ok    spawner's version: "
expect_stdout_has 'upgraded from 0.0.1 (v0.0.0-7-gc0ffee) by this agent'
# shellcheck disable=SC2317 # called by wait_until
nodes_agree() { [ "$(peal nodes -o json | jq '.[0] | .version == .spawner_version')" = true ]; }
wait_until nodes_agree
run peal nodes -o wide
expect_stdout_has SPAWNER

# The job has gone on through all of it.
kill -0 "$job" || mismatch 'the job is gone'
touch "$scratch/go"
wait_until newest_is long failed
run peal runs long -o json
expect_json 'map([.state, .reason, .exit_code])' '[["failed","exit_code",5]]'
run peal logs long
expect_stdout "$job"$'\nend'

# It is that of the agent from now on, also for the next start.
run peal restart
expect_status 0
wait_until spawner_is '.ok and .version != null' true
run peal doctor
expect_stdout_has ', as the agent'
run grep -c upgraded "$PEAL_DATA/spawn/peal-spawn.log"
expect_stdout 2 # to the same one, and to this one
finish
