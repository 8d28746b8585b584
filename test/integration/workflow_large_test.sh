#!/bin/bash
# An instance of a thousand steps over three nodes on one etcd, one of which dies in the middle: every
# attempt at a step starts once, and none is forgotten.
. "$(dirname "$0")/nodes.sh"
start_nodes
log=$scratch/log
wide=50 deep=20

{
    printf 'name: large\nschedule: "@manual"\nsteps:\n'
    for layer in $(seq $deep); do
        for chain in $(seq $wide); do
            # shellcheck disable=SC2016 # for the step's shell
            printf '  - {name: s%d-%d, shell: "echo $PEAL_STEP $PEAL_ATTEMPT >>%s",' \
                "$layer" "$chain" "$log"
            [ "$layer" -eq 1 ] || printf ' after: s%d-%d,' $((layer - 1)) "$chain"
            printf ' retries: {count: 3, wait: 0s, on: lost}}\n'
        done
    done
} >"$scratch/large.yaml"
run peal apply -f "$scratch/large.yaml"
expect_status 0

# shellcheck disable=SC2317 # wait_until calls it
is_over() { # RUN
    [ "$(peal runs "$1" -o json 2>/dev/null | jq -r '.[0].state')" != running ]
}

# The leader or another: the one on which this command is not asked.
run peal run large
id=$(tail -n 1 "$scratch/out")
wait_until has_lines "$log" 200
kill_machine b "$scratch/no-such-log"
wait_until is_over "$id"
run peal workflow describe "$id" -o json
expect_json '[.instance.state, .counts]' "[\"ok\",{\"ok\":$((wide * deep))}]"
run sh -c "cut -d' ' -f1 '$log' | sort -u | wc -l"
expect_stdout $((wide * deep))
run sh -c "sort '$log' | uniq -d"
expect_stdout ''
finish
