#!/bin/bash
# What a service manager hears of the agent, by the protocol of sd_notify(3).
. "$(dirname "$0")/lib.sh"

listen=$source_dir/test/integration/service/listen.py
pids=
# shellcheck disable=SC2317 # the trap calls it
end_listeners() {
    # shellcheck disable=SC2086 # a list
    [ -z "$pids" ] || kill $pids 2>/dev/null
}
trap 'end_listeners; end_agents; rm -rf "$scratch"' EXIT

start_listener() { # SOCKET
    python3 "$listen" "$1" "$scratch/heard" &
    pids+=" $!"
    wait_until grep -qx listening "$scratch/heard"
}

# shellcheck disable=SC2317 # as below
heard() { grep -qx -e "$1" "$scratch/heard"; } # LINE
# shellcheck disable=SC2317 # wait_until calls it
heard_often() { [ "$(grep -cx -e "$1" "$scratch/heard")" -ge "$2" ]; } # LINE TIMES

serve() { # OPTION-OF-ENV...
    env "$@" peal start --listen none >"$scratch/log" 2>&1 &
    agent=$!
}

# ---- it is ready, its loop turns, it stops; a job can't speak for it ----

for kind in path abstract; do
    export PEAL_DATA=$scratch/$kind
    socket=$scratch/notify
    [ "$kind" = path ] || socket=@peal-test-$$
    rm -f "$scratch/heard" "$scratch/notify"
    start_listener "$socket"
    serve NOTIFY_SOCKET="$socket" WATCHDOG_USEC=200000
    wait_until heard READY=1
    run grep STATUS= "$scratch/heard"
    expect_stdout_has 'is ready'
    run test -S "$PEAL_DATA/api.sock" # what READY=1 promises
    expect_status 0
    run peal add env @manual --shell 'env | grep -c -e NOTIFY_SOCKET -e WATCHDOG'
    run peal run env --follow
    expect_stdout_has 0
    wait_until heard_often WATCHDOG=1 3
    kill -HUP "$agent"
    run heard STOPPING=1
    expect_status 1
    kill "$agent"
    wait "$agent"
    status=$?
    ran='peal start, after SIGTERM'
    expect_status 0
    run heard STOPPING=1
    expect_status 0
done

# ---- a watchdog that is another process's, and values that are none, are not heeded ----

rm -f "$scratch/heard" "$scratch/notify"
start_listener "$scratch/notify"
while read -r interval pid; do
    export PEAL_DATA=$scratch/other-$interval
    serve NOTIFY_SOCKET="$scratch/notify" WATCHDOG_USEC="$interval" WATCHDOG_PID="$pid"
    wait_until heard READY=1
    run heard WATCHDOG=1
    expect_status 1
    : >"$scratch/heard"
    kill "$agent"
    wait "$agent"
done <<END
1000 1
soon 0
-5 0
99999999999999999999 0
END

# ---- nobody listens: it starts all the same ----

while read -r socket; do
    export PEAL_DATA=$scratch/nobody
    serve NOTIFY_SOCKET="$socket" WATCHDOG_USEC=1000000
    wait_until test -S "$PEAL_DATA/api.sock"
    kill "$agent"
    wait "$agent"
    status=$?
    ran="peal start with NOTIFY_SOCKET=$socket"
    expect_status 0
done <<END
$scratch/missing
relative
/
$(printf '/%0200d' 0)
END

# ---- the journal gets events with fields, where stderr leads to it ----

# A journal of the test's own, in a place that only these processes see.
# shellcheck disable=SC2016 # for the shell in there
in_journal() { # FILE-AS-STDERR COMMAND...
    unshare --mount sh -c 'mkdir -p /run/systemd && mount -t tmpfs none /run/systemd && mkdir /run/systemd/journal &&
        { python3 "$1" /run/systemd/journal/socket "$2" & } && until [ -S /run/systemd/journal/socket ]; do sleep 0.05; done &&
        exec 2>"$3" && shift 3 && JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$@"' sh "$listen" "$scratch/journal" "$@"
}
if [ "$(id -u)" -eq 0 ] && unshare --mount true 2>/dev/null; then
    export PEAL_DATA=$scratch/in-journal
    in_journal "$scratch/stderr" peal start --listen none &
    agent=$!
    wait_until test -S "$PEAL_DATA/api.sock"
    wait_until grep -q '^PEAL_EVENT=ready$' "$scratch/journal"
    pids+=" $(processes_with "$scratch/journal" | tr '\n' ' ')"
    run cat "$scratch/journal"
    expect_stdout_has 'SYSLOG_IDENTIFIER=peal'
    expect_stdout_has "PEAL_NODE=$(peal state -o json | jq -r .node)"
    run grep -c ' ready ' "$scratch/stderr"
    expect_stdout 0
    kill "$agent"
    wait "$agent"
else
    echo 'skipped: only root can put a journal of its own in its place'
fi

# ---- peal service install, with a systemctl that only notes what it is told ----

mkdir "$scratch/tools"
cat >"$scratch/tools/systemctl" <<END
#!/bin/sh
echo "systemctl \$*" >>'$scratch/told'
[ ! -e '$scratch/refuses' ] || { echo 'no bus here' >&2; exit 1; }
END
chmod +x "$scratch/tools/systemctl"
PATH=$scratch/tools:$PATH
export XDG_CONFIG_HOME=$scratch/config PEAL_DATA=$scratch/service
unit=$scratch/config/systemd/user/peal.service

run peal service remove --user
expect_status 3
run peal service install --user --print
expect_status 0
expect_stdout_has "peal start --data $scratch/service"
run test -e "$unit" -o -e "$scratch/told"
expect_status 1

for _ in first again; do
    rm -f "$scratch/told"
    run peal service install --user --config /etc/peal/peal.yaml
    expect_status 0
    expect_stdout "$unit"
    expect_stderr_has enable-linger
    run cat "$scratch/told"
    expect_stdout 'systemctl --user daemon-reload
systemctl --user enable --now peal.service'
done
run cat "$unit"
expect_stdout_has "peal start --data $scratch/service --config /etc/peal/peal.yaml"

touch "$scratch/refuses"
run peal service remove --user
expect_status 1
expect_stderr_has 'no bus here'
expect_stderr_has 'systemctl disable has failed'
run test -e "$unit"
expect_status 0
rm "$scratch/refuses"
run peal service remove --user
expect_status 0
run test -e "$unit"
expect_status 1

# What is somebody else's stays as it is; so does an agent that was started by hand.
echo '[Unit]' >"$unit"
for verb in install remove; do
    run peal service $verb --user
    expect_status 4
    expect_stderr_has 'stays as it is'
done
rm "$unit"
start_agent service --listen none
run peal service install --user
expect_status 4
expect_stderr_has 'peal stop, then again'
run test -e "$unit"
expect_status 1
run peal stop
run peal service install --user --data "$scratch/a b"
expect_status 6
run env -u XDG_CONFIG_HOME -u HOME peal service install --user --print
expect_status 1
expect_stderr_has 'HOME is not set'

# Both units are what systemd takes.
if command -v systemd-analyze >/dev/null; then
    for user in '' --user; do
        # shellcheck disable=SC2086 # an option or none
        peal service install --print $user | sed 's|^ExecStart=[^ ]*|ExecStart=/bin/true|' >"$scratch/peal.service"
        run verify_unit "$scratch/peal.service"
        expect_status 0
        expect_stderr ''
    done
else
    echo 'skipped: there is no systemd-analyze'
fi

finish
