#!/bin/bash
# batch_test.sh ATTACK
# Somebody who may change jobs sends as much as one request takes: it costs little memory, and those
# who ask for something else meanwhile do not wait for it. Bounds are relative to the same run.
. "$(dirname "$0")/lib.sh"

socket=
batch() { # FILE
    run curl -sS --unix-socket "$socket" http://peal/api/v1/jobs:batch --data-binary "@$1"
}
# So many jobs, as the body of a batch.
make_jobs() { # COUNT
    awk -v count="$1" 'BEGIN {
        printf "{\"put\":["
        for (i = 0; i < count; i++)
            printf "%s{\"name\":\"job%d\",\"schedule\":\"17 3 * * *\",\"command\":[\"echo\",\"%d\"]}", i ? "," : "", i, i
        printf "]}" }'
}
peak_kb() {
    awk '/VmHWM/ { print $2 }' "/proc/$(jq .pid "$scratch/agent")/status"
}
longest_us() {
    curl -sS --unix-socket "$socket" 'http://peal/metrics?jobs=false' |
        awk '/^peal_loop_longest_turn_seconds/ { printf "%d", $2 * 1000000 }'
}
# The worst of some requests, in microseconds.
probe() { # COUNT
    local i urls=()
    for ((i = 0; i < $1; i++)); do
        urls+=(-o /dev/null http://peal/livez)
    done
    curl -sS --unix-socket "$socket" -w '%{time_total}\n' "${urls[@]}" |
        awk '{ us = $1 * 1000000; if (us > worst) worst = us } END { printf "%d", worst }'
}
start() { # NAME
    start_target "$1"
    socket=$PEAL_DATA/api.sock
    curl -sS --unix-socket "$socket" http://peal/api/v1/agent >"$scratch/agent"
}

# 12 MiB of {}: refused by their number.
start empty
{
    printf '{"put":['
    yes '{},' | head -n 4000000 | tr -d '\n'
    printf '{}]}'
} >"$scratch/empty.json"
before=$(peak_kb)
batch "$scratch/empty.json"
expect_json .status 413
expect_stdout_has 'a batch has 10000 jobs at most'
grown=$(($(peak_kb) - before))
echo "12 MiB of {} took $((grown >> 10)) MiB"
checks=$((checks + 1))
[ "$grown" -lt $((200 << 10)) ] || mismatch "12 MiB of {} took $grown KiB"

# Items that are not JSON are found, wherever they are, and nothing is written.
printf '{"put":[{"name":"a","schedule":"@manual","command":["true"]},{"name":}]}' >"$scratch/broken"
batch "$scratch/broken"
expect_json .status 422
expect_stdout_has 'the body is not JSON: line 1, column '
make_jobs 10001 >"$scratch/many"
batch "$scratch/many"
expect_json .status 413
expect_bait

# As many as there may be, and twenty times fewer: a turn of the loop is about as long.
start few
make_jobs 500 >"$scratch/few.json"
batch "$scratch/few.json"
expect_json '.results | length' 500
few=$(longest_us)
start most
quiet=$(probe 300)
make_jobs 10000 >"$scratch/most.json"
batch "$scratch/most.json" &
busy=0
while [ -n "$(jobs -rp)" ]; do
    worst=$(probe 50)
    [ "$worst" -gt "$busy" ] && busy=$worst
done
wait
expect_json '.results | length' 10000
expect_json '[.results[].result] | unique' '["created"]'
most=$(longest_us)
echo "longest turn: $few us with 500 jobs, $most us with 10,000; /livez: $quiet us, $busy us meanwhile"
checks=$((checks + 2))
[ "$most" -lt $((few * 6)) ] || mismatch "10,000 jobs held the loop for $most us, 500 for $few"
[ "$busy" -lt $((quiet * 20 + 200000)) ] || mismatch "/livez took $busy us, $quiet without a batch"
finish
