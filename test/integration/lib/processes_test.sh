#!/bin/bash
# Three processes of a program share a store (embedded | etcd | postgres | redis), and are killed, stopped for a while,
# and ended, in an order that differs from run to run: each tick is called once, by the functions'
# own file, and what was not called is on record.
. "$(dirname "$0")/../lib.sh"
place=$1
ticker=${2:-$source_dir/build/asan/test/ticker}
functions=3
ticks=$scratch/ticks
seed=${PEAL_SEED:-$RANDOM}
echo "seed $seed (PEAL_SEED repeats it)"
RANDOM=$seed
case $place in
etcd)
    etcd_start
    export PEAL_STORE=$etcd_url/lib
    ;;
postgres)
    . "$(dirname "$0")/../history_lib.sh"
    postgres_make trust
    export PEAL_STORE="postgresql://peal@127.0.0.1:$postgres_port/peal"
    ;;
redis)
    . "$(dirname "$0")/../history_lib.sh"
    . "$(dirname "$0")/../redis_lib.sh"
    redis_make # options: none
    export PEAL_STORE=redis://127.0.0.1:$redis_port
    ;;
esac

declare -A pid
start_process() { # NUMBER
    PEAL_DATA=$scratch/data "$ticker" "$ticks" $functions >"$scratch/ticker.$1.out" 2>>"$scratch/ticker.$1.err" &
    pid[$1]=$!
}
# shellcheck disable=SC2317 # wait_until calls it
has_lines() { # COUNT, at least
    [ -e "$ticks" ] && [ "$(wc -l <"$ticks")" -ge "$1" ]
}
more_ticks() { # COUNT
    wait_until has_lines $(($(wc -l <"$ticks") + $1 * functions))
}
end_process() { # NUMBER SIGNAL
    kill -"$2" "${pid[$1]}"
    wait "${pid[$1]}" 2>/dev/null
}

for i in 1 2 3; do
    start_process $i
done
wait_until has_lines $((2 * functions))

for round in 1 2 3 4 5 6; do
    i=$((RANDOM % 3 + 1)) what=$((RANDOM % 3))
    echo "round $round: process $i, $what"
    case $what in
    0)
        end_process $i KILL
        more_ticks $((RANDOM % 2 + 1))
        start_process $i
        ;;
    1)
        kill -STOP "${pid[$i]}"
        more_ticks $((RANDOM % 4 + 1))
        kill -CONT "${pid[$i]}"
        ;;
    2)
        end_process $i TERM
        more_ticks 1
        start_process $i
        ;;
    esac
    more_ticks $((RANDOM % 2 + 1))
done

# One stays, until what the others have left is dealt with; each ends well when it is asked to.
for i in 2 3; do
    ran="process $i ends"
    end_process $i TERM
    status=$?
    expect_status 0
done
more_ticks 8
ran='the last process ends'
end_process 1 TERM
status=$?
expect_status 0
run cat "$scratch"/ticker.*.err
expect_stdout_lacks Sanitizer

# No tick twice.
run sh -c "sort '$ticks' | uniq -d"
expect_stdout ''

# A tick that was not called has another end on record: an agent of the same store has taken over what the
# processes have recorded.
first=$(cut -d' ' -f2 "$ticks" | sort -n | head -n 1) last=$(cut -d' ' -f2 "$ticks" | sort -n | tail -n 1)
for ((i = 0; i < functions; i++)); do
    for ((at = first; at <= last; at++)); do
        echo "tick-$i $at"
    done
done | sort >"$scratch/due"
cut -d' ' -f1,2 "$ticks" | sort >"$scratch/called"
run comm -13 "$scratch/due" "$scratch/called"
expect_stdout ''
comm -23 "$scratch/due" "$scratch/called" >"$scratch/missing"
echo "$(wc -l <"$scratch/called") called, $(wc -l <"$scratch/missing") not, of $(wc -l <"$scratch/due")"

start_agent agent --store "${PEAL_STORE:-sqlite://$scratch/data/programs/store}"
for i in 1 2 3; do
    start_process $i # each brings what was left in its folder
done
# shellcheck disable=SC2317 # wait_until calls it
all_are_known() {
    {
        peal runs -n 10000 -o json | jq -r '.[] | select(.state != "ok") | "\(.job) \(.tick)"'
        peal runs -n 10000 --ledger -o json | jq -r '.[] | select(.from) | "\(.job) \(.from) \(.to)"'
    } | while read -r job from to; do
        for ((at = $(date -d "$from" +%s); at <= $(date -d "${to:-$from}" +%s); at++)); do
            echo "$job $at"
        done
    done | sort -u >"$scratch/otherwise"
    comm -23 "$scratch/missing" "$scratch/otherwise" >"$scratch/unknown"
    [ ! -s "$scratch/unknown" ]
}
wait_until all_are_known
run cat "$scratch/unknown"
expect_stdout ''
for i in 1 2 3; do
    end_process $i TERM
done

finish
