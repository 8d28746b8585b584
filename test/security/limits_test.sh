#!/bin/bash
# An editor wants more of the machine for a job than its user could have: to run before everybody
# else, to have more descriptors, to leave core dumps. The service's own limits are what
# the machine's owner has said.
# shellcheck disable=SC2016 # for the jobs
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
    echo 'skipped: only root has users to switch to'
    exit 77
fi

cat >"$scratch/users.allow" <<'LIST'
a/ games
ops/ root
LIST
printf 'allow_users: %s\ndefault_user: nobody\n' "$scratch/users.allow" >"$scratch/peal.yaml"

own=$(nice) # of the agent, and so of jobs that say nothing

# An agent whose jobs may have 500 descriptors, 400 of them without asking, and RLIMIT_NICE.
start_limited() { # NAME RLIMIT_NICE
    export PEAL_DATA=$scratch/$1
    run prlimit --nofile=400:500 --nice="$2" --core=0:0 \
        peal start -d --listen none --config "$scratch/peal.yaml"
    expect_status 0
}

# A job of JSON fields beside its name, and what it prints.
attempt() { # NAME FIELDS
    printf '{"name":"%s","schedule":"@manual","shell":"echo got $(nice) $(ulimit -Sn) $(ulimit -Hn) $(ulimit -c)",%s}' \
        "$1" "$2" >"$scratch/job.json"
    run peal apply -f "$scratch/job.json" --yes
    expect_status 0
    run peal run "$1" --follow
}

expect_refused() { # NAME WORDS
    expect_status 10
    expect_stdout_lacks got
    run peal runs "$1" -o wide
    expect_stdout_has "$2"
}

start_limited strict 0
for user in '' '"user":"games",'; do
    attempt a/first "$user\"nice\":-20"
    expect_refused a/first 'nice: its user may not go before others'
    attempt a/first "$user\"nice\":$((own - 1))"
    expect_refused a/first 'nice: its user may not go before others'
    attempt a/files "$user\"limits\":{\"open_files\":501}"
    expect_refused a/files 'limits: its user may not have more than the hard limits of the service'
    attempt a/core "$user\"limits\":{\"core\":\"1MiB\"}"
    expect_refused a/core 'limits: its user may not have more than the hard limits of the service'
    attempt a/polite "$user\"nice\":19,\"limits\":{\"open_files\":300}"
    expect_status 0
    expect_stdout_has 'got 19 300 300 0'
    attempt a/most "$user\"limits\":{\"open_files\":500}"
    expect_status 0
    expect_stdout_has "got $own 500 500 0"
    attempt a/plain "$user\"nice\":0"
    expect_stdout_has "got $own 400 500 0"
done
attempt ops/first '"user":"root","nice":-20' # where the list has root
expect_status 0
expect_stdout_has 'got -20 400 500 0'
if prlimit --nofile=400:500 prlimit --nofile=600:600 true 2>/dev/null; then # a root with all rights
    attempt ops/files '"user":"root","limits":{"open_files":600}'
    expect_stdout_has "got $own 600 600 0"
fi
run peal stop
expect_status 0

if prlimit --nice=25 true 2>/dev/null; then
    start_limited generous 25 # by the owner's word as far as -5
    attempt a/first '"nice":-5'
    expect_status 0
    expect_stdout_has 'got -5 400 500'
    attempt a/first '"nice":-6'
    expect_refused a/first 'as far as LimitNICE of the service goes'
    run peal stop
    expect_status 0
else
    echo 'not looked at: root may not raise limits here, so the owner can say nothing'
fi

finish
