#!/bin/bash
# shellcheck disable=SC2317 # functions that wait_for calls by name
# For 75 s no run can start: the agent is killed, its node drained, its clock not trusted, its disk
# full. catch_up decides about all ticks of that time, also about those that are only seconds late.
# They get the true reason, and `why` names it while they wait.
. "$(dirname "$0")/lib.sh"

# Takes effect at once for all processes with the fake clock: a step saves a wait of 75 s.
set_clock() { # SECONDS
    printf '%-31s\n' "$1" | dd of="$scratch/offset" conv=notrunc status=none
}
set_clock +0
faked() { # COMMAND...
    LD_PRELOAD=${append_run%/*}/fake_clock.so FAKE_CLOCK=$scratch/offset \
        ASAN_OPTIONS=verify_asan_link_order=0 "$@"
}

start_faked() {
    run faked peal start -d --listen none
    expect_status 0
}

fake_now() { faked date -u +%Y-%m-%dT%H:%M:%SZ; }

# Only root may mount a disk that is small enough to be filled.
mkdir "$PEAL_DATA"
has_disk=false
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=48m,mode=0700 none "$PEAL_DATA" 2>/dev/null; then
    has_disk=true
    trap 'end_all; umount -l "$PEAL_DATA"; clean_up' EXIT
fi

start_faked
cat >"$scratch/jobs.yaml" <<YAML
- {name: skip, schedule: "*/5 * * * * *", overlap: allow, catch_up: skip, command: ["true"]}
- {name: last, schedule: "*/5 * * * * *", overlap: allow, command: ["true"]}
- {name: all, schedule: "*/5 * * * * *", catch_up: all, command: ["true"]}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

ran_since() { # JOB TIME
    peal runs "$1" -n 1 -o json | jq -e --arg t "$2" '.[0].tick > $t and .[0].state == "ok"'
}

all_ran_since() { # TIME
    ran_since skip "$1" && ran_since last "$1" && ran_since all "$1"
}
wait_for 15 all_ran_since 2000

# What became of the ticks after one time and up to another, like "missed disk_full 15".
ends() { # JOB FROM TO
    peal runs "$1" --ledger -n 1000 -o json | jq -r --arg from "$2" --arg to "$3" '
        [.[] | if .entry_id then
                   select(.to > $from and .from <= $to) | {k: "\(.state) \(.reason)", n: .count}
               else select(.tick > $from and .tick <= $to) | {k: "\(.state) \(.cause)", n: 1} end]
        | group_by(.k) | map("\(.[0].k) \(map(.n) | add)") | join("; ")'
}

expect_ends() { # JOB FROM TO REGEX
    checks=$((checks + 1))
    ran="ends $*"
    ends "$1" "$2" "$3" >"$scratch/out"
    grep -qxE "$4" "$scratch/out" || mismatch "expected $4"
}

# Between these two nothing can start, for 75 s and more, of which all but a few are a step of the
# clock. At either end there may be a tick that is on time.
begin_absence() { from=$(fake_now); }
end_absence() { to=$(fake_now); }

newest_ok() { # JOB
    peal runs "$1" -n 5 -o json | jq -r 'first(.[] | select(.state == "ok")).tick'
}

# The agent may notice the end some seconds late: the newest tick of the absence can be after `to`.
expect_absence() { # REASON
    wait_for 30 all_ran_since "$to"
    local on_time='(; ok tick [1-5])?'
    expect_ends skip "$from" "$(newest_ok skip)" "missed $1 (1[4-9]|2[0-9])$on_time"
    expect_ends last "$from" "$(newest_ok last)" "missed $1 (1[3-9]|2[0-9]); ok catch_up 1$on_time"
    expect_ends all "$from" "$(newest_ok all)" "ok catch_up (1[4-9]|2[0-9])$on_time"
}

# ---- killed ----

kill_hard "$(agent_pid)"
begin_absence
set_clock +75
end_absence
start_faked
expect_absence catch_up

# ---- back within 30 s: nothing is lost, whatever the policy ----

kill_hard "$(agent_pid)"
begin_absence
set_clock +87
end_absence
start_faked
wait_for 30 all_ran_since "$to"
expect_ends skip "$from" "$to" 'ok tick [2-4]'
expect_ends last "$from" "$to" 'ok tick [2-4]'

# ---- drained ----

node=$(peal nodes -o name)
node=${node#node/}
run peal drain "$node"
expect_status 0
begin_absence
set_clock +162
waits_for() { # REASON
    peal why skip -o json | jq -e --arg reason "$1" '.state == "waiting" and .reason == $reason'
}
wait_for 20 waits_for drained
run peal why skip
expect_stdout_has 'the nodes that could run it are drained'
expect_stdout_has 'After that, it starts if it is at most 30 s late'
run peal undrain "$node"
expect_status 0
end_absence
expect_absence drained

# ---- the clock is not trusted ----

begin_absence
set_clock +7200
wait_for 20 waits_for clock_doubted
run peal why skip
expect_stdout_has 'The clock of this node is not trusted'
set_clock +237
end_absence
expect_absence clock_doubted

# ---- the disk is full ----

if "$has_disk"; then
    free=$(($(stat -f -c '%a * %S' "$PEAL_DATA")))
    head -c $((free - 4194304)) /dev/zero >"$PEAL_DATA/filler"
    wait_for 10 sh -c 'peal state -o json | jq -e ".store.ok | not"'
    begin_absence
    set_clock +312
    wait_for 20 waits_for disk_full
    run peal why skip
    expect_stdout_has 'It is due, but the disk is full: '
    expect_stdout_has 'MiB are free'
    run curl -s -H 'Accept-Language: zh' --unix-socket "$PEAL_DATA/api.sock" \
        http://localhost/api/v1/jobs/skip/why
    expect_stdout_has '已到触发时间，但磁盘已满：'
    rm "$PEAL_DATA/filler"
    wait_for 10 sh -c 'peal state -o json | jq -e .store.ok'
    nap 1.5 # it looks every second
    end_absence
    expect_absence disk_full
fi

finish
