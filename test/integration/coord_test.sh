#!/bin/bash
# peal lock, elect and select: on one machine, and with etcd, PostgreSQL and Redis. `coord_test.sh file`,
# `coord_test.sh etcd`, `... postgres` and `... redis` are the same test in four places; what only some
# of them have is at the end.
# shellcheck source=test/integration/lib.sh
. "$(dirname "$0")/lib.sh"
place=${1:-file}
export PEAL_DATA=$scratch/data
hasty='--ttl 5s --grace 1s'
# shellcheck disable=SC2317 # the last two are called below, of one place or the other
case $place in
etcd)
    etcd_start
    export PEAL_STORE=$etcd_url/test
    server_signal() { kill -"$1" "$etcd_pid"; }
    server_comes_back() { etcd_serve "$(find "$scratch" -maxdepth 1 -name 'etcd.[0-9]' | tail -n 1)"; }
    server_stop() { etcd_stop; }
    ;;
postgres)
    # shellcheck source=test/integration/history_lib.sh
    . "$(dirname "$0")/history_lib.sh"
    postgres_make trust
    export PEAL_STORE="postgresql://peal@127.0.0.1:$postgres_port/peal"
    server_signal() { postgres_signal "$postgres" "$1"; }
    server_comes_back() { postgres_start "$postgres" "$postgres_port"; }
    server_stop() { postgres_stop "$postgres"; }
    ;;
redis)
    # shellcheck source=test/integration/history_lib.sh
    . "$(dirname "$0")/history_lib.sh"
    # shellcheck source=test/integration/redis_lib.sh
    . "$(dirname "$0")/redis_lib.sh"
    redis_make # options: none
    export PEAL_STORE=redis://127.0.0.1:$redis_port
    server_signal() { redis_signal "$redis" "$1"; }
    server_comes_back() { redis_start "$redis" "$redis_port"; }
    server_stop() { redis_kill "$redis"; }
    ;;
esac
log=$scratch/log
: >"$log"

# shellcheck disable=SC2317 # wait_until calls them
{
    has_line() { grep -qxF -e "$2" "$1"; } # FILE LINE
    has_text() { grep -qF -e "$2" "$1"; }  # FILE TEXT
    waits() { # NAME COUNT
        [ "$(peal lock --list -o json | jq -r ".[] | select(.name == \"$1\") | .waiting")" = "$2" ]
    }
    is_gone() { ! kill -0 "$1" 2>/dev/null; }
    leads() { [ "$(peal elect "$1" --who)" = "$2" ]; } # NAME ID
    get() { peal lock "$1" --no-wait -- true; }
}

# What the command gets, and what becomes of its end. The $ are its own.
# shellcheck disable=SC2016
run peal lock a -- sh -c 'echo "$PEAL_LOCK $PEAL_FENCE"; exit 7'
expect_status 7
expect_stdout 'a 1'
# shellcheck disable=SC2016
run peal lock a -- sh -c 'echo $PEAL_FENCE; kill -9 $$'
expect_status 137
expect_stdout 2
run peal lock a -- "$scratch/none"
expect_status 127
expect_stderr_has 'No such file or directory'
run peal lock a -- "$scratch"
expect_status 126
run peal lock a --no-wait -- true # and all of them released it
expect_status 0

# Nothing of ours is inherited: descriptors, signals that are blocked or ignored. Signals 32 and 33 are
# glibc's own: where they are ignored, a process that starts a thread passes them on as not ignored.
# shellcheck disable=SC2317 # run calls it
inherits() { # COMMAND...
    "$@" sh -c 'ls /proc/self/fd | wc -l; grep -E "^Sig(Blk|Ign)" /proc/self/status' |
        sed -E 's/[0-9a-f]([0-9a-f]{8})$/0\1/'
}
run inherits env
cp "$scratch/out" "$scratch/bare"
run inherits peal lock a --
expect_stdout "$(cat "$scratch/bare")"
exec 9>"$scratch/nine" # but what the caller has opened is
run peal lock a -- sh -c 'echo there >&9'
expect_status 0
exec 9>&-
run cat "$scratch/nine"
expect_stdout there

# Held: who does not wait is told; who waits is served in order of arrival.
mkfifo "$scratch/go"
# shellcheck disable=SC2016
peal lock q --id first -- sh -c "echo first \$PEAL_FENCE >>$log; read -r x <$scratch/go" &
first=$!
wait_until has_line "$log" 'first 1'
run peal lock q --no-wait -- true
expect_status 11
expect_stderr_has 'q: not got: first on'
run peal lock q --wait 1s -- true
expect_status 11
expect_stderr_has 'waiting for q: first on'
expect_stderr_has 'not got within 1 s: first on'
pids=
for i in 1 2 3; do
    # shellcheck disable=SC2016
    peal lock q -- sh -c "echo $i \$PEAL_FENCE >>$log" 2>/dev/null &
    pids="$pids $!"
    wait_until waits q $i
done
run peal lock --list
expect_stdout_has 'NAME  HOLDER'
expect_stdout_has 'first'
run peal lock --list -o json
expect_json '[.[] | [.name, .id, .fence, .waiting]]' '[["q","first",1,3]]'
echo go >"$scratch/go"
for pid in $first $pids; do wait "$pid"; done
run cat "$log"
expect_stdout 'first 1
1 2
2 3
3 4'
run peal lock --list -o json
expect_json . '[]'
run peal lock --list
expect_stderr_has 'no lock is held'

# Signals go to the command, and the lock is released; a waiter leaves the queue.
peal lock s -- sh -c "trap 'echo got it >>$log; exit 3' TERM; echo trapped >>$log; while :; do sleep 0.05; done" &
holder=$!
wait_until has_line "$log" trapped
peal lock s -- true 2>"$scratch/waiter" &
waiter=$!
wait_until has_text "$scratch/waiter" waiting
kill -INT $waiter # a background job of a script ignores it
kill -TERM $waiter
status=0
wait $waiter || status=$?
ran='the waiter'
expect_status 143
kill -TERM $holder
status=0
wait $holder || status=$?
ran='the holder'
expect_status 3
wait_until has_line "$log" 'got it'
run peal lock s --no-wait -- true
expect_status 0

# kill -9: the command dies with it, and others get the lock: at once, or when the lease has ended.
# shellcheck disable=SC2086 # options
peal lock k $hasty -- sh -c "echo \$\$ >$scratch/pid; exec sleep 600" &
holder=$!
wait_until test -s "$scratch/pid"
kill -9 $holder
wait $holder 2>/dev/null
wait_until is_gone "$(cat "$scratch/pid")"
# shellcheck disable=SC2016
run peal lock k -- sh -c 'echo $PEAL_FENCE'
expect_status 0
expect_stdout 2

# One leads, the others follow; who leads can be seen.
run peal elect e --who
expect_status 3
expect_stderr_has 'nobody leads e'
peal elect e --who --follow >"$scratch/changes" &
follower=$!
wait_until has_line "$scratch/changes" -
# shellcheck disable=SC2016
peal elect e --id one --on-win "echo one \$PEAL_ELECTION \$PEAL_FENCE >>$log; read -r x <$scratch/go" &
one=$!
wait_until leads e one
peal elect e --id two --on-win "read -r x <$scratch/go" 2>"$scratch/two" &
two=$!
wait_until has_text "$scratch/two" 'has led since'
run peal elect e --who -o json
expect_json '[.id, .fence, .waiting]' '["one",1,1]'
echo go >"$scratch/go"
wait $one
wait_until leads e two
echo go >"$scratch/go"
wait $two
wait_until test "$(tail -n 1 "$scratch/changes")" = -
kill $follower
wait $follower 2>/dev/null
run cat "$scratch/changes"
expect_stdout_has one
expect_stdout_has two
run grep -c 'one e 1' "$log"
expect_stdout 1
# Again and again, until a signal comes that does not end a command.
# shellcheck disable=SC2016
peal elect e --id again --again --on-win "echo again \$PEAL_FENCE >>$log" 2>/dev/null &
again=$!
wait_until has_line "$log" 'again 5'
kill -9 $again
wait $again 2>/dev/null
# ... also one that does: a service is stopped by SIGTERM.
peal elect f --id again --again --on-win "echo begun >>$log; exec sleep 60" 2>/dev/null &
again=$!
wait_until has_line "$log" begun
kill -TERM $again
status=0
wait $again || status=$?
ran='peal elect --again, ended by SIGTERM'
expect_status 143

# One of all that ask, for a while.
run peal select s --hold 1h --id web-1
expect_status 0
expect_stdout web-1
run peal select s --hold 1h --id web-2
expect_status 11
expect_stdout web-1
run peal select s --hold 1h --id web-1
expect_status 0
run peal select s --hold 1h --id web-2 -o json
expect_status 11
expect_json '[.id, .is_self]' '["web-1",false]'
run peal select t --hold 1s --id web-1
expect_status 0
# shellcheck disable=SC2317
is_chosen() { peal select t --hold 1h --id web-2; }
wait_until is_chosen

# Mistakes.
for words in 'lock' 'lock x' 'lock x y -- true' 'lock a//b -- true' 'lock x --wait 1s --no-wait -- true' \
    'lock x --ttl 1s -- true' 'lock x --ttl 5s --grace 4s -- true' 'lock --list x' 'elect' 'elect x' 'elect x --follow' \
    'elect x --who --again' 'select' 'select x' 'select x --hold 0s' 'select x --hold 1s --timeout 0s'; do
    # shellcheck disable=SC2086 # words
    run peal $words
    expect_status 2
done
run peal --lang zh lock 'a//b' -- true
expect_stderr_has '参见：peal lock --help'

if [ "$place" = file ]; then
    # Whoever shares a store's folder meets there, whatever the own data folder is.
    # shellcheck disable=SC2016
    run peal lock a --store "sqlite://$scratch/shared" -- sh -c 'echo $PEAL_FENCE'
    expect_stdout 1
    # shellcheck disable=SC2016
    run peal lock a --store "sqlite://$scratch/shared" --data "$scratch/other" -- sh -c 'echo $PEAL_FENCE'
    expect_stdout 2
    # The lock's file is removed: it is lost, and the reason is in the user's language.
    peal --lang zh lock gone --grace 1s -- sh -c "echo \$\$ >$scratch/gone; exec sleep 600" 2>"$scratch/lost" &
    holder=$!
    wait_until test -s "$scratch/gone"
    rm "$PEAL_DATA/coord/locks/gone"*
    status=0
    wait $holder || status=$?
    ran='the holder of a removed file'
    expect_status 12
    run cat "$scratch/lost"
    expect_stdout_has '失去 gone：它的文件已被删除，其他进程可能同时持有；正在停止命令'
    # A damaged fence is told; a folder that is another's, too.
    echo damaged >"$PEAL_DATA/coord/locks/a"
    run peal lock a -- true
    expect_status 1
    expect_stderr_has 'coord/locks/a'
    run peal lock a --data /proc/none -- true
    expect_status 1
    expect_stderr_has '--data'
    finish
fi

# Paused for longer than the lease: another gets it with a larger fence, and the first is stopped.
# shellcheck disable=SC2086
peal lock p $hasty -- sh -c "echo \$\$ >$scratch/paused; exec sleep 600" 2>"$scratch/lost" &
holder=$!
wait_until test -s "$scratch/paused"
kill -STOP $holder
# shellcheck disable=SC2016
run peal lock p -- sh -c 'echo $PEAL_FENCE'
expect_status 0
expect_stdout 2
kill -CONT $holder
status=0
wait $holder || status=$?
ran='the paused holder'
expect_status 12
run cat "$scratch/lost"
expect_stdout_has 'lost p:'
wait_until is_gone "$(cat "$scratch/paused")"

# A holder is killed, and nobody is there meanwhile: who comes later and does not wait gets it.
# shellcheck disable=SC2086
peal lock dead $hasty -- sh -c "echo \$\$ >$scratch/dead; exec sleep 600" &
holder=$!
wait_until test -s "$scratch/dead"
kill -9 $holder "$(cat "$scratch/dead")"
wait $holder 2>/dev/null
run peal lock dead --no-wait -- true
expect_status 11
wait_until get dead

# The server is away for longer than the lease: SIGTERM, and SIGKILL for what does not heed it; a waiter
# fails with the reason; with --keep-on-loss the command goes on.
# shellcheck disable=SC2086
peal lock w $hasty -- sh -c "trap '' TERM; echo \$\$ >$scratch/deaf; while :; do sleep 1; done" 2>"$scratch/lost" &
holder=$!
wait_until test -s "$scratch/deaf"
# shellcheck disable=SC2086
peal lock kept $hasty --keep-on-loss -- sh -c "echo \$\$ >$scratch/kept; read -r x <$scratch/go; exit 9" 2>"$scratch/kept.err" &
kept=$!
wait_until test -s "$scratch/kept"
# shellcheck disable=SC2086
peal elect x $hasty --id x --on-win "echo leads >>$log; exec sleep 600" --on-loss "echo loss \$PEAL_FENCE >>$log" 2>/dev/null &
elected=$!
wait_until has_line "$log" leads
peal lock w --timeout 1s -- true 2>"$scratch/waiter" &
waiter=$!
wait_until has_text "$scratch/waiter" 'waiting for w'
server_signal STOP
status=0
wait $waiter || status=$?
ran='the waiter'
expect_status 5
run cat "$scratch/waiter"
expect_stdout_has "see: peal doctor --store $PEAL_STORE"
status=0
wait $holder || status=$?
ran='the deaf holder'
expect_status 12
run cat "$scratch/lost"
expect_stdout_has 'stopping the command'
wait_until is_gone "$(cat "$scratch/deaf")"
status=0
wait $elected || status=$?
ran='the leader'
expect_status 12
wait_until has_line "$log" 'loss 1'
wait_until has_text "$scratch/kept.err" 'runs on (--keep-on-loss)'
server_signal CONT
echo go >"$scratch/go"
status=0
wait $kept || status=$?
ran='the kept command'
expect_status 9
run peal lock w -- true
expect_status 0

# The server is killed and comes back with its data within the lease: nothing is lost, nor released.
peal lock back --ttl 60s -- sh -c "echo \$\$ >$scratch/back; read -r x <$scratch/go" &
holder=$!
wait_until test -s "$scratch/back"
server_stop
server_comes_back
run peal lock back --no-wait -- true
expect_status 11
echo go >"$scratch/go"
status=0
wait $holder || status=$?
ran='the holder'
expect_status 0
wait_until get back

# A server that is not there: the reason and a next step, not a wait.
server_stop
run peal lock a --timeout 1s -- true
expect_status 5
expect_stderr_has 'peal doctor --store'
run peal select a --timeout 1s --hold 1m
expect_status 5
run peal elect a --timeout 1s --who
expect_status 5
run peal lock --list --timeout 1s
expect_status 5
finish
