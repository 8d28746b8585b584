#!/bin/bash
# An editor of one namespace defines jobs, and wants more than that: to be root, to be another
# namespace's user, to read the agent's files, to be an admin by the socket. Then the same from jobs
# that the machine's owner lets run as the agent's own user; and a plain user's agent, which needs
# nothing to be set.
# shellcheck disable=SC2016,SC2317 # for the jobs; functions that run and wait_until call
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
    echo 'skipped: only root has users to switch to'
    exit 77
fi

# Others may come as far as the agent lets them, and have the programs.
chmod 0755 "$scratch"
mkdir "$scratch/bin" "$scratch/public"
chmod 1777 "$scratch/public"
cp "$(command -v peal)" "$(command -v peal-spawn)" "$scratch/bin/"
PATH=$scratch/bin:$PATH
nobody=$(id -u nobody)
cat >"$scratch/users.allow" <<'LIST'
a/ games      # the attacker's own
b/ daemon root
LIST
printf 'allow_users: %s\n' "$scratch/users.allow" >"$scratch/peal.yaml"

# An agent whose operator has said no more than FILE and VARIABLES; $port is where it listens.
start_as() { # NAME DEFAULT_USER
    export PEAL_DATA=$scratch/$1
    run env PEAL_DEFAULT_USER="$2" peal start -d --listen 127.0.0.1:0 --config "$scratch/peal.yaml"
    expect_status 0
    port=$(sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' "$PEAL_DATA/peal.log" | tail -n 1)
    mallory=$(peal token create mallory --role editor --namespace a 2>/dev/null)
}

as_mallory() { PEAL_URL=http://127.0.0.1:$port PEAL_TOKEN=$mallory peal "$@"; }

# A job of the attacker's, and its output.
attack() { # NAME OPTION...
    run as_mallory add --replace "a/$1" @manual "${@:2}"
    expect_status 0
    run as_mallory run "a/$1" --follow
}

# ---- another user than the agent's ----

start_as apart nobody
expect_stderr_has 'users.allow lets jobs run as root' # those of b

attack who --shell 'echo uid=$(id -u).'
expect_status 0
expect_stdout_has "uid=$nobody."

attack look --env "DATA=$PEAL_DATA" --shell 'exec 2>&1
    ls "$DATA"; cat "$DATA/peal.db" "$DATA/api.sock" "$DATA/spawn/journal" "$DATA/setup-link"
    : >"$DATA/mine"; rm -rf "$DATA"
    curl -sS --unix-socket "$DATA/api.sock" http://peal/api/v1/users
    kill -9 '"$(cat "$PEAL_DATA/peal.pid")"'; id -u; echo looked'
expect_status 0
expect_stdout_has looked
expect_stdout_lacks 'SQLite'
expect_stdout_lacks 'items'
checks=$((checks + 1))
[ "$(grep -c 'Permission denied' "$scratch/out")" -ge 6 ] || mismatch 'expected nothing but refusals'
run peal list
expect_status 0

# A file that a run must show is looked at as its user, too: nothing is learned of the agent's.
attack shows-public --expect-file "$scratch/public/shown" --shell "echo x >'$scratch/public/shown'"
expect_status 0
for file in "$PEAL_DATA/peal.db" "$PEAL_DATA/none" /root/.profile; do
    attack shows --expect-file "$file" --shell true
    expect_status 10
    run as_mallory runs a/shows -n 1 -o json
    expect_json '.[0].detail' "\"file: $file: Permission denied\""
done

for user in root daemon; do # the one is nobody's here, the other is the neighbour's
    attack "as-$user" --user "$user" --shell 'echo uid=$(id -u).'
    expect_status 10
    expect_stdout_lacks uid=
    run as_mallory runs "a/as-$user" -o wide
    expect_stdout_has "not allowed to run as $user: the file of allow_users does not name it for this job"
done
attack as-games --user games --shell 'echo uid=$(id -u).'
expect_status 0
expect_stdout_has "uid=$(id -u games)."
run as_mallory add b/x @manual --user daemon -- id -u
expect_status 1

run peal add b/x @manual --user root --shell 'echo uid=$(id -u).' # by an admin, where the list has it
expect_status 0
run peal run b/x --follow
expect_stdout_has uid=0.
run peal doctor
expect_stdout_has "warn  jobs' user: jobs that name no user run as nobody; $scratch/users.allow lets jobs run as root"

chmod 0666 "$scratch/users.allow"
attack as-games --user games --shell 'echo uid=$(id -u).'
expect_status 10
run peal doctor
expect_stdout_has "$scratch/users.allow is ignored"
chmod 0644 "$scratch/users.allow"
run peal stop
expect_status 0

# ---- nobody was thought of ----

start_as silent ''
expect_stderr_has 'note: jobs that name no user are not started: the agent is root and has no default_user'
expect_stderr_has 'peal restart --default-user NAME'
attack who --shell 'echo uid=$(id -u).'
expect_status 10
expect_stdout_lacks uid=
run as_mallory runs a/who -o wide
expect_stdout_has 'it names no user, and this agent of root has no default_user'
run peal why a/who
expect_stdout_has 'no default_user'
run peal doctor
expect_status 0
expect_stdout_has "warn  jobs' user: jobs that name no user are not started"
expect_stdout_has '-> peal restart --default-user NAME'
grep -q 'jobs_user user=none' "$PEAL_DATA/peal.log"
status=$?
expect_status 0
printf 'name: x\nschedule: "@manual"\ncommand: [id]\n' >"$scratch/x.yaml"
run peal validate "$scratch/x.yaml"
expect_status 0
expect_stderr_has '1 of 1 jobs name no user: jobs that name no user are not started'
run peal stop
expect_status 0
start_as missing no-such-user-here
expect_stderr_has 'default_user no-such-user-here is no user here'
attack who --shell 'echo uid=$(id -u).'
expect_status 10
run peal stop
expect_status 0

# ---- the agent's own user, by the owner's word: the socket gives nothing by the uid ----

start_as shared root
expect_stderr_has 'note: jobs that name no user run as root, as the agent does'
run peal doctor
expect_stdout_has "warn  jobs' user: jobs that name no user run as root, as the agent does"

export SOCKET=$PEAL_DATA/api.sock TRACE=$scratch/trace GO=$scratch/go
# Says HOW and the status that it gets: of users, which are an admin's, or a link to be one.
cat >"$scratch/ask" <<'SCRIPT'
#!/bin/bash
printf '%s %s %s\n' "$1" \
    "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$SOCKET" http://peal/api/v1/users)" \
    "$(curl -s -o /dev/null -w '%{http_code}' --unix-socket "$SOCKET" -X POST http://peal/api/v1/links)" \
    >>"$TRACE"
SCRIPT
# Lives on in the background, and asks once it is told to.
cat >"$scratch/survivor" <<'SCRIPT'
#!/bin/bash
until [ -e "$GO.$1" ]; do sleep 0.1; done
exec "${0%/*}/ask" "$1"
SCRIPT
chmod 0755 "$scratch/ask" "$scratch/survivor"
has_asked() { grep -q "^$1 " "$TRACE"; } # HOW
expect_refused() { # HOW
    wait_until has_asked "$1"
    checks=$((checks + 1))
    ran="asking: $1"
    [ "$(grep "^$1 " "$TRACE")" = "$1 401 401" ] || mismatch "got: $(grep "^$1 " "$TRACE")"
}
: >"$TRACE"
run "$scratch/ask" person # whose shell started the agent
checks=$((checks + 1))
[ "$(cat "$TRACE")" = 'person 200 201' ] || mismatch "expected to be an admin: $(cat "$TRACE")"

env=(--env "SOCKET=$SOCKET" --env "TRACE=$TRACE" --env "GO=$GO" --env "ASK=$scratch/ask"
    --env "PATH=$PATH")
attack ask "${env[@]}" --shell '
    $ASK direct
    (setsid sh -c "sleep 0.2; exec $ASK orphan" &)
    env -i SOCKET="$SOCKET" TRACE="$TRACE" PATH="$PATH" setsid "$ASK" cleared
    su -s /bin/bash -p -c "$ASK su" root
    setpriv --reuid 1 setpriv --reuid 1 true; setpriv --regid 0 --clear-groups "$ASK" setpriv
    unshare --fork --pid "$ASK" namespace || "$ASK" namespace
    for how in survivor upgraded killed; do (setsid "${ASK%ask}survivor" $how >&- 2>&- &); done'
expect_status 0
for how in direct orphan cleared su setpriv namespace; do
    expect_refused "$how"
done
run peal runs a/ask -o json
expect_json '.[0].state' '"ok"' # the survivors have survived it

touch "$GO.survivor"
expect_refused survivor
spawner=$(processes_with "peal-spawn --dir $PEAL_DATA/")
kill -HUP "$spawner" # executes its file again
attack again --shell 'echo uid=$(id -u).'
expect_status 0
touch "$GO.upgraded"
expect_refused upgraded
kill -9 "$spawner" # what it started is init's now
attack again --shell 'echo uid=$(id -u).'
expect_status 0
touch "$GO.killed"
expect_refused killed

# ---- what a job may: what its token may, and to have an agent of its own ----

viewer=$(peal token create viewer --role viewer 2>/dev/null)
attack token "${env[@]}" --env "PEAL_TOKEN=$viewer" --env "PEAL_DATA=$PEAL_DATA" --shell '
    peal list -o name; peal token create more --role admin || echo refused'
expect_status 0
expect_stdout_has a/token
expect_stdout_has refused
attack inner "${env[@]}" --env "PEAL_DATA=$scratch/inner" --env PEAL_DEFAULT_USER=root --shell '
    peal start -d --listen none && peal add ask @manual --env "SOCKET=$SOCKET" --env "TRACE=$TRACE" -- "$ASK" inner
    peal run ask --wait && echo inner is well; peal stop'
expect_status 0
expect_stdout_has 'inner is well'
expect_refused inner
run peal list # the person still may
expect_status 0
run peal stop
expect_status 0

# ---- a plain user's agent ----

as_nobody() { # WORDS...
    setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$scratch/public" \
        PEAL_DATA="$scratch/public/plain" PEAL_DEFAULT_USER=peal-job "$@"
}
run as_nobody peal start -d --listen none
expect_status 0
expect_stderr_lacks 'note:'
run as_nobody peal add who @manual --shell 'echo uid=$(id -u).'
run as_nobody peal run who --follow
expect_status 0
expect_stdout_has "uid=$nobody."
run as_nobody peal doctor
expect_status 0
expect_stdout_has "ok    jobs' user: jobs run as nobody, as the agent does"
run as_nobody peal add ask @manual --env "SOCKET=$scratch/public/plain/api.sock" \
    --env "TRACE=$scratch/public/trace" -- "$scratch/ask" plain
TRACE=$scratch/public/trace
run as_nobody peal run ask --wait
expect_refused plain
run as_nobody peal stop
expect_status 0
run as_nobody peal start -d --listen none --default-user root
expect_status 6
expect_stderr_has 'default_user root: only an agent of root can run jobs as another user'

finish
