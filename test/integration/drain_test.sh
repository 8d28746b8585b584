#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# Two nodes on one etcd. The only one that may run some jobs is drained while the other works: their
# ticks are missed because of the drain, and both nodes say so.
. "$(dirname "$0")/lib.sh"
etcd_start

# One clock for both: a step of it saves a wait of 75 s.
offset=$scratch/offset
printf '%-31s\n' +0 >"$offset"
set_clock() { # SECONDS
    printf '%-31s\n' "$1" | dd of="$offset" conv=notrunc status=none
}
faked() { # COMMAND...
    LD_PRELOAD=${PEAL_BIN:-$source_dir/build/asan/bin}/../test/fake_clock.so FAKE_CLOCK=$offset \
        ASAN_OPTIONS=verify_asan_link_order=0 "$@"
}
start() { # NAME [OPTION...]
    export PEAL_DATA=$scratch/$1
    run faked peal start -d --node-id "$@" --store "$etcd_url/test"
    expect_status 0
}
start b --label zone=b
start a
is_ready() { [ "$(peal nodes -o json | jq -c '[.[].state]')" = '["ready","ready"]' ]; }
wait_until is_ready

cat >"$scratch/jobs.yaml" <<'YAML'
- {name: skip, schedule: "*/5 * * * * *", overlap: allow, catch_up: skip, where: zone=b, command: ["true"]}
- {name: last, schedule: "*/5 * * * * *", overlap: allow, where: zone=b, command: ["true"]}
- {name: anywhere, schedule: "*/5 * * * * *", overlap: allow, catch_up: skip, command: ["true"]}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
fake_now() { faked date -u +%Y-%m-%dT%H:%M:%SZ; }
ran_since() { # JOB TIME
    peal runs "$1" -n 1 -o json | jq -e --arg t "$2" '.[0].tick > $t and .[0].state == "ok"'
}
for job in skip last anywhere; do
    wait_until ran_since $job 2000
done

run peal drain b
expect_status 0
from=$(fake_now)
set_clock +75
waits_for() { # REASON NODE
    peal why skip --data "$scratch/$2" -o json |
        jq -e --arg reason "$1" '.state == "waiting" and .reason == $reason'
}
for node in a b; do
    wait_until waits_for drained $node
    run peal why skip --data "$scratch/$node"
    expect_stdout_has 'the nodes that could run it are drained'
done
wait_until ran_since anywhere "$(fake_now)" # the other node works
run peal undrain b
expect_status 0
to=$(fake_now)
for job in skip last; do
    wait_until ran_since $job "$to"
done

# What became of the ticks after one time and up to another, like "missed drained 15".
ends() { # JOB
    peal runs "$1" --ledger -n 1000 -o json | jq -r --arg from "$from" --arg to "$to" '
        [.[] | if .entry_id then
                   select(.to > $from and .from <= $to) | {k: "\(.state) \(.reason)", n: .count}
               else select(.tick > $from and .tick <= $to) | {k: "\(.state) \(.cause)", n: 1} end]
        | group_by(.k) | map("\(.[0].k) \(map(.n) | add)") | join("; ")'
}
expect_ends() { # JOB REGEX
    checks=$((checks + 1))
    ran="ends $*"
    ends "$1" >"$scratch/out"
    grep -qxE "$2" "$scratch/out" || mismatch "expected $2"
}
# The last few are no more than 30 s late, and run all the same.
expect_ends skip 'missed drained [0-9]+(; ok tick [1-9])?'
expect_ends last 'missed drained [0-9]+; ok (catch_up 1|tick [1-9])(; ok tick [1-9])?'
run ends anywhere
expect_stdout_lacks drained

finish
