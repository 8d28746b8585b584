#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# After a restore all jobs go on from the time of the node that is asked to go on. One whose clock is wrong
# is refused: an hour behind, it would leave the cursors of the backup, and all since then would run
# again; an hour ahead, the rhythm of an interval would be counted anew when the cursors went back.
# And while the store is away, or halted, no node says that something is as it should be.
. "$(dirname "$0")/store_cluster_lib.sh"

postgres_make trust
url="postgresql://peal@127.0.0.1:$postgres_port/peal?schema=jobs"
offset=$scratch/offset
fake=${PEAL_BIN:-$source_dir/build/asan/bin}/../test/fake_clock.so
set_clock() { # SECONDS: of node a
    printf '%-31s\n' "$1" >"$scratch/offset.new"
    dd if="$scratch/offset.new" of="$offset" conv=notrunc status=none
}
on() { # NODE ARGUMENT...
    PEAL_DATA=$scratch/$1 peal "${@:2}"
}
is_skewed() { on a state -o json | jq -e '.clock.ok | not'; }
clocks_agree() { on a state -o json | jq -e .clock.ok; }

printf '%-31s\n' +0 >"$offset"
run env LD_PRELOAD="$fake" FAKE_CLOCK="$offset" ASAN_OPTIONS=verify_asan_link_order=0 \
    peal start -d --data "$scratch/a" --store "$url" --node-id a --listen none
expect_status 0
for node in b c; do
    run peal start -d --data "$scratch/$node" --store "$url" --node-id $node --listen none
    expect_status 0
done
export PEAL_DATA=$scratch/b
wait_until nodes_are '[["a","ready"],["b","ready"],["c","ready"]]'

job_file() { # COMMENT
    cat >"$scratch/jobs.yaml" <<YAML
- {name: count, schedule: "* * * * * *", overlap: allow, catch_up: all, notes: "$1",
   shell: "echo count \$PEAL_TICK >>'$ticks'"}
- {name: rate, schedule: "@every 2s", overlap: allow, shell: "echo rate \$PEAL_TICK >>'$ticks'"}
YAML
}
job_file first
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal group set narrow --cluster 3
expect_status 0
wait_until has_ticks 4

# ---- what is so already, and what is not there ----

said_so() { # on node c; each writes nothing
    "$@" peal apply -f "$scratch/jobs.yaml"
    "$@" peal resume --all --yes
    "$@" peal group set narrow --cluster 3
    "$@" peal resume count # by its name
}
deletes_nothing() {
    run curl -s -o /dev/null -w '%{http_code}' -X DELETE --unix-socket "$PEAL_DATA/api.sock" "http://localhost/api/v1/$1"
    expect_stdout "$2"
}
is_refused() { # COMMAND...
    run "$@"
    expect_status 5
    expect_stderr_has 'does not confirm what this node shows'
}
export PEAL_DATA=$scratch/c
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
expect_stderr_has '2 unchanged'
deletes_nothing jobs/nothing 404
deletes_nothing calendars/nothing 404

# ---- the store is put back to where `notes` was another ----

postgres_stop "$postgres"
cp -a "$postgres/data" "$scratch/backup"
said_so is_refused
deletes_nothing jobs/nothing 503
deletes_nothing calendars/nothing 503
postgres_start "$postgres" "$postgres_port"
more_ticks 4
job_file second
apply_second() { peal apply -f "$scratch/jobs.yaml"; }
wait_until apply_second
more_ticks 4
postgres_stop "$postgres"
said_so is_refused
rm -rf "$postgres/data"
cp -a "$scratch/backup" "$postgres/data"
rm -f "$postgres/data/postmaster.pid"
postgres_start "$postgres" "$postgres_port"
export PEAL_DATA=$scratch/b
wait_until is_halted

# ---- who may go on ----

for seconds in -3600 +3600; do
    set_clock "$seconds"
    wait_until is_skewed
    run on a cluster advance-cursors --yes
    expect_status 4
    expect_stderr_has "all jobs would go on from this node's time"
done
run peal cluster advance-cursors --yes
expect_status 0
run on c apply -f "$scratch/jobs.yaml"
expect_status 0
run sh -c "peal get count -o json | jq -r .notes"
expect_stdout second
more_ticks 6
set_clock +0
wait_until clocks_agree

run sh -c "sort '$ticks' | uniq -d"
expect_stdout ''
run sh -c "grep -v '00Z\$\|:[0-9][0-9]Z\$' '$ticks'"
expect_stdout ''
finish
