#!/bin/bash
# Agent and spawner are killed, restarted and upgraded while jobs run: the jobs go on, and their
# output and exit status are there afterwards.
. "$(dirname "$0")/lib.sh"

start_peal

# A job that is run by hand, and begins at once.
long_job() { # NAME MILLISECONDS|GO_FILE EXIT_CODE
    run peal add "$1" @manual -- "$append_run" "$trace" "$2" "$3"
    expect_status 0
    run peal run "$1"
    expect_status 0
    wait_for 10 has_begun "$1"
}

expect_end() { # JOB JSON, of state, reason and exit code
    wait_for 30 is_settled
    run peal runs "$1" -o json
    expect_json 'map([.state, .reason, .exit_code])' "$2"
    run peal logs "$1"
    expect_stdout $'begin\nend'
}

# ---- the agent: killed, restarted, stopped for a while; the spawner: upgraded ----

go_on=$scratch/go_on
long_job well "$go_on" 0
long_job badly "$go_on" 7
kill_hard "$(agent_pid)"
run peal state
expect_status 3
start_peal
run peal list -o json
expect_json 'map(.status.running)' '[1,1]'
run peal logs well # while it runs
expect_stdout begin
spawner=$(spawner_pid)
kill -HUP "$spawner"
run peal restart
expect_status 0
kill -HUP "$spawner"
stop_peal
touch "$go_on" # they end while there is no agent
wait_for 20 grep -q '^end well' "$trace"
wait_for 20 grep -q '^end badly' "$trace"
start_peal
expect_end well '[["ok",null,0]]'
expect_end badly '[["failed","exit_code",7]]'
run spawner_pid
expect_stdout "$spawner"

# ---- the spawner: killed; with the agent, too ----

long_job orphan 4000 0
kill_hard "$(spawner_pid)"
wait_for 10 spawner_pid # its guard starts another
expect_end orphan '[["ok",null,0]]'
checks=$((checks + 2))
grep -q ' spawner_died pid=' "$PEAL_DATA/peal.log" || mismatch 'the log does not name the death'
grep -q 'event=spawner_died pid=.* signal=9' "$PEAL_DATA/spawn/peal-spawn.log" ||
    mismatch "the spawner's log does not name the signal"
run peal doctor
expect_stdout_has 'died at'
long_job orphan2 4000 3
kill_hard "$(spawner_pid)"
kill_hard "$(agent_pid)"
start_peal
run peal list -o json
expect_json 'map(select(.name == "orphan2"))[0].status.running' 1
expect_end orphan2 '[["failed","exit_code",3]]'

# Without the guard, too, nobody can know how a run ends; what is known is said.
long_job orphan3 4000 0
kill_hard "$(guard_of "$(spawner_pid)")"
kill_hard "$(spawner_pid)"
wait_for 10 spawner_pid # the agent starts another
expect_end orphan3 '[["lost","spawner_died",null]]'
run peal runs orphan3 -o json
expect_json '.[0].detail | startswith("its process has ended")' true

# ---- an order to kill is not lost with the one that was to carry it out ----

for whom in spawner both; do
    long_job ordered-$whom 60000 0
    spawner=$(spawner_pid)
    kill -STOP "$spawner"
    run peal kill ordered-$whom
    expect_status 0
    [ $whom = spawner ] || kill_hard "$(agent_pid)"
    kill_hard "$spawner"
    [ $whom = spawner ] || start_peal
    wait_for 15 newest_is ordered-$whom killed
    run peal runs ordered-$whom -o json
    expect_json 'map([.state, .reason])' '[["killed","user"]]'
done

# Its signal was sent, and the process ends by it while there is no spawner.
cat >"$scratch/slow_end.sh" <<'SCRIPT'
trap 'trap - TERM; echo $$ >"$1"; until [ -e "$2" ]; do sleep 0.02; done; kill -TERM $$' TERM
echo begin
while :; do sleep 0.02; done
SCRIPT
run peal add ordered-late @manual -- /bin/bash "$scratch/slow_end.sh" "$scratch/told" "$scratch/end"
expect_status 0
run peal run ordered-late
expect_status 0
# shellcheck disable=SC2317 # wait_for calls it
has_begun_to_write() { [ "$(peal logs ordered-late 2>/dev/null)" = begin ]; }
wait_for 10 has_begun_to_write
run peal kill ordered-late
expect_status 0
wait_for 10 test -s "$scratch/told"
spawner=$(spawner_pid)
guard=$(guard_of "$spawner")
kill -STOP "$guard"
kill -9 "$spawner"
touch "$scratch/end"
wait_for 10 is_gone "$(cat "$scratch/told")"
kill -CONT "$guard"
wait_for 15 newest_is ordered-late killed
run peal runs ordered-late -o json
expect_json 'map([.state, .reason, .signal])' '[["killed","user",15]]'

# ---- the service manager stops and starts it: SIGTERM ----

long_job drained 3000 0
agent=$(agent_pid)
kill -TERM "$agent"
wait_for 15 is_gone "$agent"
run peal state
expect_status 3
expect_stdout_has 'not running'
run peal runs
expect_status 5
start_peal
expect_end drained '[["ok",null,0]]'

# ---- the folder has one owner ----

run peal start -d
expect_status 4
expect_stderr_has "another peal (pid $(agent_pid)) uses $PEAL_DATA"
run peal start
expect_status 4
run peal state
expect_status 0

# ---- databases that are damaged, or written by a newer peal, are refused and left alone ----

stop_peal
refuse() { # FILE WORDS
    local before
    before=$(md5sum <"$PEAL_DATA/$1")
    run peal start -d
    expect_status 1
    expect_stderr_has "$2"
    expect_stderr_has "$1"
    run md5sum <"$PEAL_DATA/$1"
    [ "$(md5sum <"$PEAL_DATA/$1")" = "$before" ] || mismatch "$1 was changed"
    cp "$scratch/good/$1" "$PEAL_DATA/$1"
}
mkdir "$scratch/good"
cp "$PEAL_DATA"/*.db "$scratch/good"
for file in peal.db history.db; do
    # Bytes 60 to 63 of a SQLite file are its user version.
    printf '\x7f\xff\xff\xff' | dd of="$PEAL_DATA/$file" bs=1 seek=60 conv=notrunc status=none
    refuse $file newer
    head -c 100 /dev/urandom | dd of="$PEAL_DATA/$file" bs=1 conv=notrunc status=none
    refuse $file damaged
    head -c 5000 "$scratch/good/$file" >"$PEAL_DATA/$file"
    refuse $file damaged
done
start_peal
run peal runs -n 100 -o json
expect_json 'length' 9

check_logs
finish
