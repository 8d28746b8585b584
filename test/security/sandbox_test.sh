#!/bin/bash
# sandbox_test.sh INTRUDE IMPLANT
# Somebody who has a process of the agent's user wants the agent's memory; somebody who has taken the
# agent over wants the rest of the machine. Neither gets it; jobs inherit nothing of what the agent
# has given up; and the agent goes on doing all that it should. Each attack is made on an agent
# without a sandbox first, where it must succeed, or there would be nothing to see.
# shellcheck disable=SC2016,SC2317 # for the jobs; functions that run and wait_until call
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
    echo 'skipped: only root has a user for the attacker, and the tools for the others'
    exit 77
fi
unset PEAL_SANDBOX

# What the attacker, nobody, can reach.
chmod 0755 "$scratch"
mkdir "$scratch/bin" "$scratch/open" "$scratch/etc"
chmod 1777 "$scratch/open"
cp "$(command -v peal)" "$(command -v peal-spawn)" "$1" "$scratch/bin/"
intrude=$scratch/bin/${1##*/}
cp "$2" "$scratch/bin/implant.so"
PATH=$scratch/bin:$PATH

as_nobody() { # WORDS...
    setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/nonexistent \
        PEAL_DATA="$PEAL_DATA" "$@"
}

# The spawner, the launcher of the agent in $PEAL_DATA: a word each.
spawner() { processes_with "peal-spawn --dir $PEAL_DATA/"; }
launcher() { processes_with "peal-launcher --launcher --dir $PEAL_DATA/"; }

landlock() { peal doctor | sed -n 's/.*files by landlock \([0-9]*\).*/\1/p'; }

# ---- another process of the agent's user ----

intrusions='attach process_vm_readv mem environ maps fd'
for sandbox in off on; do
    export PEAL_DATA=$scratch/open/$sandbox
    run as_nobody peal start -d --listen none --sandbox $sandbox
    expect_status 0
    run as_nobody peal add x @manual --shell 'sleep 60' # so that there is a spawner
    run as_nobody peal run x
    wait_until spawner
    for pid in $(cat "$PEAL_DATA/peal.pid") $(spawner) $(launcher); do
        run as_nobody "$intrude" "$pid"
        expect_status 0
        for deed in $intrusions; do
            if [ $sandbox = off ]; then
                expect_stdout_has "$deed done"
            else
                expect_stdout_lacks "$deed done"
            fi
        done
    done
    run as_nobody peal doctor # which reads what it may of both
    expect_status 0
    run as_nobody peal stop # as it knows the agent although it can't see its program
    expect_status 0
    for pid in $(spawner); do
        kill "$pid"
    done
done

# ---- the agent itself, taken over ----

secret=$scratch/secret/file
mkdir "$scratch/secret"
deeds='read_secret write_secret make_file remove_secret execute look_at_memory kill_other sniff
    make_namespace clone_namespace mount_over run_written_code make_code take_rights become_other use_ring'
# The report of an implant in an agent of root.
implant() { # NAME on|off
    export PEAL_DATA=$scratch/$1
    report=$PEAL_DATA/report
    echo secret >"$secret"
    echo doomed >"$secret.doomed"
    rm -f "$secret.new"
    sleep 300 &
    victim=$!
    run env LD_PRELOAD="$scratch/bin/implant.so" ASAN_OPTIONS=verify_asan_link_order=0 \
        IMPLANT_REPORT="$report" IMPLANT_SECRET="$secret" IMPLANT_VICTIM=$victim \
        peal start -d --listen none --sandbox "$2"
    expect_status 0
    wait_until grep -q '^end$' "$report"
    has=$(landlock)
    run peal stop
    expect_status 0
    ran="the report of the implant, sandbox $2"
    cp "$report" "$scratch/out"
    kill "$victim" 2>/dev/null
    wait "$victim" 2>/dev/null
}

implant free off
for deed in read_secret write_secret make_file remove_secret execute kill_other run_written_code \
    make_code read_users; do
    expect_stdout_has "$deed done"
done

implant bound on
expect_stdout_has 'read_users done'
seccomp='execute look_at_memory sniff make_namespace clone_namespace mount_over run_written_code
    make_code take_rights become_other use_ring'
for deed in $deeds; do
    case $deed in
    *_secret | make_file) [ -n "$has" ] || continue ;;
    kill_other) [ "${has:-0}" -ge 6 ] || continue ;;
    *) [[ " $seccomp " = *[[:space:]]"$deed"[[:space:]]* ]] || continue ;;
    esac
    expect_stdout_lacks "$deed done"
done
[ -n "$has" ] || echo 'not looked at: this kernel has no landlock'

# ---- jobs inherit nothing of it ----

chmod 4755 "$(cp /usr/bin/id "$scratch/bin/root-id" && echo "$scratch/bin/root-id")"
start_agent jobs --listen none --default-user nobody
look='grep -E "^(NoNewPrivs|Seccomp|Seccomp_filters):" /proc/self/status; grep -E "^CapBnd" /proc/self/status
    cat '"$secret"'; '"$scratch"'/bin/root-id; mkdir -m 700 "$OWN" && echo own > "$OWN/file" && cat "$OWN/file"'
expect_free() {
    expect_status 0
    expect_stdout_has 'NoNewPrivs:	0'
    expect_stdout_has 'Seccomp:	0'
    expect_stdout_has "$(grep '^CapBnd' /proc/self/status)"
    expect_stdout_has secret # by the rights of its user, as always
    expect_stdout_has 'euid=0(root)' # a program like sudo
    expect_stdout_has own
}
run peal add look @manual --env "OWN=$scratch/open/first" --shell "$look"
run peal run look --follow
expect_free

# A spawner that is killed is started again, by a process that has given up nothing either.
kill -9 "$(spawner)"
run peal add look @manual --replace --env "OWN=$scratch/open/second" --shell "$look"
run peal run look --follow
expect_free
run peal doctor
expect_stdout_has 'sandbox: memory is closed to other processes, no new privileges'

# Signals that are meant for others do not end the launcher. What does ends the agent, which can't
# do without; the jobs stay, and the next agent has them.
run peal add long @manual --shell 'sleep 4; echo survived'
id=$(peal run long 2>/dev/null)
kill "$(launcher)"
run peal list
expect_status 0
kill -9 "$(launcher)"
wait_until grep -q launcher_gone "$PEAL_DATA/peal.log"
is_gone() { ! peal list; }
wait_until is_gone
run peal start -d --listen none --default-user nobody
expect_status 0
run peal logs "$id" --follow
expect_stdout_has survived
run peal stop
expect_status 0

# ---- what an agent has to do, it can do: files that are replaced while it runs ----

certificate() { # NAME
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
        -addext 'subjectAltName=IP:127.0.0.1' -keyout "$scratch/etc/key.new" -out "$scratch/etc/cert.new" 2>/dev/null
    mv "$scratch/etc/key.new" "$scratch/etc/key.$1"
    mv "$scratch/etc/cert.new" "$scratch/etc/cert.$1"
    ln -sfn "key.$1" "$scratch/etc/key.pem" # as those do who renew certificates
    ln -sfn "cert.$1" "$scratch/etc/cert.pem"
}
served() { # NAME
    openssl s_client -connect "127.0.0.1:$port" </dev/null 2>/dev/null | grep -q "CN = $1"
}
config() { # MAX_RUNNING
    cat >"$scratch/etc/peal.new" <<END
max_running: $1
log: $scratch/log/peal.log
tls:
  cert: $scratch/etc/cert.pem
  key: $scratch/etc/key.pem
END
    mv "$scratch/etc/peal.new" "$scratch/etc/peal.yaml"
}
mkdir "$scratch/log" "$scratch/reload" "$scratch/disk"
chmod 0700 "$scratch/reload"
install -m 0600 /dev/null "$scratch/disk/history.db"
ln -s "$scratch/disk/history.db" "$scratch/reload/history.db" # a database on another disk
certificate first
config 5
start_agent reload --config "$scratch/etc/peal.yaml" --listen 127.0.0.1:0
port=$(sed -n 's/.*listening address=127.0.0.1:0 port=\([0-9]*\).*/\1/p' "$scratch/log/peal.log")
wait_until served first
certificate second
config 6
mv "$scratch/log/peal.log" "$scratch/log/peal.log.1"
kill -HUP "$(cat "$PEAL_DATA/peal.pid")"
wait_until grep -q 'reloaded signal=HUP' "$scratch/log/peal.log"
run cat "$scratch/log/peal.log"
expect_stdout_lacks not_reloaded
wait_until served second
run peal add x @manual -- true
run peal run x --wait
expect_status 0
checks=$((checks + 1))
[ -s "$scratch/disk/history.db" ] || mismatch 'expected the history on the other disk'
run peal doctor
expect_status 0
run peal stop
expect_status 0

# ---- how it is said, and turned off ----

start_agent told --listen none
run curl -s --unix-socket "$PEAL_DATA/api.sock" http://peal/api/v1/agent
expect_json '[.sandbox.memory, .sandbox.privileges, (.sandbox.landlock | type)]' '[true,true,"number"]'
run peal restart --sandbox off
expect_status 0
run peal doctor
expect_status 0
expect_stdout_has 'warn  sandbox: off, as it was configured'
run grep '^NoNewPrivs' "/proc/$(cat "$PEAL_DATA/peal.pid")/status"
expect_stdout_has 'NoNewPrivs:	0'
run peal stop
expect_status 0
run peal start -d --listen none --sandbox maybe
expect_status 6
expect_stderr_has 'on or off is expected, not "maybe"'
printf 'sandbox: off\n' >"$scratch/off.yaml"
start_agent file --listen none --config "$scratch/off.yaml"
run peal doctor
expect_stdout_has 'warn  sandbox: off, as it was configured'
run peal stop
expect_status 0

finish
