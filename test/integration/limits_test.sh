#!/bin/bash
# Limits of whole runs, by cgroups, and the turn at the disk. Without controllers of cgroup v2 there is
# what a user is told then; with them (as root, where this test can make a cgroup) what the kernel does.
. "$(dirname "$0")/lib.sh"

put() { # NAME SCRIPT FIELD...
    printf 'name: %s\nschedule: "@manual"\nshell: |\n  %s\n' "$1" "$2" >"$scratch/job.yaml"
    printf '%s\n' "${@:3}" >>"$scratch/job.yaml"
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
}

# A cgroup of the test's own that has all controllers but perhaps io. It is removed when all that is in
# it has ended.
hierarchy=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
cgroup=
make_cgroup() {
    local controller
    [ -n "$hierarchy" ] && [ -w "$hierarchy/cgroup.subtree_control" ] || return
    for controller in memory cpu pids; do
        grep -qw "$controller" "$hierarchy/cgroup.controllers" || return
        echo "+$controller" >"$hierarchy/cgroup.subtree_control" || return
    done
    mkdir "$hierarchy/peal-test.$$" && cgroup=$hierarchy/peal-test.$$
} 2>/dev/null
# shellcheck disable=SC2317 # the trap calls it
remove_cgroup() {
    local folder
    [ -n "$cgroup" ] || return
    echo 1 >"$cgroup/cgroup.kill"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        find "$cgroup" -depth -type d | while read -r folder; do rmdir "$folder"; done
        [ -d "$cgroup" ] || return
        read -r -t 0.1 <> <(:)
    done
} 2>/dev/null
trap 'end_agents; remove_cgroup; rm -rf "$scratch"' EXIT

# ---- the turn at the disk: everywhere ----

start_agent data
put turn 'ionice' 'ionice: {class: best-effort, level: 6}'
run peal run turn --wait
run peal logs turn
expect_stdout 'best-effort: prio 6'
put turn 'ionice' 'ionice: idle'
run peal run turn --wait
run peal logs turn
expect_stdout 'idle'
run peal export yaml turn
expect_stdout_has 'ionice: idle'
run peal export crontab turn
expect_stdout_has 'ionice -c 3 '

# ---- where nothing can be enforced ----

# What can be enforced is known with the spawner.
# shellcheck disable=SC2317 # wait_until calls it
has_spawner() {
    peal nodes -o json | jq -e '.[0].spawner_version != null' >/dev/null
}
wait_until has_spawner
run peal nodes -o json
has_some=$(jq '[.[0].labels | keys[] | select(startswith("cgroup/"))] | length' "$scratch/out")
limits='limits: {total_memory: 64MiB, cpus: 1.50, total_processes: 20}'
if [ "$has_some" = 0 ]; then
    put none 'echo it has run' "$limits"
    expect_stderr_has 'no node can enforce limits.total_memory'
    expect_stderr_has 'the label cgroup/pids'
    expect_stderr_lacks 'limits.io_weight'
    run peal describe none
    expect_stdout_has 'no node that takes runs has the labels that its limits need: cgroup/memory,cgroup/cpu,cgroup/pids'
    expect_stdout_has 'cpus: "1.5"'
    run peal run none
    run peal why none
    expect_stdout_has 'no node has the labels that its limits need: cgroup/memory,cgroup/cpu,cgroup/pids'
    run peal why none --lang zh
    expect_stdout_has '没有节点具有任务 limits 所需的标签'
    run curl -s --unix-socket "$PEAL_DATA/api.sock" -X POST -H 'Content-Type: application/json' \
        -d "{\"node\":\"$(peal nodes -o json | jq -r '.[0].node')\"}" http://localhost/api/v1/jobs/none/run
    expect_stdout_has 'does not have the labels cgroup/memory'
    run peal doctor
    expect_stdout_has 'limits.total_memory and the like run on other nodes alone'
    # One that says so without being able to: the run does not start without its limits.
    run peal restart --label cgroup/memory= --label cgroup/cpu= --label cgroup/pids=
    expect_status 0
    put liar 'echo it has run' "$limits"
    run peal run liar --wait
    expect_stderr_has "limits: this node can't enforce them"
    run peal logs liar
    expect_stdout ''
fi
peal stop >/dev/null 2>&1

# ---- where they can ----

make_cgroup || {
    echo "no cgroup with the controllers memory, cpu and pids can be made below \"$hierarchy\" (it has: $(cat "$hierarchy/cgroup.controllers" 2>/dev/null)): what the kernel enforces is not tested"
    finish
}
sleep 300 & # of somebody who is in it: moved, since a cgroup that is divided has no processes
holder=$!
echo $holder >"$cgroup/cgroup.procs"
PEAL_CGROUP=$cgroup start_agent real
wait_until has_spawner
run peal nodes -o json
expect_json '[.[0].labels | keys[] | select(startswith("cgroup/"))] - ["cgroup/io"]' '["cgroup/cpu","cgroup/memory","cgroup/pids"]'
run peal doctor
expect_stdout_has 'limits.total_memory, limits.cpus, limits.total_processes'
run cat "$cgroup/cgroup.subtree_control"
expect_stdout '' # not before the first run

# A child needs more than the whole run may have: the run is over, and says why.
put mem '(head -c 300M /dev/zero | tail >/dev/null); echo still here' 'limits: {total_memory: 32MiB}'
expect_stderr_lacks 'no node can enforce'
run peal run mem --wait
expect_stderr_has 'failed (oom)'
run peal runs mem -o json
expect_json '.[0] | [.state, .reason, .detail, .max_rss_kb <= 32768]' '["failed","oom","its processes together needed more than limits.total_memory",true]'
run peal logs mem
expect_stdout_lacks 'still here'
run cat "$cgroup/agent/cgroup.procs"
expect_stdout "$holder"

# dash ends when it can't fork; bash tries again.
put pids 'sh -c "for i in 1 2 3 4 5 6 7 8 9; do sleep 1 & done; wait"' 'limits: {total_processes: 4}'
run peal run pids --wait
run peal runs pids -o json
expect_json '.[0] | [.reason, .detail]' '["exit_code","it had as many processes as limits.total_processes allows, and could not make another one"]'

# In its cgroup, with what its files say, also what leaves its session and clears its environment.
# shellcheck disable=SC2016 # the job's shell expands it
put where 'own=$(sed -n s/^0:://p /proc/self/cgroup); cd "'"$hierarchy"'$own"; cat memory.max cpu.max pids.max; setsid env -i sh -c "sed -n s/^0:://p /proc/self/cgroup" | grep -c "^$own\$"' \
    'limits: {total_memory: 64MiB, cpus: 1.5, total_processes: 50}'
run peal run where --wait
run peal logs where
expect_stdout "67108864
150000 100000
50
1"

# Killed as a whole, and nothing of the cgroups is left. A run without limits has none of these.
put killed 'setsid env -i sleep 300 & sleep 300' 'timeout: 1s' "limits: {total_memory: 64MiB}"
run peal run killed --wait
expect_stderr_has 'timed_out'
# shellcheck disable=SC2317 # wait_until calls it
is_empty() {
    peal run mem --wait
    [ "$(find "$cgroup" -path '*.limits/*' -type d | wc -l)" -le 1 ]
}
wait_until is_empty
put free 'sed -n s/^0:://p /proc/self/cgroup'
run peal run free --wait
run peal logs free
expect_stdout_lacks '.limits/'

# The spawner is killed: the next one knows the run's cgroup, and what ended it.
put adopted "cat $scratch/gate; head -c 300M /dev/zero | tail >/dev/null" 'limits: {total_memory: 32MiB}'
mkfifo "$scratch/gate"
run peal run adopted
wait_until newest_is adopted running
spawner=$(jq -r .pid <<<"$(peal state -o json | jq .spawner)")
[ "$spawner" -gt 0 ] 2>/dev/null || spawner=$(pgrep -f "peal-spawn --dir $PEAL_DATA/spawn" | head -1)
kill -9 "$spawner"
run sh -c "echo >'$scratch/gate'"
wait_until newest_is adopted failed
run peal runs adopted -o json
expect_json '.[0] | [.reason, .detail]' '["oom","its processes together needed more than limits.total_memory"]'
kill $holder
finish
