#!/bin/bash
# shellcheck disable=SC2317 # functions that wait_for calls by name
# The agent is dead for 90 s. catch_up decides about the ticks of workflows as about
# those of jobs: all of them have an instance each, in order, or the last one, or none; every step starts once in each.
. "$(dirname "$0")/lib.sh"

# Takes effect at once for all processes with the fake clock: a step saves the wait.
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

log=$scratch/log
workflow() { # NAME CATCH_UP OVERLAP
    cat <<YAML
---
name: flow/$1
schedule: "*/10 * * * * *"
catch_up: $2
overlap: $3
steps:
  - name: first
    shell: |
      echo "first \$PEAL_TICK" >>$log.$1
      echo "tick=\$PEAL_TICK" >>"\$PEAL_OUTPUT"
  - name: second
    after: first
    shell: echo "second \${steps.first.tick}" >>$log.$1
YAML
}

start_faked
{
    workflow all all skip
    workflow beside all allow
    workflow last last skip
    workflow skip skip skip
} >"$scratch/flows.yaml"
run peal apply -f "$scratch/flows.yaml"
expect_status 0

ended_since() { # TIME
    local name
    for name in all beside last skip; do
        peal workflow runs "flow/$name" -n 50 -o json |
            jq -e --arg t "$1" 'any(.[]; .tick > $t and .state == "ok")' >/dev/null || return
    done
}
wait_for 30 ended_since 2000

from=$(faked date -u +%Y-%m-%dT%H:%M:%SZ)
kill_hard "$(agent_pid)"
set_clock +90
start_faked
to=$(faked date -u +%Y-%m-%dT%H:%M:%SZ)
wait_for 60 ended_since "$to"

# Instances of the time in which nobody was there, by cause and state.
caught_up() { # NAME
    peal workflow runs "flow/$1" -n 100 -o json | jq -r --arg from "$from" --arg to "$to" '
        [.[] | select(.tick > $from and .tick <= $to and .cause == "catch_up") | .state]
        | group_by(.) | map("\(.[0]) \(length)") | join("; ")'
}
expect_caught_up() { # NAME REGEX
    checks=$((checks + 1))
    ran="instances of flow/$1 that were caught up"
    caught_up "$1" >"$scratch/out"
    grep -qxE "$2" "$scratch/out" || mismatch "expected $2"
}
expect_caught_up all 'ok ([89]|10)'
expect_caught_up beside 'ok ([89]|10)'
expect_caught_up last 'ok 1'
expect_caught_up skip ''

# Each step once in each instance, with the value of its own instance. With overlap: skip one after the other.
for name in all beside last skip; do
    run sh -c "sort $log.$name | uniq -d"
    expect_stdout ''
    run sh -c "sed -n 's/^second //p' $log.$name | sort >$scratch/seconds; sed -n 's/^first //p' $log.$name | sort | comm -13 - $scratch/seconds"
    expect_stdout ''
done
run sh -c "sed -n 's/^first //p' $log.all >$scratch/order; sort -c $scratch/order"
expect_status 0

finish
