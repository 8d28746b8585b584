#!/bin/bash
# Output of any size and kind: the head and the tail are kept, the rest is counted; memory and disk
# stay bounded.
. "$(dirname "$0")/lib.sh"

start_peal

add() { # NAME SCRIPT [FIELDS]
    printf '{name: %s, schedule: "@manual", %sshell: "%s"}' "$1" "${3:+$3, }" "$2" >"$scratch/job.yaml"
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
}

# Starts it, and notes the largest memory of both processes until it is over.
run_and_watch() { # JOB
    local kb
    agent_kb=0 spawner_kb=0
    run peal run "$1"
    expect_status 0
    for _ in {1..600}; do
        kb=$(rss_kb "$agent")
        [ "${kb:-0}" -le "$agent_kb" ] || agent_kb=$kb
        kb=$(rss_kb "$spawner")
        [ "${kb:-0}" -le "$spawner_kb" ] || spawner_kb=$kb
        ! newest_is "$1" ok || break
        nap 0.1
    done
    run peal runs "$1" -n 1 -o json
    expect_json '.[0].state' '"ok"'
}

# A first run, so that what is needed once is there.
add small 'echo out; echo err >&2'
run peal run small --wait
expect_status 0
run peal logs small
expect_stdout out
expect_stderr err
agent=$(agent_pid)
spawner=$(spawner_pid)
agent_before=$(rss_kb "$agent")
spawner_before=$(rss_kb "$spawner")

# ---- a gigabyte ----

add gigabyte 'echo first; head -c 1073741824 /dev/zero | tr \\\\0 x; echo; echo last' \
    'output_limit: 64KiB'
run_and_watch gigabyte
expect_json '.[0] | [.output_bytes, .output_truncated]' '[1073741836,true]'
echo "agent: $agent_before kB, then up to $agent_kb; spawner: $spawner_before kB, then $spawner_kb"
checks=$((checks + 2))
[ "$agent_kb" -lt $((agent_before + 32768)) ] || mismatch "the agent grew to $agent_kb kB"
[ "$spawner_kb" -lt $((spawner_before + 16384)) ] || mismatch "the spawner grew to $spawner_kb kB"
checks=$((checks + 1))
kept_kb=$(du -sk "$PEAL_DATA" | cut -f 1)
[ "$kept_kb" -lt 32768 ] || mismatch "the data folder grew to $kept_kb kB"
run peal logs gigabyte
expect_status 0
expect_stderr_has 'bytes were not kept ...]'
cp "$scratch/out" "$scratch/kept"
run sh -c "head -n 1 $scratch/kept; tail -n 1 $scratch/kept"
expect_stdout $'first\nlast'
checks=$((checks + 2)) # of the end, up to twice as much may be kept
kept=$(wc -c <"$scratch/kept")
[ "$kept" -ge 131072 ] || mismatch "only $kept bytes were kept"
[ "$kept" -le 196608 ] || mismatch "$kept bytes were kept"

# ---- both streams in their order; what comes after the end of the main process ----

# shellcheck disable=SC2016 # the job's shell expands it
add merged 'for i in {1..200}; do echo o$i; echo e$i >&2; done' 'output: merged'
run peal run merged --wait
expect_status 0
run peal logs merged
expect_stdout "$(for i in {1..200}; do echo "o$i"; echo "e$i"; done)"
expect_stderr ''
add late '(sleep 2; echo late) & echo early'
run peal run late --wait
expect_status 0
run peal logs late
expect_stdout $'early\nlate'
run peal runs late -o json
expect_json '.[0] | [.state, .exit_code]' '["ok",0]'
add daemon 'sleep 1000 & echo $!' 'linger: 1s'
run peal run daemon --wait
expect_status 0
run peal logs daemon
expect_stderr_has 'the output ends here: a process that the job left in the background'
left=$(cat "$scratch/out")
checks=$((checks + 1))
kill "$left" || mismatch "the process that was left in the background is gone"

# ---- bytes that are no text, and lines without an end ----

head -c 200000 /dev/urandom >"$scratch/bytes"
add binary "cat $scratch/bytes"
run_and_watch binary
run sh -c "peal logs binary | cmp - $scratch/bytes"
expect_status 0
expect_stdout ''
add nul 'printf %b a\\\\0b\\\\377c'
run_and_watch nul
run sh -c 'peal logs nul | od -An -c | tr -d " "'
expect_stdout 'a\0b377c'
add line 'head -c 4000000 /dev/zero | tr \\\\0 y' 'output_limit: 1MiB'
run_and_watch line
expect_json '.[0] | [.output_bytes, .output_truncated]' '[4000000,true]'
add whole 'head -c 2000000 /dev/zero | tr \\\\0 y' 'output_limit: 1MiB'
run_and_watch whole
expect_json '.[0] | [.output_bytes, .output_truncated]' '[2000000,false]'
run sh -c 'peal logs whole | wc -c'
expect_stdout 2000000

# ---- what stays in the background with stdout open holds nothing up ----

add background "echo before; sleep 300 & echo \$! >$scratch/left; echo after"
run_and_watch background
run peal logs background
expect_stdout $'before\nafter'
kill "$(cat "$scratch/left")"

check_logs
finish
