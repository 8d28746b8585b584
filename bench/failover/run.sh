#!/bin/bash
# One of three nodes dies (kill -9 of all its processes at once) at each phase of a second: how long ticks that are due
# after that wait for their start, and what became of them. Several clusters, each with an etcd and agents of its
# own, go side by side, and share the kills: they are nearly idle at this load. How busy that keeps the machine is
# printed, for a machine that is at its limit measures itself. dkron's gap is shown beside it where there is a dkron.
# usage: bench/failover/run.sh [BUILD_DIR]
#   BENCH_KILLS=3         at each of twelve phases; each takes some 9 s, which the clusters share: a minute and a half
#                         on two cores. 20 is the full measurement: six minutes
#   BENCH_CLUSTERS=6      three for each core, unless it says otherwise
#   BENCH_PHASES='.05 .15 ... .95'
#   PEAL_DKRON=FILE       a dkron to measure; else the one on the PATH, if there is one
# What was measured stays in BUILD_DIR/bench/failover; table.sh makes Markdown of it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
bench=$build/bench/cluster_bench
peal=$build/bin/peal
[ -x "$peal" ] || peal=$here/../../build/bin/peal
results=$build/bench/failover
kills=${BENCH_KILLS:-3}
clusters=${BENCH_CLUSTERS:-$((3 * $(nproc)))}
phases=${BENCH_PHASES:-.05 .15 .25 .35 .45 .55 .65 .75 .85 .90 .95 .98}
. "$here/../figures.sh"
PEAL_DEFAULT_USER=$(id -un) # root, too, measures its own jobs
export PEAL_DEFAULT_USER

for program in "$bench" "$peal"; do
    if ! [ -x "$program" ]; then
        echo "bench/failover: $program is wanted; build it first" >&2
        exit 1
    fi
done
if ! command -v "${PEAL_ETCD:-etcd}" >/dev/null; then
    echo 'skipped: there is no etcd here; Debian has it in etcd-server'
    exit 0
fi
mkdir -p "$results"
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
running=()

# shellcheck disable=SC2317 # by the trap
end_all() {
    [ ${#running[@]} -eq 0 ] || kill "${running[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap end_all EXIT
trap 'exit 1' INT TERM

# Each phase goes to all clusters in turn, and so does each node.
list_kills() { # CLUSTER
    awk -v phases="$phases" -v kills="$kills" -v clusters="$clusters" -v cluster="$1" 'BEGIN {
        count = split(phases, phase, " ")
        for (i = 0; i < count * kills; i++)
            if (i % clusters == cluster)
                print phase[int(i / kills) + 1], substr("abc", int(i / clusters) % 3 + 1, 1)
    }'
}

processor() { # of the whole machine, in clock ticks: BUSY ALL
    awk '/^cpu / { for (i = 2; i <= 9; i++) all += $i; print all - $5 - $6, all }' /proc/stat
}

begin_cluster() { # CLUSTER
    mkdir "$work/$1"
    list_kills "$1" >"$work/$1/kills"
    "$here/cluster.sh" "$bench" "$peal" "$work/$1" <"$work/$1/kills" >"$work/$1/waits" &
    running+=($!)
}

for ((i = 0; i < clusters; i++)); do
    begin_cluster "$i"
done
for ((i = 0; i < clusters; i++)); do
    until [ -e "$work/$i/ready" ]; do
        kill -0 "${running[$i]}" || exit 1
        sleep 0.1
    done
done
read -r load _ </proc/loadavg
read -r busy_before all_before < <(processor)
begun=$SECONDS
for ((i = 0; i < clusters; i++)); do
    : >"$work/$i/go"
done
for ((i = 0; i < clusters; i++)); do
    wait "${running[$i]}"
done
running=()
took=$((SECONDS - begun))
read -r busy_after all_after < <(processor)
busy=$(calculate "($busy_after - $busy_before) / ($all_after - $all_before) * $(nproc)")
cat "$work"/*/waits | sort -gk 3 >"$results/waits"
awk -f "$here/figures.awk" "$results/waits" | sort -sg -k 1,1 >"$work/figures"
{
    grep -v '^all' "$work/figures"
    grep '^all' "$work/figures"
} >"$results/figures"

heading 'killed at' 'ticks' 'what became of them' '' 'wait p50, p90, p99, most'
while read -r phase state ticks p50 p90 p99 most skipped doubled; do
    budget=1
    [ "$state" = claimed ] || budget=2
    line "$phase, its run was ${state/claimed/not begun}" "$ticks" "$skipped skipped, $doubled twice" '' \
        "$(calculate "$p50") $(calculate "$p90") $(calculate "$p99") $(calculate "$most") s, of $budget s" \
        "$most <= $budget && $skipped == 0 && $doubled == 0"
done <"$results/figures"
echo "$kills kills at each of $(wc -w <<<"$phases") phases, by $clusters clusters side by side in $took s; \
$busy of $(nproc) cores busy, load $load before" | tee "$results/machine"

if dkron=$(command -v "${PEAL_DKRON:-dkron}"); then
    "$here/dkron.sh" "$dkron" 6
else
    echo "dkron: skipped: no PEAL_DKRON, and none on the PATH"
fi
exit "$failed"
