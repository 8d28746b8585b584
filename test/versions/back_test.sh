#!/bin/bash
# Back to an earlier peal ($PEAL_OLD_BIN), and forth again, on the data of this one: an upgrade that is taken back. A
# version whose formats are older refuses, and says what to do; one whose formats are these goes on with all that it knows, takes over the running
# jobs, leaves alone and names what it does not know, and this one finds all of it.
# shellcheck disable=SC2317,SC2046 # called by name; lists of words
. "$(dirname "$0")/written_lib.sh"
new_programs=$(dirname "$(command -v peal)")
old_programs=${PEAL_OLD_BIN:?the folder with the programs of an earlier version}
plain_path=$PATH

use() { # old | new
    case $1 in
    old) PATH=$old_programs:$plain_path ;;
    new) PATH=$new_programs:$plain_path ;;
    esac
    hash -r
}
start() { peal start -d --node-id one --listen none $(options_of "$kind"); }

# A record of each start, outside of peal.
plain() {
    cat <<END
name: plain
schedule: "* * * * * *"
shell: echo "plain \$PEAL_TICK" >>$scratch/log.$kind
overlap: allow
retention: {runs: 0}
---
name: long
schedule: "@manual"
shell: 'echo begins; until [ -e $scratch/go.$kind ]; do sleep 0.2; done; echo ends; exit 7'
END
}
# What 0.1.0 does not know. A version that does knows it makes no difference to what follows.
newer() {
    cat <<END
name: later/only-if
schedule: "* * * * * *"
shell: echo later >>$scratch/later.$kind
only_if: {jobs: [plain], within: 1h}
---
name: later/slots
schedule: "@manual"
command: ["true"]
groups: [one]
---
name: later/at-once
schedule: "@manual"
command: ["true"]
overlap: {policy: allow, at_once: 2}
END
}
has_ticks() { [ "$(wc -l <"$scratch/log.$kind")" -ge "$1" ]; } # COUNT
is_running() { newest_is long running; }

try() { # KIND
    kind=$1
    export PEAL_DATA=$scratch/data_$kind
    case $kind in
    etcd) etcd_start ;;
    postgres) postgres_make trust ;;
    esac
    use new
    run start
    expect_status 0
    plain >"$scratch/plain.yaml"
    newer >"$scratch/newer.yaml"
    run peal apply -f "$scratch/plain.yaml"
    expect_status 0
    run peal group set one --cluster 1
    expect_status 0
    run peal apply -f "$scratch/newer.yaml"
    expect_status 0
    for job in later/only-if later/slots later/at-once; do
        peal get "$job" -o yaml | grep -v '^status'
    done >"$scratch/definitions.$kind"
    run peal run long
    wait_until is_running
    wait_until has_ticks 3
    run peal stop
    expect_status 0

    # ---- back ----

    use old
    run start
    if [ "$status" -ne 0 ]; then
        expect_stderr_has 'newer peal'
        expect_stderr_has 'restore the backup'
    else
        ticks=$(wc -l <"$scratch/log.$kind")
        wait_until has_ticks $((ticks + 3))
        run peal list -o json
        expect_json '[.[] | select(.status.problem == null) | .name] | sort' '["long","plain"]'
        run peal doctor
        expect_stdout_has later/only-if
        touch "$scratch/later.$kind"
        laters=$(wc -l <"$scratch/later.$kind")
        ticks=$(wc -l <"$scratch/log.$kind")
        wait_until has_ticks $((ticks + 3))
        run test "$(wc -l <"$scratch/later.$kind")" -eq "$laters"
        expect_status 0
        touch "$scratch/go.$kind"
        wait_until newest_is long failed
        run peal runs long -n 1 -o json
        expect_json 'map([.state, .exit_code])' '[["failed",7]]'
        run peal logs long
        expect_stdout 'begins
ends'
        run peal stop
        expect_status 0
    fi

    # ---- and forth ----

    use new
    touch "$scratch/go.$kind"
    run start
    expect_status 0
    for job in later/only-if later/slots later/at-once; do
        peal get "$job" -o yaml | grep -v '^status'
    done >"$scratch/definitions.after"
    run diff "$scratch/definitions.$kind" "$scratch/definitions.after"
    expect_status 0
    run peal run later/slots --wait
    expect_status 0
    ticks=$(wc -l <"$scratch/log.$kind")
    wait_until has_ticks $((ticks + 2))
    run peal pause plain
    wait_until newest_is long failed
    # Every tick has run, once: also those between the stops and the starts, if catch_up says so; here, never twice.
    run sh -c "sort '$scratch/log.$kind' | uniq -d"
    expect_stdout ''
    run peal doctor
    expect_stdout_lacks FAIL
    run peal stop
    expect_status 0
    [ "$kind" != etcd ] || etcd_stop
}

for each in sqlite etcd postgres; do
    try $each
done
finish
