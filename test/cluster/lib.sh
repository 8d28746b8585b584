# Sourced by the tests of a cluster: a real etcd, agents on it that are named by a word each, and
# what can be done to them, on top of what the fault tests have.
#
#   start_etcd 3
#   start_nodes a b c
#   run on b kill job
#
# A node's data folder is $scratch/NODE. Whatever was started ends with the test, which ends by
# itself when it takes too long.
# shellcheck shell=bash

. "$(dirname "${BASH_SOURCE[0]}")/../fault/lib.sh"

cluster_dir=$(dirname "${BASH_SOURCE[0]}")
etcd_members=${PEAL_BIN:-$source_dir/build/asan/bin}/../test/etcd_members
unset PEAL_DATA PEAL_STORE
nodes=()     # all that were ever started
endpoints=   # of etcd: host:port,...
prefix=/peal # of the keys
: >"$scratch/away"

# How late the machine itself is, all the time: see late_ms.
"${etcd_members%/*}/bare_timer" "$scratch/timer" &
timer=$!

# ---- etcd ----

start_etcd() { # MEMBERS [ARGUMENT OF ETCD...]
    coproc etcd { exec "$etcd_members" "$@"; }
    exec {to_etcd}>&"${etcd[1]}" {from_etcd}<&"${etcd[0]}"
    read -r endpoints <&"$from_etcd"
    case $endpoints in
    *:*) ;;
    *)
        echo "skipped: ${endpoints:-etcd does not start}"
        exit 77
        ;;
    esac
    etcd_count=$1
}

tell_etcd() { # ORDER MEMBER
    local answer
    echo "$1 $2" >&"$to_etcd"
    read -r answer <&"$from_etcd"
    [ "$answer" = "done" ] || echo "etcd_members: $1 $2: $answer"
}

ctl() { # ARGUMENT...
    ETCDCTL_API=3 etcdctl --endpoints "$endpoints" --command-timeout 3s "$@"
}

etcd_leader() { # its number
    ctl endpoint status -w json 2>/dev/null |
        jq -e --arg all "$endpoints" '($all / ",") as $order | map(select(.Status.leader != 0 and
            .Status.leader == .Status.header.member_id).Endpoint as $it | $order | index($it))[0]'
}

etcd_is_well() { # all members serve
    [ "$(ctl endpoint health 2>&1 | grep -c 'is healthy')" = "$etcd_count" ]
}

# ---- nodes ----

on() { # NODE ARGUMENT...: a command of peal on that node
    PEAL_DATA=$scratch/$1 peal "${@:2}"
}

start_node() { # NODE [OPTION...]
    local node=$1
    shift
    [[ " ${nodes[*]} " = *" $node "* ]] || nodes+=("$node")
    run on "$node" start -d --store "etcd://$endpoints$prefix" --node-id "$node" --capacity 1 \
        --listen none "$@"
    expect_status 0
}

start_nodes() { # NODE...
    local node
    for node in "$@"; do
        start_node "$node"
    done
    for node in "$@"; do
        wait_for 20 is_member "$node"
    done
}

stop_node() { # NODE
    run on "$1" stop
    expect_status 0
}

agent_of() { PEAL_DATA=$scratch/$1 agent_pid; }     # NODE
spawner_of() { PEAL_DATA=$scratch/$1 spawner_pid; } # NODE
is_up() { [ -n "$(agent_of "$1")" ]; }              # NODE

has_no_keys() { # PREFIX
    [ -z "$(ctl get --prefix "$prefix/$1" --keys-only)" ]
}

# As etcd has it, whatever the agents say.
is_member() { # NODE
    [ -n "$(ctl get "$prefix/nodes/$1" --keys-only 2>/dev/null)" ]
}
is_no_member() { ! is_member "$1"; } # NODE

leader() { # the node that is a candidate for the longest time
    ctl get --prefix "$prefix/leader/" --sort-by CREATE --order ASCEND --limit 1 \
        --print-value-only 2>/dev/null
}

children_of() { # PID
    local file
    for file in /proc/[0-9]*/status; do
        if grep -qsE "^PPid:[[:space:]]+$1$" "$file"; then
            echo "${file//[!0-9]/}"
        fi
    done
}

# ---- faults; each is noted, so that the checker knows when and where things went wrong ----

declare -A away_since

goes_away() { # NODE, or "etcd", whatever the store is
    away_since[$1]=${away_since[$1]:-$(now_ms)}
}

is_back() { # NODE, or "etcd"
    [ -z "${away_since[$1]:-}" ] || echo "$1 ${away_since[$1]} $(now_ms)" >>"$scratch/away"
    unset "away_since[$1]"
}

kill_agent() { # NODE; what it started goes on
    goes_away "$1"
    kill_hard "$(agent_of "$1")"
}

kill_machine() { # NODE; with everything that runs on it
    local spawner guard jobs
    goes_away "$1"
    kill_hard "$(agent_of "$1")"
    spawner=$(spawner_of "$1") || return 0
    kill -STOP "$spawner"
    jobs=$(children_of "$spawner")
    if guard=$(guard_of "$spawner"); then # first, or it starts another spawner
        kill -STOP "$guard"
        jobs="$jobs $(children_of "$guard")" # of an earlier spawner
        kill_hard "$guard"
    fi
    kill -9 "$spawner"
    # shellcheck disable=SC2086 # a list of numbers
    kill -9 $jobs 2>/dev/null
    wait_for 10 is_gone "$spawner"
}

freeze() { # NODE
    goes_away "$1"
    kill -STOP "$(agent_of "$1")"
}

thaw() { # NODE
    kill -CONT "$(agent_of "$1")"
    is_back "$1"
}

bring_back() { # NODE [OPTION...]
    start_node "$@"
    is_back "$1"
}

# ---- jobs ----

# A line of a table is a job: NAME|SCHEDULE|MORE FIELDS|TAKES MS|EXIT CODE. All that have ticks end
# at $end.
job_file() { # < TABLE
    local name schedule more ms code
    while IFS='|' read -r name schedule more ms code; do
        [ "$schedule" = @manual ] || more="end: \"$end\"${more:+, $more}"
        echo "---"
        echo "{name: $name, schedule: \"$schedule\", timezone: UTC, ${more:+$more, }" \
            "command: [$append_run, $trace, $ms, $code]}"
    done
}

apply() { # NODE < TABLE
    job_file >"$scratch/jobs.yaml"
    run on "$1" apply -f "$scratch/jobs.yaml"
    expect_status 0
}

end_in() { # SECONDS; from then on nothing is due
    end=$(date -u -d "@$(($(date +%s) + $1))" +%Y-%m-%dT%H:%M:%SZ)
}

# Sleeps until so many milliseconds of the second have gone, the next time.
until_ms_of_second() { # MILLISECONDS
    local ms=$((($1 - $(now_ms) % 1000 + 1000) % 1000))
    nap "0.$(printf %03d $ms)"
}

# A client that does nothing but write to etcd, beside the nodes and on the same machine: what is
# promised in time is measured from where this one got on. It runs from here on, and says what its
# longest gap was when it is told to end.
start_bare() {
    mkfifo "$scratch/bare.in"
    "${etcd_members%/*}/etcd_retry" "$endpoints" <"$scratch/bare.in" >"$scratch/bare.out" &
    bare=$!
    exec {to_bare}>"$scratch/bare.in"
    rm "$scratch/bare.in"
}

end_bare() { # sets gap_ms and back_ms, when etcd took writes again
    local from_ms
    exec {to_bare}>&-
    wait "$bare"
    read -r gap_ms from_ms _ <"$scratch/bare.out"
    # shellcheck disable=SC2034 # for the tests
    back_ms=$((from_ms + gap_ms))
}

# What the oracle knows.
begun_on() { # NODE [JOB]
    awk -v node="$1" -v job="${2:-}" '$1 == "begin" && $8 == node && (job == "" || $2 == job)' \
        "$trace"
}
has_begun_on() { # NODE [JOB [TIMES]]
    [ "$(begun_on "$1" "${2:-}" | wc -l)" -ge "${3:-1}" ]
}
node_of() { # JOB: the newest run's
    awk -v job="$1" '$1 == "begin" && $2 == job { node = $8 } END { print node }' "$trace"
}

# ---- what is on record ----

# Of a job's newest run, as a node knows it: those of other nodes only while they are open.
state_of() { # NODE JOB
    on "$1" runs "$2" -n 1 -o json | jq -r '.[0].state'
}
has_state() { # NODE JOB STATE
    [ "$(state_of "$1" "$2")" = "$3" ]
}

is_well() { # NODE, by its own words
    on "$1" state -o json | jq -e '.store.ok and .history.ok'
}
is_unwell() { ! is_well "$1"; } # NODE

node_is() { # NODE STATE [ASKED]
    [ "$(on "${3:-$1}" nodes -o json | jq -r --arg node "$1" '.[] | select(.node == $node).state')" = "$2" ]
}

# Everything that the nodes know, as one list: a run that is open for one and ended for another has
# ended; one that is lost for one, and has another end for another, is amended.
save_ledger() {
    local node
    for node in "${nodes[@]}"; do
        if is_up "$node"; then
            on "$node" runs --ledger -n 100000 -o json >"$scratch/runs.$node.json" || return
        fi
    done
    jq -s -f "$cluster_dir/merge.jq" "$scratch"/runs.*.json >"$scratch/runs.json" &&
        on "${1:-${nodes[0]}}" list -o json >"$scratch/jobs.json"
}

is_settled_on() { # NODE
    on "$1" list -o json |
        jq -e 'all(.[].status; .running == 0 and .queued == 0 and .next_at == null)'
}

is_over() { # nothing is open, neither for any node nor in the store
    local node
    for node in "${nodes[@]}"; do
        is_up "$node" || continue
        is_settled_on "$node" || return
    done
    has_no_keys runs/ && has_no_keys entries/
}

# What a start may be late by: the second that is promised, and what the machine is late by when a
# timer ends, etcd writes twice, and a process begins.
late_ms() {
    awk '$2 > latest { latest = $2 } END { printf "%d\n", 1000 + 4 * latest / 1000 }' "$scratch/timer"
}

# Waits for the end of everything, and compares it with the oracle. All nodes must be up.
check_cluster() { # SECONDS
    local node
    for node in "${!away_since[@]}"; do
        is_back "$node"
    done
    wait_for "$1" is_over
    check_options+=(--away "$scratch/away" --late-ms "$(late_ms)")
    check_ledger
    for node in "${nodes[@]}"; do
        PEAL_DATA=$scratch/$node check_logs
        wait_for 10 is_well "$node"
    done
}

# ---- the end ----

show_logs() {
    local node
    for node in "${nodes[@]}"; do
        echo "---- log of $node ----"
        tail -n "${PEAL_LOG_LINES:-60}" "$scratch/$node/peal.log"
    done
    echo "---- away ----"
    cat "$scratch/away"
}

end_all() {
    local node
    [ "$failures" -eq 0 ] || show_logs
    for node in "${nodes[@]}"; do
        PEAL_DATA=$scratch/$node end_agent
    done
    [ -z "${etcd_PID:-}" ] || kill "$etcd_PID"
    kill "$watchdog" "$timer" 2>/dev/null
}

out_of_time() {
    ran=$0
    mismatch "took more than $limit_s s"
    finish
}

# Before CTest's own limit, which would leave agents behind.
limit_s=${PEAL_TEST_SECONDS:-400}
trap out_of_time TERM
{
    trap - TERM EXIT
    nap "$limit_s"
    kill "$$"
} >/dev/null 2>&1 &
watchdog=$!
