#!/bin/bash
# Programs that embed the library beside agents, on a store that they share: their runs, output and
# progress are seen from every agent, live and after the program has ended; killed, triggered with
# parameters and paused from there. Programs and agents die.
# Usage: program_test.sh sqlite|etcd|postgres|redis [postgres], the latter for the history
# shellcheck disable=SC2317 # wait_until calls what seems unreachable
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/history_lib.sh"
work=$scratch/work
mkdir "$work"
options=() programs=()
trap 'kill -9 "${programs[@]}" ${receiver:-} 2>/dev/null; end_agents; etcd_stop; servers_stop; rm -rf "$scratch"' EXIT
if [ "$1" = postgres ] || [ "${2:-}" = postgres ]; then
    postgres_make trust
fi
case $1 in
etcd)
    etcd_start
    store=$etcd_url/test
    ;;
redis)
    . "$(dirname "$0")/redis_lib.sh"
    redis_make # options: none
    store=redis://127.0.0.1:$redis_port
    ;;
postgres) store="postgresql://peal@127.0.0.1:$postgres_port/peal?schema=store" ;;
sqlite) store=sqlite://$scratch/shared ;;
esac
if [ "${2:-}" = postgres ]; then
    options=(--history "postgresql://peal@127.0.0.1:$postgres_port/peal")
fi

start_node() { # NAME
    start_agent "$1" --node-id "$1" --store "$store" --listen none "${options[@]}"
}
program=${PEAL_BIN:-$source_dir/build/asan/bin}/../test/program_of_test
start_program() { # NUMBER: its pid is programs[NUMBER]
    PEAL_STORE=$store PEAL_DATA=$scratch/programs "$program" "$work" \
        >"$scratch/program$1.out" 2>&1 &
    programs[$1]=$!
}
on() { # NODE ARGUMENT...
    PEAL_DATA=$scratch/$1 peal "${@:2}"
}
newest() { # NODE JOB FILTER: of the newest run
    on "$1" runs "$2" -n 1 -o json | jq -r ".[0] | $3"
}
newest_has() { # NODE JOB FILTER TEXT
    [ "$(newest "$1" "$2" "$3")" = "$4" ]
}
of_run() { # NODE RUN FILTER
    curl -s --unix-socket "$scratch/$1/api.sock" "http://localhost/api/v1/runs/$2" | jq -r "$3"
}
run_has() { # NODE RUN FILTER TEXT
    [ "$(of_run "$1" "$2" "$3")" = "$4" ]
}
has_log() { # NODE RUN LINE
    on "$1" logs "$2" 2>/dev/null | grep -qx "$3"
}
nodes_are() { # JSON
    [ "$(on a nodes -o json | jq -c '[.[] | [.program, .state]] | sort')" = "$1" ]
}
ran_at_least() { # NODE COUNT
    [ "$(on "$1" runs sweep --state ok -n 1000 -o json | jq length)" -ge "$2" ]
}
nothing_is_missing() { # NODE
    on "$1" runs sweep -n 1 2>"$scratch/missing" >"$scratch/runs" && [ ! -s "$scratch/missing" ]
}

# ---- a program that meets no agent keeps its records, and hands them over to the first ----

start_program 1
has_spooled() {
    [ -n "$(find "$scratch/programs" -path '*/spool/state-*' -size +1k 2>/dev/null)" ]
}
wait_until has_spooled
start_node a
start_node b
start_program 2
wait_until nodes_are '[[null,"ready"],[null,"ready"],["program_of_test","ready"],["program_of_test","ready"]]'
wait_until ran_at_least a 3
wait_until nothing_is_missing a
for node in a b; do
    wait_until ran_at_least $node 3
done
run on b logs sweep
expect_status 0
expect_stdout_has 'swept by'

# ---- live: output and progress, from either agent ----

run on b run slow
expect_status 0
slow=$(cat "$scratch/out")
for node in a b; do
    wait_until has_log $node "$slow" first
    wait_until run_has $node "$slow" '.progress | "\(.percent) \(.text)"' '40 rows'
    run on $node runs slow
    expect_stdout_has '40% rows'
done
on a logs -f "$slow" >"$scratch/followed" 2>/dev/null &
follower=$!
wait_until grep -qx 'line 50' "$scratch/followed"
# By its job: no node knows when it started. It follows until it is killed: not a function's shell, but the command itself.
PEAL_DATA=$scratch/b peal logs -f slow >"$scratch/job_followed" 2>"$scratch/job_followed.err" &
job_follower=$!
wait_until grep -qx 'line 50' "$scratch/job_followed"

# ---- killed from an agent: the call is told, and says so ----

run on a kill "$slow"
expect_status 0
for node in a b; do
    wait_until run_has $node "$slow" '.state + " " + .reason' 'killed user'
    wait_until has_log $node "$slow" 'told to stop'
    run of_run $node "$slow" '.progress.percent'
    expect_stdout 40
done
wait_until grep -qx 'told to stop' "$scratch/followed"
wait $follower
wait_until grep -qF -e "-- slow $slow: killed" "$scratch/job_followed.err"
run grep -cF "$slow" "$scratch/job_followed.err"
expect_stdout 2 # its begin and its end
kill $job_follower

# ---- with parameters, people are told of a failure, and paused ----

mapfile -t ports < <(free_ports)
"${program%/*}/hook_receiver" "${ports[0]}" "$scratch/got" &
receiver=$!
run on a channel set ops --type webhook --hook "http://127.0.0.1:${ports[0]}/hook"
expect_status 0
got() { # EVENT RUN
    grep -q "\"$2-$1-ops\"" "$scratch/got"
}

run on a run greet --param who=world
expect_status 0
greeted=$(cat "$scratch/out")
wait_until has_log b "$greeted" 'hello world'
run on a run greet --param who=trouble
trouble=$(cat "$scratch/out")
wait_until run_has b "$trouble" '"\(.state) \(.exit_code)"' 'failed 7'
wait_until got failure "$trouble"
run on a run greet
expect_status 0
wait_until got recovery "$(cat "$scratch/out")"
run on b pause sweep
expect_status 0
paused_ran=$(on a runs sweep --state ok -n 1000 -o json | jq length)
run on a run sweep
by_hand=$(cat "$scratch/out")
wait_until newest_has a sweep .run_id "$by_hand"
wait_until newest_has a sweep .state ok
run on a resume sweep
expect_status 0
wait_until ran_at_least b $((paused_ran + 2))

# ---- one process ends well: what it did stays ----

of_node() { # NODE NAME: how many runs of that node are seen
    on "$1" runs sweep -n 1000 -o json | jq --arg node "$2" '[.[] | select(.node == $node)] | length'
}
first=$(newest a slow .node)
before=$(of_node a "$first")
kill "${programs[1]}"
run wait "${programs[1]}"
expect_status 0
for node in a b; do
    run on $node logs "$slow"
    expect_stdout_has 'told to stop'
done
more_of_node() { # NODE NAME COUNT
    [ "$(of_node "$1" "$2")" -ge "$3" ]
}
wait_until more_of_node b "$first" "$before"

# ---- a process dies in a run: the run is lost, with its reason ----

run on a run slow
lost=$(cat "$scratch/out")
wait_until has_log b "$lost" first
kill -9 "${programs[2]}"
for node in a b; do
    wait_until run_has $node "$lost" '.state + " " + .reason' 'lost node_died'
done
start_program 3
wait_until run_has a "$lost" .state lost # its next process knows no more
after_death=$(on a runs sweep --state ok -n 1000 -o json | jq length)
wait_until ran_at_least a $((after_death + 2))

# ---- the agent that takes the records dies in the middle of a run: the other one goes on ----

run on a run slow
third=$(cat "$scratch/out")
wait_until has_log a "$third" first
via=$(on a nodes -o json | jq -r '[.[] | select(.program and .state == "ready")][0].via')
case $via in
a) other=b ;;
*) other=a ;;
esac
kill -9 "$(cat "$scratch/$via/peal.pid")"
export PEAL_DATA=$scratch/$other
wait_until has_log $other "$third" 'line 10'
via_is() { # NODE
    [ "$(on "$1" nodes -o json | jq -r '[.[] | select(.program and .state == "ready")][0].via')" = "$1" ]
}
wait_until via_is $other
touch "$work/go"
wait_until run_has $other "$third" .state ok
wait_until has_log $other "$third" last
run of_run $other "$third" '"\(.progress.percent) \(.detail)"'
expect_stdout '100 100% rows'
start_node "$via"
for node in a b; do
    wait_until has_log $node "$third" last
    wait_until has_log $node "$greeted" 'hello world'
    wait_until has_log $node "$slow" 'told to stop'
done

# ---- all that a program said ----

kill "${programs[3]}"
run wait "${programs[3]}"
expect_status 0
run cat "$scratch/program1.out" "$scratch/program2.out" "$scratch/program3.out"
expect_stdout ''

finish
