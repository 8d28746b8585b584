#!/bin/bash
# shellcheck disable=SC2317 # what is called by its name
# Faults on real processes, one after the other and two at once, while jobs run that leave a trace
# outside of peal; then the checker, and a row for each fault.
#
#   run.sh [--store etcd|postgresql|redis] [--duration 10m] [--seed N] [--faults NAME,NAME...] [--report FILE]
#          [--earlier FOLDER]
#
# Without --faults all of them come in an order that the seed decides, again and again. With it
# they come as they are named, one at a time; two that are joined as NAME+NAME come at once. What
# can't be done on this machine is said and counted. With --earlier one or two of the three nodes, as the seed
# decides, begin with the programs of an earlier peal that are in FOLDER (tools/versions.sh --programs), and an upgrade
# may bring either version, as long as both remain. PEAL_KEEP=1 keeps what was written if something
# is wrong.

duration_s=600
seed=$((SRANDOM % 32768))
chosen=
report=
earlier= # a folder of programs
store=etcd
source_of_duration() { # 90, 90s, 10m or 1h, in seconds
    case $1 in
    *h) echo $((${1%h} * 3600)) ;;
    *m) echo $((${1%m} * 60)) ;;
    *) echo "${1%s}" ;;
    esac
}
while [ $# -gt 1 ]; do
    case $1 in
    --duration) duration_s=$(source_of_duration "$2") ;;
    --seed) seed=$2 ;;
    --faults) chosen=$2 ;;
    --store) store=$2 ;;
    --report) report=$(realpath -m "$2") ;;
    --earlier) earlier=$(realpath "$2") || exit 2 ;;
    *) break ;;
    esac
    shift 2
done
if [ $# -gt 0 ]; then
    echo "run.sh: what is $1?" >&2
    exit 2
fi
export PEAL_TEST_SECONDS=$((duration_s + 240))

# What each is done to: two at once are never done to the same.
declare -A does_to=(
    [kill_agent]=node [kill_spawner]=node [kill_both]=node [kill_machine]=node
    [freeze_claiming]=node [freeze_claimed]=node [freeze_begun]=node [freeze_running]=node
    [freeze_finished]=node [freeze_leader]=node [freeze_spawner]=node [upgrade]=node
    [name_twice]=node
    [cut_off]=node [cut_in]=node [cut_out]=node [compact_while_cut]=node
    [loss]=node [latency]=node [narrow]=node
    [disk_full]=node [no_descriptors]=node [no_fork]=node
    [clock_ahead]=node [clock_days]=node [clock_decade]=node [clock_back]=node
    [clock_minutes_back]=node [clock_at_boot]=node [clock_skewed]=node [clock_off]=node
    [history_down]=history [history_hangs]=history [spool_full]=node)
. "$(dirname "$0")/place.sh"
case $store in
etcd)
    . "$here/store_etcd.sh"
    . "$here/faults_etcd.sh"
    ;;
postgresql)
    . "$here/store_postgres.sh"
    . "$here/faults_server.sh"
    . "$here/faults_postgres.sh"
    ;;
redis)
    . "$here/store_redis.sh"
    . "$here/faults_server.sh"
    . "$here/faults_redis.sh"
    ;;
*)
    echo "run.sh: no store is named $store; etcd, postgresql or redis" >&2
    exit 2
    ;;
esac
. "$here/faults_process.sh"
. "$here/faults_network.sh"
. "$here/faults_history.sh"
. "$here/faults_machine.sh"
. "$here/changes.sh"
windows=$scratch/windows # FAULT NODE FROM_MS TO_MS WELL_MS
skips=$scratch/skips     # FAULT WHY
: >"$windows"
: >"$skips"

# ---- one fault, or two at once ----

declare -A target_node target_member

hurt() { # FAULT
    node=${machines[RANDOM % 3]}
    member=$((RANDOM % ${#members[@]}))
    cannot='it did not work'
    if ! "hurt_$1"; then
        echo "$1 $cannot" >>"$skips"
        return 1
    fi
    target_node[$1]=$node
    target_member[$1]=$member
    [ -z "${PEAL_VERBOSE:-}" ] || echo "$(date +%T.%N | cut -c 1-12) $1 $node $member"
}

mend() { # FAULT
    node=${target_node[$1]}
    member=${target_member[$1]}
    "mend_$1"
}

# An agent does not start without a store: those that were stopped come last.
mend_all() { # FAULT...
    local fault stopped=()
    for fault in "$@"; do
        case $fault in
        kill_agent | kill_both | kill_machine | upgrade | name_twice | clock_at_boot)
            stopped+=("$fault")
            ;;
        *) mend "$fault" ;;
        esac
    done
    for fault in "${stopped[@]}"; do
        mend "$fault"
    done
}

all_well() { # by what the store has, and by their own words
    local each
    store_is_well || return
    for each in "${machines[@]}"; do
        is_member "$each" && is_well "$each" || return
    done
}

inject() { # HOLD_MS FAULT...
    local fault from_ms to_ms well_ms until_ms done=()
    from_ms=$(now_ms)
    until_ms=$((from_ms + $1))
    shift
    for fault in "$@"; do
        ! hurt "$fault" || done+=("$fault")
    done
    [ ${#done[@]} -gt 0 ] || return
    while [ "$(now_ms)" -lt $until_ms ]; do
        nap 0.2
    done
    mend_all "${done[@]}"
    to_ms=$(now_ms)
    wait_for 90 all_well || echo "not well after ${done[*]}"
    well_ms=$(now_ms)
    for fault in "${done[@]}"; do
        echo "$fault ${target_node[$fault]} $from_ms $to_ms $well_ms" >>"$windows"
    done
    echo "fault $from_ms $well_ms" >>"$scratch/away"
}

# ---- which ones, and when ----

queue=()
refill() {
    local i other all
    if [ -n "$chosen" ]; then
        IFS=, read -r -a queue <<<"$chosen"
        return
    fi
    mapfile -t all < <(printf '%s\n' "${!does_to[@]}" | sort)
    for ((i = ${#all[@]} - 1; i > 0; i--)); do # shuffled by the seed
        other=$((RANDOM % (i + 1)))
        queue[i]=${all[i]}
        all[i]=${all[other]}
        all[other]=${queue[i]}
    done
    queue=("${all[@]}")
}

# The next one is taken from the queue; one time in four with a second that is done to something
# else.
choose() {
    local i
    [ ${#queue[@]} -gt 0 ] || refill
    IFS=+ read -r -a picked <<<"${queue[0]}"
    queue=("${queue[@]:1}")
    [ -z "$chosen" ] && [ $((RANDOM % 4)) -eq 0 ] || return 0
    for i in "${!queue[@]}"; do
        if [ "${does_to[${queue[i]}]}" != "${does_to[${picked[0]}]}" ]; then
            picked+=("${queue[i]}")
            queue=("${queue[@]:0:i}" "${queue[@]:i+1}")
            return
        fi
    done
}

# Longer than a node counts as alive, and sometimes for minutes when there is time for it.
hold_ms() {
    local ms=$((6500 + RANDOM % 3000))
    if [ "$duration_s" -ge 1800 ] && [ $((RANDOM % 12)) -eq 0 ]; then
        ms=$((ms + 120000))
    fi
    echo $ms
}

inject_until() { # UNIX_MS
    while [ "$(now_ms)" -lt "$1" ]; do
        choose
        inject "$(hold_ms)" "${picked[@]}"
        nap "$((RANDOM % 3 + 1)).$((RANDOM % 10))"
    done
}

# ---- what runs meanwhile ----

apply_jobs() {
    local i
    {
        for i in {1..6}; do # what lateness and recovery are measured with
            echo "probe-$i|* * * * * *|overlap: allow|20|0"
        done
        cat <<'TABLE'
second|* * * * * *|overlap: skip|200|0
rate|@every 2s|overlap: {policy: queue, queue: 1000}|900|0
delay|@after 1s|overlap: skip|300|0
replaced|*/3 * * * * *|overlap: replace, grace: 2s|5000|0
beside|*/2 * * * * *|overlap: allow|3000|0
failing|*/5 * * * * *|overlap: queue|100|3
endless|*/7 * * * * *|overlap: skip, timeout: 1s, grace: 1s|60000|0
all|*/2 * * * * *|overlap: skip, catch_up: all|50|0
none|*/2 * * * * *|overlap: skip, catch_up: skip|50|0
paused|* * * * * *|overlap: allow|10|0
edited|* * * * * *|overlap: allow|10|0
TABLE
    } | sed 's/^\([^|]*|[^|]*|\)/\1retention: {runs: 0}, /' | apply node-a
}

# ---- the end ----

end_all_of_it() {
    [ -z "${timer:-}" ] || kill "$timer" 2>/dev/null
    [ -z "${changer:-}" ] || kill "$changer" 2>/dev/null
    end_place
    clean_up
}
trap end_all_of_it EXIT

echo "STORE=$store SEED=$seed DURATION=${duration_s}s${chosen:+ FAULTS=$chosen}${earlier:+ EARLIER=$earlier}"
RANDOM=$seed
hub=()
start_place
[ -z "$earlier" ] || echo "begins with: $(tell_versions)"
[ -z "$can_cut" ] || hub=(nsenter "--net=/run/netns/$tag-hub")
: >"$scratch/timer" # how late the machine is counts from here on
end_in "$duration_s"
end_ms=$(($(date -d "$end" +%s) * 1000))
apply_jobs
wait_for 20 has_begun probe-1 3
keep_changing &
changer=$!

inject_until $((end_ms - 25000))
kill "$changer"
{ wait "$changer"; } 2>/dev/null
resume_paused # what was due meanwhile goes on record with the next claim
wait_for $((duration_s + 60)) sh -c "[ \$(date +%s) -gt $((end_ms / 1000)) ]"
late_machine >>"$scratch/away"
check_options=(--tables "$scratch/tables")
check_cluster 120
check_changes
. "$here/report.sh"
finish
