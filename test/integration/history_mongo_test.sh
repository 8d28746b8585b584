#!/bin/bash
# peal start --history mongodb://: runs, output, audit and statistics; the server is killed and comes
# back, refuses the password, or is not there at all.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"

mongo_make
echo horse >"$scratch/password"
if mongo_has_users; then
    url="mongodb://peal@127.0.0.1:$mongo_port/peal?authSource=admin&password_file=$scratch/password"
else
    url="mongodb://127.0.0.1:$mongo_port/peal?"
fi
start_agent a --listen none --history "$url"
peal add job '@manual' --overlap allow -- echo it ran 2>/dev/null
for _ in 1 2 3; do
    run peal run job --wait
    expect_status 0
done
expect_runs job 3 'it ran'
run peal pause job
run peal resume job
run peal audit -o json
expect_json 'map(select(.target.kind == "job") | .action)' '["resume","pause","create"]'
expect_well

# Killed, with runs before, during and after: each is there once.
mongo_kill
for _ in 1 2 3 4; do
    run peal run job
    expect_status 0
done
expect_trouble 'Start it, or check host and port'
wait_until says 'on disk'
run peal runs job
expect_stderr_has "the history's database does not answer"
mongo_start
expect_well
expect_runs job 7 'it ran'

# Killed again, and peal too: what waits survives both.
mongo_kill
run peal run job
expect_status 0
wait_until says 'on disk'
pid=$(peal state -o json | jq .pid)
kill -9 "$pid"
# shellcheck disable=SC2317 # wait_until calls it
is_gone() { ! kill -0 "$pid" 2>/dev/null; }
wait_until is_gone
run peal restart
expect_status 0
expect_trouble 'is away'
mongo_start
expect_well
expect_runs job 8 'it ran'

# Not there when peal starts: jobs run all the same.
run peal stop
mongo_kill
start_agent a
run peal run job
expect_status 0
expect_trouble 'is away'
mongo_start
expect_well
expect_runs job 9 'it ran'

# The wrong password; the right one helps without a restart.
if mongo_has_users; then
    echo wrong-horse >"$scratch/password"
    run peal restart
    run peal run job
    expect_status 0
    expect_trouble 'Put the right user and password'
    echo horse >"$scratch/password"
    expect_well
    expect_runs job 10 'it ran'
fi

# Installed without the part for MongoDB: it is said which file is missing, and nothing else needs it.
mkdir "$scratch/plain"
cp "$PEAL_BIN/peal" "$PEAL_BIN/peal-spawn" "$scratch/plain/"
run "$scratch/plain/peal" start --data "$scratch/c" --history "$url"
expect_status 1
expect_stderr_has "there is no $scratch/lib/peal/peal-mongo.so. \`make build\` makes it"
finish
