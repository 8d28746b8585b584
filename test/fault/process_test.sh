#!/bin/bash
# What a job meets: its variables; what is said of one that can't start; and a tree of processes
# that is ended whole, however it hides.
. "$(dirname "$0")/lib.sh"

start_peal

# ---- variables ----

run peal add env @manual --env MINE=yes --shell 'env | sort'
expect_status 0
run peal run env --follow
expect_status 0
for name in PEAL_JOB=env PEAL_RUN_ID= PEAL_TICK=20 PEAL_ATTEMPT=1 PEAL_FENCE= PEAL_NODE= MINE=yes; do
    expect_stdout_has "$name"
done

# ---- failures to start: failed runs, and the reason in words ----

cp /bin/true "$scratch/not_executable"
chmod 0644 "$scratch/not_executable"
printf '#!/no/such/interpreter\n' >"$scratch/no_interpreter"
printf 'neither a program nor a script' >"$scratch/not_a_program"
chmod 0755 "$scratch/no_interpreter" "$scratch/not_a_program"
if [ "$(id -u)" -eq 0 ]; then
    not_allowed='the file of allow_users does not name it'
else
    not_allowed='only an agent of root can'
fi
while IFS='|' read -r name options command words; do
    # shellcheck disable=SC2086 # options
    run peal add "$name" @manual $options -- $command
    expect_status 0
    run peal run "$name" --wait
    expect_status 10
    run peal runs "$name" -n 1 -o json
    expect_json '.[0] | [.state, .reason, .exit_code]' '["failed","no_start",null]'
    run peal runs "$name" -n 1 -o wide
    expect_stdout_has "$words"
    run peal why "$name"
    expect_status 0
    expect_stdout_has "$words"
done <<TABLE
no_file||/no/such/program|no such file: /no/such/program
no_file_in_path||no-such-program-anywhere|no such command in its PATH: no-such-program-anywhere
not_executable||$scratch/not_executable|can't execute $scratch/not_executable: Permission denied
no_interpreter||$scratch/no_interpreter|first line names is not there: $scratch/no_interpreter
not_a_program||$scratch/not_a_program|can't execute $scratch/not_a_program: Exec format error
a_folder||/tmp|can't execute /tmp: Permission denied
no_cwd|--cwd /no/such/folder|/bin/true|no such directory: /no/such/folder
not_a_folder|--cwd /etc/passwd|/bin/true|can't enter the directory /etc/passwd: Not a directory
no_user|--user no-such-user-here|/bin/true|no such user: no-such-user-here
not_allowed|--user daemon|/bin/true|not allowed to run as daemon: $not_allowed
TABLE

# ---- the whole tree ----

# Every process says its number in the file; each hides in its own way and does not mind TERM.
cat >"$scratch/tree.sh" <<'SCRIPT'
trap '' TERM
pids=$1
echo $$ >>"$pids"
setsid sh -c 'trap "" TERM; echo $$ >>"$0"; while :; do sleep 1; done' "$pids" &
(setsid sh -c '(echo $$ >>"$0"; trap "" TERM; while :; do sleep 1; done) & exit' "$pids" &)
env -i setsid sh -c 'trap "" TERM; (while :; do sleep 1; done) & echo $! >>"$0"; wait' "$pids" &
while :; do sleep 1; done
SCRIPT

# shellcheck disable=SC2317 # wait_for calls it
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; } # FILE COUNT

# shellcheck disable=SC2317 # and this one
all_gone() { # FILE
    local pid
    while read -r pid; do
        is_gone "$pid" || return
    done <"$1"
}

for how in kill timeout; do
    pids=$scratch/pids.$how
    : >"$pids"
    limit=
    [ $how = kill ] || limit='timeout: 2s,'
    echo "{name: tree-$how, schedule: \"@manual\", $limit grace: 1s," \
        "command: [/bin/sh, $scratch/tree.sh, $pids]}" >"$scratch/job.yaml"
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
    run peal run tree-$how
    expect_status 0
    wait_for 10 has_lines "$pids" 4
    if [ $how = kill ]; then
        run peal kill tree-kill
        expect_status 0
        wait_for 15 newest_is tree-kill killed
        run peal runs tree-kill -n 1 -o json
        expect_json '.[0] | [.state, .reason, .by != null]' '["killed","user",true]'
    else
        wait_for 20 newest_is tree-timeout timed_out
    fi
    wait_for 5 all_gone "$pids"
done

check_logs
finish
