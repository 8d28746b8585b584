#!/bin/bash
# Three nodes on one etcd: steps of one instance run on several, every node shows all of it, values
# go from node to node, and a machine that dies in the middle costs no step that can run elsewhere.
. "$(dirname "$0")/nodes.sh"
start_nodes
log=$scratch/log

cat >"$scratch/jobs.yaml" <<YAML
name: spread
schedule: "@manual"
steps:
  - name: split
    shell: echo "from=\$PEAL_NODE" >>"\$PEAL_OUTPUT"; echo 'parts=[1,2,3,4,5,6,7,8,9]' >>"\$PEAL_OUTPUT"
  - name: work
    after: split
    each: {of: steps.split.parts, at_once: 9}
    shell: echo "\$PEAL_NODE \${item} \${steps.split.from}" >>$log; sleep 0.2
  - name: join
    after: work
    shell: echo joined on \$PEAL_NODE
---
name: moves
schedule: "@manual"
steps:
  - name: before
    shell: echo "x=7" >>"\$PEAL_OUTPUT"
  - name: hangs
    after: before
    retries: {count: 1, wait: 0s, on: lost}
    shell: |
      echo "\$PEAL_NODE \$PEAL_ATTEMPT \${steps.before.x}" >>$log.moves
      [ \$PEAL_ATTEMPT = 2 ] || sleep 600
  - name: behind
    after: hangs
    shell: echo got \${steps.before.x}
finally:
  - name: cleanup
    shell: echo cleanup >>$log.cleanup
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# shellcheck disable=SC2317 # wait_until calls it
state_is() { # RUN STATE
    [ "$(peal runs "$1" -o json 2>/dev/null | jq -r '.[0].state')" = "$2" ]
}

# shellcheck disable=SC2317 # likewise
steps_are() { # RUN FILTER JSON
    [ "$(peal workflow describe "$1" -o json 2>/dev/null | jq -c "$2")" = "$3" ]
}

run peal workflow run spread --wait
expect_status 0
id=$(head -n 1 "$scratch/out")
run sort -k2n "$log"
expect_status 0
run sh -c "cut -d' ' -f2 '$log' | sort -n | tr '\n' ' '"
expect_stdout '1 2 3 4 5 6 7 8 9 '
run sh -c "cut -d' ' -f3 '$log' | sort -u | wc -l"
expect_stdout 1
for node in a b c; do
    PEAL_DATA=$scratch/$node wait_until steps_are "$id" '[.steps[] | [.name, .state, .items]]' \
        '[["split","ok",null],["work","ok",{"ok":9}],["join","ok",null]]'
    run env PEAL_DATA="$scratch/$node" peal logs "$id"
    expect_stdout_has 'joined on'
done

# The machine of a step is gone; the step is lost, and its second attempt is elsewhere.
run peal run moves
id=$(tail -n 1 "$scratch/out")
wait_until has_lines "$log.moves" 1
dead=$(cut -d' ' -f1 "$log.moves")
kill_machine "$dead" "$log.moves"
wait_until has_lines "$log.moves" 2
wait_until state_is "$id" ok
wait_until steps_are "$id" '[.steps[] | [.name, .state]]' \
    '[["before","ok"],["hangs","ok"],["behind","ok"],["cleanup","ok"]]'
run cut -d' ' -f2- "$log.moves"
expect_stdout '1 7
2 7'
run cat "$log.cleanup"
expect_stdout cleanup

finish
