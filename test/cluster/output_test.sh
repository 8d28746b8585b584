#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# The output of a run while it runs, on any of three nodes and from any of them: followed, streamed,
# downloaded. A slow reader takes no memory; whoever is restarted between is reconnected to; a node
# that dies is named, and then the run's end.
. "$(dirname "$0")/lib.sh"

start_etcd 1
for node in a b c; do
    start_node "$node" --label "name=$node"
done
gate=$scratch/gate
for node in a b c; do
    echo "---"
    echo "{name: on-$node, schedule: '@manual', where: name=$node, overlap: allow,"
    echo " command: [sh, -c, 'echo first; echo odd >&2; until [ -e $gate ]; do sleep 0.05; done; echo last']}"
    echo "---"
    echo "{name: count-$node, schedule: '@manual', where: name=$node, overlap: allow,"
    echo " command: [sh, -c, 'i=0; until [ -e $gate ]; do i=\$((i+1)); echo \$i; sleep 0.02; done; echo end']}"
    echo "---"
    echo "{name: much-$node, schedule: '@manual', where: name=$node, output_limit: 64MiB,"
    echo " command: [sh, -c, 'seq 1 3000000; until [ -e $gate ]; do sleep 0.05; done']}"
done >"$scratch/jobs.yaml"
run on a apply -f "$scratch/jobs.yaml"
expect_status 0
for node in a b c; do
    wait_for 20 node_is "$node" ready
    wait_for 10 on "$node" get much-c
done

# ---- from each, of each ----

followers=()
follow() { # NODE JOB FILE: run --follow, in the background
    on "$1" run "$2" --follow >"$scratch/$3.out" 2>"$scratch/$3.err" &
    followers+=($!)
}
for node in a b c; do
    for other in a b c; do
        follow "$node" "on-$other" "$node-$other"
    done
done
for node in a b c; do
    for other in a b c; do
        wait_for 20 grep -qx first "$scratch/$node-$other.out"
        wait_for 20 grep -qx odd "$scratch/$node-$other.err"
    done
done
of_b=$(on b runs on-b -n 1 -o name)
curl -sN --unix-socket "$scratch/a/api.sock" "http://localhost/api/v1/runs/$of_b/log/stream" >"$scratch/stream" &
stream=$!
wait_for 10 grep -q '"text":"first' "$scratch/stream"
run curl -s --unix-socket "$scratch/c/api.sock" "http://localhost/api/v1/runs/$of_b/log?raw=true"
expect_stdout $'first\nodd'
run curl -s --unix-socket "$scratch/c/api.sock" -H 'Range: bytes=1-3' "http://localhost/api/v1/runs/$of_b/log?raw=true"
expect_stdout irs
run on c logs "$of_b"
expect_status 0
expect_stdout first
expect_stderr_has 'follow it with -f'
touch "$gate"
for pid in "${followers[@]}"; do
    ran="follower $pid"
    checks=$((checks + 1))
    wait "$pid" || mismatch "a follower ended with status $?"
done
for node in a b c; do
    for other in a b c; do
        run cat "$scratch/$node-$other.out"
        expect_stdout $'first\nlast'
    done
done
wait "$stream"
run cat "$scratch/stream"
expect_stdout_has 'event: end'
expect_stdout_has '"text":"last'
rm "$gate"

# ---- what a hop costs ----

start_run() { # NODE JOB: sets id; it has printed something
    id=$(on "$1" run "$2")
    has_output() { on "$1" logs "$id" 2>/dev/null | grep -q .; }
    wait_for 20 has_output "$1"
}
start_run c on-c
p50_us() { # NODE: of a hundred reads of the same output
    curl -s --unix-socket "$scratch/$1/api.sock" -o /dev/null -w '%{time_total}\n' \
        "http://localhost/api/v1/runs/$id/log?offset=[0-99]" | sort -n | awk 'NR == 50 { printf "%d\n", $1 * 1000000 }'
}
direct=$(p50_us c)
hop=$(p50_us a)
echo "p50 of a read: $direct us on the node of the run, $hop us through another: $((hop - direct)) us more"
ran="p50 of reads"
checks=$((checks + 1))
((hop - direct < 50000)) || mismatch "a hop adds $((hop - direct)) us"

# ---- who does not read ----

start_run b much-b
metric() { # NODE NAME
    curl -s --unix-socket "$scratch/$1/api.sock" http://localhost/metrics | sed -n "s/^$2 //p"
}
mkfifo "$scratch/pipe"
curl -sN --unix-socket "$scratch/a/api.sock" "http://localhost/api/v1/runs/$id/log/stream" >"$scratch/pipe" &
stream=$!
exec {slow}<"$scratch/pipe"
is_stalled() { (($(metric a peal_api_unsent_bytes) > 512 << 10)); }
wait_for 20 is_stalled
# It is asked for no more: what waits stays the same, and both nodes serve others meanwhile.
most=0
for _ in {1..20}; do
    now=$(metric a peal_api_unsent_bytes)
    most=$((now > most ? now : most))
    run on b state
    expect_status 0
done
echo "a reader that stands still: $most bytes wait for it, of 23 MB"
ran="a stalled reader"
checks=$((checks + 1))
((most < 2 << 20)) || mismatch "$most bytes wait for a reader that does not read"
touch "$gate"
cat <&"$slow" >"$scratch/stream"
exec {slow}<&-
wait "$stream"
# All of it came, in order.
sed -n 's/^data: //p' "$scratch/stream" | jq -rj '.text // empty' >"$scratch/came"
run cmp "$scratch/came" <(seq 1 3000000)
expect_status 0
# A download is as whole.
rm "$gate"
start_run b much-b
has_all() { on b logs "$id" 2>/dev/null | tail -n 1 | grep -qx 3000000; }
wait_for 30 has_all
run curl -s --unix-socket "$scratch/c/api.sock" -o "$scratch/came" -w '%{http_code}' \
    "http://localhost/api/v1/runs/$id/log?raw=true"
expect_stdout 200
run cmp "$scratch/came" <(seq 1 3000000)
expect_status 0
# Readers that go away in the middle leave nothing behind: the next one gets all of it.
gone=()
for i in {1..8}; do
    curl -sN --limit-rate 64k --unix-socket "$scratch/c/api.sock" -o "$scratch/gone.$i" \
        "http://localhost/api/v1/runs/$id/log?raw=true" &
    gone+=($!)
done
for i in {1..8}; do
    wait_for 20 test -s "$scratch/gone.$i"
done
kill -9 "${gone[@]}"
wait "${gone[@]}" 2>/dev/null
run curl -s --unix-socket "$scratch/c/api.sock" -o "$scratch/came" -w '%{http_code}' \
    "http://localhost/api/v1/runs/$id/log?raw=true"
expect_stdout 200
run cmp "$scratch/came" <(seq 1 3000000)
expect_status 0
touch "$gate"

# ---- who carries it is restarted ----

rm "$gate"
follow a count-b counted
wait_for 20 grep -qx 5 "$scratch/counted.out"
id=$(on b runs count-b -n 1 -o name)
run on a restart
expect_status 0
seen=$(tail -n 1 "$scratch/counted.out")
goes_on() { [ "$(tail -n 1 "$scratch/counted.out")" -gt $((seen + 20)) ]; }
wait_for 20 goes_on
touch "$gate"
ran="a follower over a restart"
checks=$((checks + 1))
wait "${followers[-1]}" || mismatch "a follower ended with status $?"
run cat "$scratch/counted.err"
expect_stdout_has 'connected again'
on b logs "$id" >"$scratch/whole"
run cmp "$scratch/counted.out" "$scratch/whole"
expect_status 0
run tail -n 1 "$scratch/counted.out"
expect_stdout end

# ---- the node of the run dies ----

rm "$gate"
follow a count-b cut
follow_id=${followers[-1]}
wait_for 20 grep -qx 5 "$scratch/cut.out"
id=$(on b runs count-b -n 1 -o name)
on c logs -f "$id" >"$scratch/logs.out" 2>"$scratch/logs.err" &
logs=$!
wait_for 20 grep -qx 5 "$scratch/logs.out"
kill_machine b
run on a logs "$id"
expect_status 5
expect_stderr_has 'node b'
ran="run --follow of a run that is lost"
wait "$follow_id"
status=$?
expect_status 10
ran="logs -f of a run that is lost"
wait "$logs"
status=$?
expect_status 5
run cat "$scratch/logs.err"
expect_stdout_has 'node b'
expect_stdout_has 'the run was lost on node b'
bring_back b --label name=b

# ---- who opens no port ----

start_node d --role worker --label name=d
echo "{name: on-d, schedule: '@manual', where: name=d, command: [sh, -c, 'echo first; until [ -e $gate ]; do sleep 0.05; done']}" >"$scratch/d.yaml"
run on a apply -f "$scratch/d.yaml"
expect_status 0
wait_for 20 node_is d ready a
follow a on-d closed
ran="run --follow of a run whose node opens no port"
wait "${followers[-1]}"
status=$?
expect_status 4
run cat "$scratch/closed.err"
expect_stdout_has 'node d, which has the output of run'
expect_stdout_has 'opens no port for other nodes (--peer-listen)'
touch "$gate"

for node in "${nodes[@]}"; do
    PEAL_DATA=$scratch/$node check_logs
done
finish
