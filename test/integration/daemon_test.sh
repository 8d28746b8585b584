#!/bin/bash
# The agent as a service: start, stop, state, restart, and two of them beside each other.
. "$(dirname "$0")/lib.sh"

# Nothing runs.
export PEAL_DATA=$scratch/one
run peal state
expect_status 3
expect_stdout "not running (data $scratch/one)"
run peal state -o json
expect_status 3
expect_json '[.state, .data, .pid]' "[\"stopped\",\"$scratch/one\",null]"
run peal stop
expect_status 3
expect_stderr_has "no agent is running on $scratch/one"
run peal list
expect_status 5
expect_stderr_has 'is it running?'
expect_stderr_has "peal start -d --data $scratch/one"

# A stale pid file, with the number of a process that is not peal's.
mkdir -p "$scratch/one"
echo $$ >"$scratch/one/peal.pid"
run peal stop
expect_status 3
run peal state
expect_status 3

start_agent one
expect_stderr_has "data $scratch/one)"
run peal state
expect_status 0
expect_stdout_has "running (pid $(cat "$scratch/one/peal.pid"))"
run peal state -o json
expect_json '[.state, .jobs, .store.ok, .history.ok]' '["running",0,true,true]'
run test -s "$scratch/one/peal.log"
expect_status 0

# The folder is taken.
run peal start -d
expect_status 4
expect_stderr_has "uses $scratch/one"
run peal start
expect_status 4

# Two folders, two agents that know nothing of each other.
start_agent two
run peal add only-two @manual -- true
expect_status 0
run peal list --data "$scratch/two" -o name
expect_stdout only-two
run peal list --data "$scratch/one" -o name
expect_stdout ''
run peal stop
expect_status 0
run peal state --data "$scratch/two"
expect_status 3
run peal state --data "$scratch/one"
expect_status 0

# A restart keeps the jobs, and the run that is under way.
export PEAL_DATA=$scratch/one
run peal add slow @manual --shell "echo before; while [ ! -e '$scratch/go' ]; do sleep 0.05; done; echo after"
expect_status 0
run peal run slow
expect_status 0
wait_until newest_is slow running
before=$(cat "$scratch/one/peal.pid")
run peal restart
expect_status 0
[ "$(cat "$scratch/one/peal.pid")" != "$before" ] || mismatch 'the same process'
run peal list -o name
expect_stdout slow
touch "$scratch/go"
wait_until newest_is slow ok
run peal logs slow
expect_stdout "before
after"

# It is the same agent, from wherever it is restarted; what is given takes the place of what was.
self() { # FILTER JSON, of the node itself
    run peal nodes -o json
    expect_json ".[0] | $1" "$2"
}
echo 'max_running: 7' >"$scratch/seven.yaml"
run peal stop
(cd "$scratch" && peal start -d --config seven.yaml --log one.log --role worker --label zone=eu \
    --label disk=ssd --capacity 3 --address one.example.org:7325 --listen none 2>/dev/null)
all='[.roles, .labels, .capacity, .max_running, .address]'
self "$all" '[["worker"],{"disk":"ssd","zone":"eu"},3,7,"one.example.org:7325"]'
run peal restart
expect_status 0
self "$all" '[["worker"],{"disk":"ssd","zone":"eu"},3,7,"one.example.org:7325"]'
run grep -c ' ready ' "$scratch/one.log"
expect_stdout 2
run peal restart --label zone=us --capacity 5
expect_status 0
self '[.roles, .labels, .capacity, .max_running]' '[["worker"],{"zone":"us"},5,7]'
run peal stop
run peal restart # also where it was not running
expect_status 0
self '[.labels, .capacity]' '[{"zone":"us"},5]'
run env TZ='<+0330>-3:30' peal restart # a rule is no name: it is passed over, and that is said
expect_status 0
run grep -c 'timezone_unknown TZ="<+0330>-3:30" taken=' "$scratch/one.log"
expect_stdout 1
run peal restart --role api,wrker
expect_status 6
expect_stderr_has 'not "wrker"; did you mean worker?'
run peal restart --facade dkrn
expect_status 6
expect_stderr_has 'expected dkron or tutorial; did you mean dkron?'
run peal restart --role moon
expect_status 6
self '[.labels, .capacity]' '[{"zone":"us"},5]'
run peal stop
run peal start -d --capacity 6 # so does a start in the background, and says what was kept
expect_status 0
expect_stderr_has "kept from the last start: --config $scratch/seven.yaml --log $scratch/one.log"
expect_stderr_has '--listen none --role worker --label zone=us'
expect_stderr_lacks '--capacity'
self '[.roles, .labels, .capacity]' '[["worker"],{"zone":"us"},6]'

# An option that can't work leaves the running agent as it is, and is not kept.
before=$(cat "$scratch/one/peal.pid")
refused() { # STATUS TEXT OPTION...
    local want=$1 text=$2
    shift 2
    run peal restart --label zone=no "$@"
    expect_status "$want"
    expect_stderr_has "$text"
    expect_stderr_has 'the running agent was left as it is'
    run cat "$scratch/one/peal.pid"
    expect_stdout "$before"
    self '[.labels]' '[{"zone":"us"}]'
}
mapfile -t ports < <(free_ports)

run peal start -d --data "$scratch/holder" --listen "127.0.0.1:${ports[0]}"
expect_status 0
refused 1 "can't listen on 127.0.0.1:${ports[0]}" --role api,worker --listen "127.0.0.1:${ports[0]}"
refused 6 'without TLS' --role api,worker --listen "0.0.0.0:${ports[1]}"
refused 5 "can't open the store etcd://127.0.0.1:${ports[1]}" --store "etcd://127.0.0.1:${ports[1]}"
refused 1 "can't open the log $scratch/nowhere/log" --log "$scratch/nowhere/log"
refused 4 'belongs to node' --node-id another
printf 'tls: {cert: %s, key: %s}\n' "$scratch/seven.yaml" "$scratch/seven.yaml" >"$scratch/tls.yaml"
refused 6 "$scratch/seven.yaml" --role api,worker --listen "127.0.0.1:${ports[1]}" --config "$scratch/tls.yaml"
run peal restart --role api,worker --listen "127.0.0.1:${ports[1]}"
expect_status 0
run peal restart # its own port is no obstacle
expect_status 0
expect_stderr_has "--listen 127.0.0.1:${ports[1]}"
self '[.roles, .labels]' '[["api","worker"],{"zone":"us"}]'

# What only the start itself finds out: the agent is started again as it was.
run peal tls init
expect_status 0
run peal restart --label zone=no --listen "0.0.0.0:${ports[1]}"
expect_status 6
expect_stderr_has 'without an account'
expect_stderr_has 'was started again with the options that it had'
self '[.labels]' '[{"zone":"us"}]'
run peal stop --data "$scratch/holder"
run peal restart --fresh --listen none
expect_status 0
expect_stderr_lacks 'kept from'
self '[.roles, .labels]' '[["api","worker"],{}]'

run peal stop
expect_status 0
expect_stderr "peal stopped (data $scratch/one)"
run peal state
expect_status 3

# The configuration file.
cat >"$scratch/peal.yaml" <<END
data: $scratch/three
log: $scratch/three.log
timezone: Asia/Tokyo
max_running: 5
retention: {runs: 10, age: 7d, bytes: 1MiB, total: 2GiB}
END
unset PEAL_DATA
run peal start -d --config "$scratch/peal.yaml"
expect_status 0
expect_stderr_has "data $scratch/three)"
run peal state --data "$scratch/three" -o json
expect_json .timezone '"Asia/Tokyo"'
run peal add there '@daily' --data "$scratch/three" -- true
run peal get there --data "$scratch/three" -o json
expect_json .timezone '"Asia/Tokyo"'
run test -s "$scratch/three.log"
expect_status 0

# SIGHUP reads it again; a file that is wrong changes nothing.
# shellcheck disable=SC2317 # called by wait_until and run
zone_is() { # ZONE
    [ "$(peal state --data "$scratch/three" -o json | jq -r .timezone)" = "$1" ]
}
# shellcheck disable=SC2317 # called by wait_until and run
has_logged() { # EVENT
    grep -q "$1" "$scratch/three.log"
}
hang_up() {
    kill -HUP "$(cat "$scratch/three/peal.pid")"
}
sed -i s,Asia/Tokyo,Europe/Paris, "$scratch/peal.yaml"
hang_up
wait_until zone_is Europe/Paris
echo 'max_runing: 1' >>"$scratch/peal.yaml"
hang_up
wait_until has_logged 'not_reloaded.*did you mean max_running'
run zone_is Europe/Paris
expect_status 0

while IFS='|' read -r line want; do
    echo "$line" >"$scratch/bad.yaml"
    run peal start --config "$scratch/bad.yaml" --data "$scratch/four"
    expect_status 6
    expect_stderr "peal: $scratch/bad.yaml:$want"
done <<'TABLE'
timezome: UTC|1:1: unknown key "timezome"; did you mean timezone?
retention: {run: 1}|1:13: unknown key "run"; did you mean runs?
retention: 5|1:12: a map of keys and values is expected here, not a number
max_running: many|1:14: max_running is a number from 0 to 2147483647, not "many"
log: peal.log|1:6: log must be an absolute path, not "peal.log"
retention: {bytes: lots}|1:20: bytes: "lots" is not a size like 65536, 512KiB, 1MiB or 2GiB
retention: {age: soon}|1:18: age: a duration is numbers with units, like 90s or 1h30m
facades: swarm|1:10: facades: there is no facade "swarm"; expected dkron or tutorial
trusted_proxies: 10.0.0.0/33|1:18: trusted_proxies: "10.0.0.0/33" is no address; expected one like 192.0.2.1, 10.0.0.0/8 or 2001:db8::/32
TABLE
run peal start --config "$scratch/nowhere.yaml"
expect_status 3
expect_stderr_has "can't read $scratch/nowhere.yaml"

# The agent takes as many descriptors as it may; jobs keep the limit that it was started with.
run bash -c "ulimit -Sn 512; peal start -d --data '$scratch/files' --listen none --facade dkron"
expect_status 0
export PEAL_DATA=$scratch/files
read -r _ _ _ soft hard _ < <(grep '^Max open files' "/proc/$(cat "$PEAL_DATA/peal.pid")/limits")
run test "$soft" = "$hard"
expect_status 0
run peal add files '@manual' -- /bin/bash -c 'ulimit -Sn'
expect_status 0
run peal run files --follow
expect_stdout_has 512
run curl -s --unix-socket "$PEAL_DATA/api.sock" http://peal/v1/jobs/files
expect_json .executor '"shell"'

# A folder that can't be made.
run peal start -d --data /proc/peal
expect_status 1
expect_stderr_has "can't make the data folder /proc/peal"

finish
