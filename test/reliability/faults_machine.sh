# Sourced by run.sh: what happens to the machine of $node: its disk, clock, limits. See
# faults_process.sh for how faults are made.
# shellcheck shell=bash disable=SC2034,SC2154 # $node, $cannot are the driver's

# ---- the disk ----

needs_disks() {
    cannot='disks of their own need root'
    [ -n "$can_fill" ]
}
fill_disk() { head -c 1G /dev/zero 2>/dev/null >"$scratch/$1/filler"; } # NODE
empty_disk() { rm -f "$scratch/$1/filler"; }                              # NODE

hurt_disk_full() {
    needs_disks || return
    fill_disk "$node"
    goes_away "$node"
}
mend_disk_full() {
    empty_disk "$node"
    is_back "$node"
}

# ---- the wall clock; the boot clock is left alone ----

mend_clock() { set_clock "$node" +0; }

hurt_clock_ahead() { set_clock "$node" +3600; }
mend_clock_ahead() { mend_clock; }
hurt_clock_days() { set_clock "$node" +259200; }
mend_clock_days() { mend_clock; }
hurt_clock_decade() { set_clock "$node" +315576000; }
mend_clock_decade() { mend_clock; }
hurt_clock_back() { set_clock "$node" -3600; }
mend_clock_back() { mend_clock; }
hurt_clock_minutes_back() { set_clock "$node" -$((60 + RANDOM % 600)); }
mend_clock_minutes_back() { mend_clock; }

hurt_clock_at_boot() { # its agent starts with it
    local sizes=(-600 +600 +3600 +259200 +315576000)
    kill_agent "$node"
    set_clock "$node" "${sizes[RANDOM % 5]}"
}
mend_clock_at_boot() {
    bring_back "$node"
    nap $((RANDOM % 4 + 2))
    mend_clock
}

hurt_clock_skewed() { set_clock "$node" +0.900; } # more than is borne
mend_clock_skewed() { mend_clock; }
hurt_clock_off() { set_clock "$node" -0.300; } # less
mend_clock_off() { mend_clock; }

# ---- limits ----

limit_descriptors() { # PID
    local open
    open=$(find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l)
    prlimit --pid "$1" --nofile="$((open + 1)):"
}
lift_descriptors() { # PID
    prlimit --pid "$1" --nofile="$(ulimit -Sn):"
}

hurt_no_descriptors() {
    local spawner
    limit_descriptors "$(agent_of "$node")"
    ! spawner=$(spawner_of "$node") || limit_descriptors "$spawner"
}
mend_no_descriptors() {
    local spawner
    lift_descriptors "$(agent_of "$node")"
    ! spawner=$(spawner_of "$node") || lift_descriptors "$spawner"
}

# Root has no limit of processes; a cgroup of their controller has one for everybody.
hurt_no_fork() {
    local spawner group=/sys/fs/cgroup/pids/$tag
    cannot='there is no cgroup controller for processes that can be used'
    [ -d "${group%/*}" ] && mkdir -p "$group" 2>/dev/null || return
    spawner=$(spawner_of "$node") || return
    echo 0 >"$group/pids.max" && echo "$spawner" >"$group/cgroup.procs"
}
mend_no_fork() {
    local group=/sys/fs/cgroup/pids/$tag pid
    while read -r pid; do
        echo "$pid" >"${group%/*}/cgroup.procs"
    done <"$group/cgroup.procs"
    rmdir "$group"
}
