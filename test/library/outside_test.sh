#!/bin/bash
# Commands and HTTP calls of a program, from an installed tree: by peal-spawn and peal-call, and by the
# library itself where they are not installed. Output and its order, exit codes, limits, kills and timeouts
# of whole process trees; a program that is killed in the middle of a run, and the next one, which has its
# end; a spawner that is killed; answers of the wrong status, and none at all.
# Usage: outside_test.sh BUILD LIBRARY ARCHIVE PEAL-SPAWN PEAL-CALL CALL-SERVER
# shellcheck disable=SC2317 # wait_until calls what seems unreachable
. "$(dirname "$0")/lib.sh"

tools=$(dirname "$4")
server=$6
install_library
# shellcheck disable=SC2046 # lists of options
run "$built_by" -Wall -Wextra -Werror "${sanitizers[@]}" "$here/outside.c" $(pkg-config --cflags --libs peal) -o "$scratch/outside"
expect_status 0
[ "$failures" -eq 0 ] || finish
export LD_LIBRARY_PATH=$prefix/lib

program='' serving=''
trap 'kill -9 $program $serving 2>/dev/null; end_agents; rm -rf "$scratch"' EXIT
chmod 755 "$scratch" # calls of root's are made by nobody
: >"$scratch/requests"
"$server" "$scratch/requests" >"$scratch/port" &
serving=$!
wait_until test -s "$scratch/port"
url=http://127.0.0.1:$(cat "$scratch/port")
start_agent a --store "sqlite://$scratch/store" --listen none

start_program() { # FOLDER-OF-TOOLS [MORE]
    : >"$scratch/said"
    PEAL_STORE=sqlite://$scratch/store PEAL_DATA=$scratch/programs PEAL_BIN=$1 \
        "$scratch/outside" "$work" "$url" "${@:2}" >>"$scratch/said" 2>&1 &
    program=$!
    wait_until has_said 'has failed: it returned 5' # a local one: all that comes before it is added
}
has_said() { # TEXT
    grep -qF -e "$1" "$scratch/said"
}
ask() { # JOB [OPTION...]: its run is $asked
    wait_until peal get "$1"
    run peal run "$@"
    expect_status 0
    asked=$(cat "$scratch/out")
}
has() { # RUN FILTER TEXT
    [ "$(curl -s --unix-socket "$PEAL_DATA/api.sock" "http://localhost/api/v1/runs/$1" | jq -r "$2")" = "$3" ]
}
logs_are() { # RUN TEXT
    [ "$(peal logs "$1" 2>/dev/null)" = "$2" ]
}
logs_have() { # RUN LINE
    peal logs "$1" 2>&1 | grep -qxF -e "$2"
}
is_gone() { # FILE: the process of that number is no more, or not yet waited for
    local state
    state=$(sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$(cat "$work/$1")/status" 2>/dev/null)
    [ -z "$state" ] || [ "$state" = Z ]
}
stop_program() {
    kill "$program"
    run wait "$program"
    expect_status 0
    program=''
    checks=$((checks + 1))
    ! grep -E 'Sanitizer|runtime error' "$scratch/said" || mismatch 'a sanitizer complained'
}

# ---- what is the same in both ways ----

commands_work() {
    ask says
    wait_until has "$asked" '"\(.state) \(.reason) \(.exit_code)"' 'failed exit_code 3'
    wait_until logs_have "$asked" 'says hello world'
    for line in one two three; do
        wait_until logs_have "$asked" $line
    done
    ask says --param who=moon
    wait_until logs_have "$asked" 'says hello moon'

    ask tree
    wait_until test -s "$work/main"
    run peal kill "$asked"
    expect_status 0
    wait_until has "$asked" '"\(.state) \(.reason)"' 'killed user'
    wait_until is_gone main
    wait_until is_gone child

    ask stubborn
    wait_until has "$asked" '"\(.state) \(.reason)"' 'timed_out timeout'
    wait_until is_gone stubborn

    wait_until has_said 'near: of near'
}

# ---- with peal-spawn and peal-call ----

work=$scratch/with
mkdir "$work"
start_program "$tools" more
wait_until has_said "commands are run by $tools/peal-spawn"
run grep refused: "$scratch/said"
expect_stdout_has 'outside.c:'
expect_stdout_has 'http.url'
[ "$(wc -l <"$scratch/out")" -eq 1 ] || mismatch 'expected one to be refused'
commands_work
ask limited
wait_until logs_are "$asked" $'64\ntwo\nthree'

ask get
wait_until has "$asked" '"\(.state) \(.detail)"' 'ok HTTP 200'
wait_until logs_have "$asked" 'status 200'
ask put
wait_until has "$asked" '"\(.state) \(.detail)"' 'ok HTTP 200'
wait_until logs_have "$asked" 'the body'
run peal logs "$asked"
expect_stdout_has 'PUT /echo'
expect_stdout_has 'X-Job: put'
ask wrong
wait_until has "$asked" '"\(.state) \(.reason)"' 'failed http_status'
ask silent
wait_until has "$asked" '"\(.state) \(.reason)"' 'timed_out timeout'

# The spawner and its guard are killed: the end of the command is unknown, and functions never stop.
ask long
wait_until logs_have "$asked" begun
beats=$(peal runs beat -n 1000 -o json | jq length)
for pid in $(processes_with "--dir $scratch/programs/programs/outside.1/spawn "); do
    kill -9 "$pid"
done
more_beats() { # COUNT
    [ "$(peal runs beat -n 1000 -o json | jq length)" -ge $((beats + $1)) ]
}
wait_until more_beats 2
touch "$work/go"
wait_until has "$asked" '"\(.state) \(.reason)"' 'lost spawner_died'
rm "$work/go"
ask long
wait_until logs_have "$asked" begun

# The program is killed: its run is lost until the next process asks the spawner.
kill -9 "$program"
wait_until has "$asked" '"\(.state) \(.reason)"' 'lost node_died'
start_program "$tools" more
touch "$work/go"
wait_until has "$asked" '"\(.state) \(.exit_code)"' 'failed 7'
wait_until logs_are "$asked" $'begun\nwent on'
rm "$work/go"

# ... and also what has ended while there was none.
ask long
wait_until logs_have "$asked" begun
kill -9 "$program"
touch "$work/go"
wait_until is_gone long
start_program "$tools" more
wait_until has "$asked" '"\(.state) \(.exit_code)"' 'failed 7'
wait_until logs_are "$asked" $'begun\nwent on'
rm "$work/go"

# A function has ended with its program: the next process records what it had written by then.
ask talks
talk=$asked # wait_until has an $asked of its own
has_spooled() {
    [ -n "$(find "$scratch/programs" -path "*/calls/out/$talk" -size +0)" ]
}
wait_until has_spooled
kill -9 "$program"
start_program "$tools" more
wait_until logs_have "$asked" second
wait_until logs_are "$asked" $'first\nsecond\npeal: the process of the program ended here, in the middle of this run'
wait_until has "$asked" '"\(.state) \(.reason)"' 'lost node_died'
is_removed() {
    ! has_spooled
}
wait_until is_removed

# A program that is told to end ends its commands, and waits for that.
rm -f "$work/main"
ask tree
wait_until test -s "$work/main"
stop_program
wait_until has "$asked" '"\(.state) \(.reason)"' 'killed shutdown'
is_gone main || mismatch 'expected the command to have ended'

# ---- without them ----

work=$scratch/without
mkdir "$work"
start_program '' more
wait_until has_said 'commands are run by the library itself'
run grep refused: "$scratch/said"
expect_stdout_has 'limits needs peal-spawn'
expect_stdout_has 'an HTTP call needs peal-call, which is not installed here'
expect_stdout_has 'outside.c:'
commands_work
rm -f "$work/main"
ask tree
wait_until test -s "$work/main"
stop_program
wait_until has "$asked" '"\(.state) \(.reason)"' 'killed shutdown'
finish
