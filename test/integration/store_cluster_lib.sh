# Sourced by the tests that have three nodes on one server (PostgreSQL, Redis), with a job that is due each second and
# writes its tick and the time to $ticks; and what they look at. It sources lib.sh and history_lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2317 # what wait_until calls
# shellcheck disable=SC2154 # of the libraries

. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/history_lib.sh"
ticks=$scratch/ticks
nodes=(a b c)
: >"$ticks"

start_cluster() { # URL
    local node
    for node in "${nodes[@]}"; do
        run peal start -d --data "$scratch/$node" --store "$1" --node-id "$node" --listen none
        expect_status 0
    done
    export PEAL_DATA=$scratch/a
    wait_until nodes_are '[["a","ready"],["b","ready"],["c","ready"]]'
    run peal add count '* * * * * *' --overlap allow --catch-up skip --shell "echo \"\$PEAL_TICK \$EPOCHREALTIME\" >>'$ticks'"
    expect_status 0
    wait_until has_ticks 2
}

nap() { # SECONDS
    read -r -t "$1" <> <(:) # without a process
}
has_ticks() { # COUNT
    [ "$(wc -l <"$ticks")" -ge "$1" ]
}
more_ticks() { # COUNT
    wait_until has_ticks $(($(wc -l <"$ticks") + $1))
}
nodes_are() { # JSON
    [ "$(peal nodes -o json | jq -c '[.[] | [.node, .state]]')" = "$1" ]
}
is_halted() {
    [ "$(peal cluster status -o json | jq .store.halted)" = true ]
}

now_ms() {
    echo $((${EPOCHREALTIME/./} / 1000))
}

# The first one that started after a promotion, and from when on it could.
tell_first_start() { # HURT_MS PROMOTED_MS
    local tick at at_ms due_ms from_ms
    while read -r tick at; do
        at_ms=$((${at/./} / 1000)) due_ms=$(date -d "$tick" +%s%3N)
        [ $at_ms -gt "$2" ] || continue
        from_ms=$((due_ms > $2 ? due_ms : $2))
        echo "promoted after $(($2 - $1)) ms, a start $((at_ms - from_ms)) ms after it could be (budget: 500)"
        break
    done <"$ticks"
}

# Nothing is started until somebody says so.
expect_halts() { # AFTER WHAT WORDS
    local count
    wait_until is_halted
    count=$(wc -l <"$ticks")
    run peal cluster status
    expect_status 5
    expect_stdout_has "$2"
    nap 3
    ran="after $1"
    ! has_ticks $((count + 1)) || mismatch 'something was started while it is halted'
    run peal cluster advance-cursors --yes
    expect_status 0
}

# All goes on by itself, and nobody has halted.
expect_goes_on() { # AFTER WHAT
    more_ticks 3
    wait_until nodes_are '[["a","ready"],["b","ready"],["c","ready"]]'
    ran="after $1"
    ! is_halted || mismatch 'it has halted'
}

expect_none_doubled() {
    run sh -c "cut -d ' ' -f 1 '$ticks' | sort | uniq -d"
    expect_stdout ''
}

# No tick was started twice, and each of those that were due has an end: it ran, or the ledger has a
# reason.
expect_all_accounted() {
    local first last at
    expect_none_doubled
    first=$(cut -d ' ' -f 1 "$ticks" | sort | head -n 1) last=$(cut -d ' ' -f 1 "$ticks" | sort | tail -n 1)
    first=$(date -d "$first" +%s) last=$(date -d "$last" +%s)
    for ((at = first; at <= last; at++)); do echo "$at"; done >"$scratch/due"
    {
        while read -r at _; do date -d "$at" +%s; done <"$ticks"
        peal runs count -n 10000 -o json | jq -r '.[] | select(.state != "ok") | .tick' |
            while read -r at; do date -d "$at" +%s; done
        peal runs count -n 10000 --ledger -o json | jq -r '.[] | select(.from) | "\(.from) \(.to)"' |
            while read -r from to; do seq "$(date -d "$from" +%s)" "$(date -d "$to" +%s)"; done
    } | sort -u >"$scratch/accounted"
    run comm -23 "$scratch/due" "$scratch/accounted"
    expect_stdout ''
    echo "$(wc -l <"$ticks") ticks started, of $(wc -l <"$scratch/due")"
}
