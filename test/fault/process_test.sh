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
for name in PEAL_JOB=env PEAL_RUN_ID= PEAL_TICK=20 PEAL_ATTEMPT=1 PEAL_FENCE= PEAL_NODE= PEAL_GRACE=10 MINE=yes; do
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
    expect_stdout_has 'without having started'
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

# ---- what the kernel ends is named ----

end_of() { # NAME LIMITS SCRIPT
    printf '{name: %s, schedule: "@manual", limits: {%s}, shell: "%s"}' "$1" "$2" "$3" \
        >"$scratch/job.yaml"
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
    run peal run "$1" --wait
    expect_status 10
    run peal runs "$1" -n 1 -o json
}
end_of cpu 'cpu_time: 1s' 'while :; do :; done'
expect_json '.[0] | [.state, .reason, .signal]' '["failed","cpu_time",24]'
run peal why cpu
expect_stdout_has 'reached its limit of CPU time'
end_of cpu-of-child 'cpu_time: 1s' '(while :; do :; done); exit $?'
expect_json '.[0] | [.state, .reason, .exit_code]' '["failed","exit_code",152]'
run peal why cpu-of-child
expect_stdout_has 'exit code 152 (a shell'
end_of by-hand '' 'kill -9 $$'
expect_json '.[0] | [.state, .reason, .signal]' '["failed","signal",9]'

# A cgroup of 32 MiB in which a program fills its memory. The kernel says in its log whom it ended;
# only root can read that, and only outside of containers are the pids the same.
small=
make_small_group() {
    [ "$(id -u)" -eq 0 ] && [ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ] &&
        [ -r /dev/kmsg ] || return
    for small in /sys/fs/cgroup/memory /sys/fs/cgroup; do
        small=$small/peal-test-$$
        mkdir "$small" 2>/dev/null || continue
        { echo 33554432 >"$small/memory.limit_in_bytes"; } 2>/dev/null && return
        { echo 33554432 >"$small/memory.max" && echo 0 >"$small/memory.swap.max"; } 2>/dev/null &&
            return
        rmdir "$small"
    done
    false
}
if make_small_group; then
    end_of oom '' "echo \$\$ >$small/cgroup.procs; exec tail /dev/zero"
    expect_json '.[0] | [.state, .reason, .signal]' '["failed","oom",9]'
    run peal why oom
    expect_stdout_has "the kernel's OOM killer ended the process"
    rmdir "$small"
else
    echo 'no small cgroup can be made here, or the kernel'\''s log not be read: no OOM is tried'
fi

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
