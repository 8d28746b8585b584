#!/bin/bash
# shellcheck disable=SC2317 # what wait_for calls
# etcd's leader dies while a hundred starts a second are due, then two of its three members sleep.
# Starts go on soon after etcd takes writes again, as a bare client finds that in the same seconds;
# and ticks of that time are started late, not skipped because those before them were late.
. "$(dirname "$0")/lib.sh"

jobs=30
late_ms=1500 # after the bare client: half a second, and a second for a machine that is busy
rejoin_ms=8000 # leases have ended meanwhile: nodes join again, within 7 s at worst

start_etcd 3
start_nodes a b c
end_in 40
for ((i = 1; i <= jobs; i++)); do
    echo "tick-$i|* * * * * *|overlap: skip|0|0"
done | apply a
wait_for 10 has_begun tick-1 3

first_start_after() { # UNIX_MS
    awk -v since="$1" '$1 == "begin" && $7 > since && (!first || $7 < first) { first = $7 }
        END { printf "%.0f\n", first }' "$trace"
}

starts_between() { # UNIX_MS UNIX_MS
    awk -v from="$1" -v to="$2" '$1 == "begin" && $7 > from && $7 <= to' "$trace" | wc -l
}

have_begun_since() { # UNIX_MS COUNT
    [ "$(starts_between "$1" "$(now_ms)")" -ge "$2" ]
}

skipped_between() { # UNIX_MS UNIX_MS
    save_ledger a
    jq --argjson from "$1" --argjson to "$2" '
        def ms: .[0:19] + "Z" | fromdate * 1000;
        [.[] | select(.state == "skipped" and (.from | ms) >= $from and (.from | ms) <= $to)]
        | map(.count) | add // 0' "$scratch/runs.json"
}

check_gap() { # WHAT SINCE_MS LATEST_MS
    local first late skipped due=$(((back_ms - $2) * jobs / 1000))
    first=$(first_start_after "$back_ms")
    late=$((first - back_ms))
    checks=$((checks + 1))
    echo "$1: etcd took no writes for $gap_ms ms; the first start came $late ms later"
    if [ "$first" -eq 0 ] || [ "$late" -gt "$3" ]; then
        mismatch "$1: no start for $late ms"
    fi
    checks=$((checks + 1))
    skipped=$(skipped_between "$2" "$back_ms")
    echo "  of $due ticks meanwhile $skipped were skipped"
    [ $((2 * skipped)) -le "$due" ] || mismatch "$1: $skipped of $due ticks were skipped"
}

# ---- its leader is killed, right before claims go out ----

start_bare
member=$(etcd_leader)
until_ms_of_second 850
goes_away etcd
killed_ms=$(now_ms)
tell_etcd kill "$member"
wait_for 20 have_begun_since $((killed_ms + 1000)) $((2 * jobs))
end_bare
check_gap 'leader killed' "$killed_ms" $late_ms
tell_etcd start "$member"
wait_for 20 etcd_is_well
is_back etcd

# ---- no quorum for a while ----

start_bare
nap 1
goes_away etcd
lost_ms=$(now_ms)
tell_etcd stop 0
tell_etcd stop 1
nap 6
tell_etcd cont 0
tell_etcd cont 1
wait_for 20 have_begun_since $((lost_ms + 6000)) $((2 * jobs))
end_bare
check_gap 'no quorum' "$lost_ms" $rejoin_ms
wait_for 20 etcd_is_well
is_back etcd

check_cluster 90
finish
