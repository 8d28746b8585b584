#!/bin/bash
# Past ticks of workflows: every one that has not run becomes an instance, oldest first, one at a
# time whatever the overlap; those that have run, and cancelled ones, are left alone.
. "$(dirname "$0")/lib.sh"
start_agent data
log=$scratch/log

for overlap in skip allow queue replace; do
    cat <<YAML
---
name: fill/$overlap
schedule: "0 0 * * *"
overlap: $overlap
catch_up: all
steps:
  - name: first
    shell: |
      echo "begin \${PEAL_TICK%%T*}" >>$log.$overlap
      echo "day=\${PEAL_TICK%%T*}" >>"\$PEAL_OUTPUT"
  - name: each
    after: first
    each: [a, b]
    shell: "true"
  - name: last
    after: each
    shell: echo "end \${steps.first.day}" >>$log.$overlap; [ ! -e $scratch/fail ]
YAML
done >"$scratch/jobs.yaml"
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

for overlap in skip allow queue replace; do
    run peal backfill "fill/$overlap" --from 2026-01-01 --to 2026-01-05 --wait
    expect_status 0
    expect_stdout_has '4 ticks, 0 have run already, 4 to run'
    run cat "$log.$overlap"
    expect_stdout 'begin 2026-01-01
end 2026-01-01
begin 2026-01-02
end 2026-01-02
begin 2026-01-03
end 2026-01-03
begin 2026-01-04
end 2026-01-04'
    run peal workflow runs "fill/$overlap" -o json
    expect_json '[.[] | [.state, .cause, .steps]] | unique' '[["ok","backfill",{"ok":3}]]'
    expect_json 'length' '4'
done

# Those that have run are not run again; a failed one counts as run, and is retried as such.
touch "$scratch/fail"
run peal backfill fill/skip --from 2026-01-03 --to 2026-01-07 --wait
expect_stdout_has '4 ticks, 2 have run already, 2 to run'
rm "$scratch/fail"
run peal workflow runs fill/skip -o json
expect_json '[.[] | select(.state == "failed") | .tick[:10]] | sort' '["2026-01-05","2026-01-06"]'
failed=$(jq -r '[.[] | select(.state == "failed")][0].run_id' "$scratch/out")
run peal backfill fill/skip --from 2026-01-01 --to 2026-01-07 --dry-run
expect_stdout_has '6 ticks, 6 have run already, 0 to run'
run peal workflow retry "$failed" --wait
expect_status 0
run peal why fill/skip 2026-01-02 -o json
expect_json '[.state, .run.cause, .instances]' '["ok","backfill",[]]'

# Instances of a backfill that wait are cancelled with the one that runs, or one by one.
cat >"$scratch/slow.yaml" <<YAML
name: fill/slow
schedule: "0 0 * * *"
steps:
  - name: wait
    shell: echo "\$PEAL_TICK" >>$log.slow; while [ ! -e $scratch/go ]; do sleep 0.05; done
YAML
run peal apply -f "$scratch/slow.yaml"
run peal backfill fill/slow --from 2026-01-01 --to 2026-01-04
expect_stdout_has '3 to run'
# shellcheck disable=SC2317 # wait_until calls it
has_lines() { # FILE COUNT
    [ -e "$1" ] && [ "$(wc -l <"$1")" -ge "$2" ]
}
wait_until has_lines "$log.slow" 1
run peal runs fill/slow -o json
expect_json '[.[] | [.tick[:10], .state]] | sort' \
    '[["2026-01-01","running"],["2026-01-02","queued"],["2026-01-03","queued"]]'
queued=$(jq -r '.[] | select(.tick[:10] == "2026-01-02") | .run_id' "$scratch/out")
run peal why fill/slow 2026-01-02
expect_stdout_has 'It waits for an earlier run of the job to end.'
run peal workflow cancel "$queued"
expect_status 0
touch "$scratch/go"
# shellcheck disable=SC2317 # likewise
are_over() {
    [ "$(peal runs fill/slow -o json | jq -c '[.[] | [.tick[:10], .state]] | sort')" = \
        '[["2026-01-01","ok"],["2026-01-02","skipped"],["2026-01-03","ok"]]' ]
}
wait_until are_over
run cut -c1-10 "$log.slow"
expect_stdout '2026-01-01
2026-01-03'

# The agent dies in the middle of a backfill: the rest follows, each once.
rm "$scratch/go"
run peal backfill fill/slow --from 2026-02-01 --to 2026-02-04
wait_until has_lines "$log.slow" 3
run peal state -o json
kill -9 "$(jq -r .pid "$scratch/out")"
touch "$scratch/go"
start_agent data
wait_until has_lines "$log.slow" 5
# shellcheck disable=SC2317 # likewise
all_ok() {
    [ "$(peal runs fill/slow -o json | jq '[.[] | select(.tick[:7] == "2026-02" and .state == "ok")] | length')" = 3 ]
}
wait_until all_ok
run sh -c "tail -n 3 $log.slow | cut -c1-10"
expect_stdout '2026-02-01
2026-02-02
2026-02-03'

finish
