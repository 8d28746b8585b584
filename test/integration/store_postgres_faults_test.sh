#!/bin/bash
# What becomes of a PostgreSQL that is the store of three nodes: killed, frozen, cut off, full, in the
# hands of strangers. All goes on by itself each time, no tick starts twice, and none is silent.
# store_postgres_faults_test.sh HALF_SENT
. "$(dirname "$0")/store_cluster_lib.sh"
half_sent=${1:-$source_dir/build/asan/test/half_sent}
seed=${PEAL_SEED:-$SRANDOM}
echo "seed $seed (PEAL_SEED repeats it)"
RANDOM=$seed

postgres_make trust
start_cluster "postgresql://peal@127.0.0.1:$postgres_port/peal?schema=jobs"

backends() { # CONDITION: of the server processes of peal
    ask "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'peal kv %' AND $1 ORDER BY pid"
}
one_of() { # WORD...
    echo "${@:RANDOM % $# + 1:1}"
}

echo 'killed'
postgres_signal "$postgres" KILL
wait_until postgres_start "$postgres" "$postgres_port" # once what is left of it is gone
expect_goes_on 'a crash of the server'

echo 'frozen for longer than a node is waited for'
postgres_signal "$postgres" STOP
nap 8
postgres_signal "$postgres" CONT
expect_goes_on 'a frozen server'

echo 'one of its processes frozen'
# shellcheck disable=SC2046 # words
frozen=$(one_of $(backends true))
kill -STOP "$frozen"
more_ticks 4
kill -CONT "$frozen"
expect_goes_on 'a frozen server process'

echo 'sessions ended at random moments'
for ((round = 0; round < 15; round++)); do
    ask "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'peal kv %' AND random() < 0.5" >/dev/null
    nap "0.$((RANDOM % 900 + 100))"
done
expect_goes_on 'sessions that were ended'

echo 'a stranger locks the tables, and reads for long'
ask 'BEGIN; LOCK TABLE jobs.kv_feed, jobs.kv IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(4); COMMIT' >/dev/null
expect_goes_on 'a lock of the tables'
"$postgres_bin/psql" -h "$postgres" -p "$postgres_port" -U peal -Atqc \
    'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM jobs.kv; SELECT pg_sleep(8); COMMIT' peal >/dev/null &
reader=$!
for table in kv kv_feed kv_changes kv_leases; do
    ask "VACUUM jobs.$table" >/dev/null
done
more_ticks 3
wait $reader
for table in kv kv_feed kv_changes kv_leases; do
    ask "VACUUM FULL jobs.$table" >/dev/null
done
expect_goes_on 'VACUUM FULL'

echo 'a node freezes with half a pipeline sent'
"$half_sent" "host=$postgres port=$postgres_port user=peal dbname=peal application_name='peal kv 0'" jobs >"$scratch/half" &
half=$!
wait_until grep -q 'holds it' "$scratch/half"
wait_until grep -q ended "$scratch/half"
wait $half
expect_goes_on 'half a pipeline'

if [ "$(id -u)" = 0 ] && nft add table inet "peal$$" 2>/dev/null; then
    echo 'cut off'
    trap 'nft delete table inet "peal$$" 2>/dev/null; end_agents; servers_stop; rm -rf "$scratch"' EXIT
    nft "add chain inet peal$$ out { type filter hook output priority 0; }
        add rule inet peal$$ out oifname lo tcp dport $postgres_port drop
        add rule inet peal$$ out oifname lo tcp sport $postgres_port drop"
    nap 9
    nft delete table inet "peal$$"
    expect_goes_on 'a cut network'
fi

expect_all_accounted
finish
