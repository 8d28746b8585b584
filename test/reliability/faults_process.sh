# Sourced by run.sh: what happens to processes. hurt_X does it to $node, mend_X undoes it. A
# hurt_X that finds that it can't be done here says why in $cannot and fails, and nothing is hurt.
# shellcheck shell=bash disable=SC2034,SC2154 # $node, $cannot are the driver's

# ---- killed ----

hurt_kill_agent() { kill_agent "$node"; }
mend_kill_agent() { bring_back "$node"; }

hurt_kill_spawner() {
    local spawner
    spawner=$(spawner_of "$node") || return 0
    kill_hard "$spawner"
}
mend_kill_spawner() { :; } # its guard, or its agent, starts another one

hurt_kill_both() { # the spawner first, so that nobody is told of its end
    hurt_kill_spawner
    kill_agent "$node"
}
mend_kill_both() { bring_back "$node"; }

hurt_kill_machine() { kill_machine "$node"; }
mend_kill_machine() { bring_back "$node"; }

# ---- asleep for longer than it counts as alive, in each state of the protocol ----

# The key of a run that waits for nothing is written three times: when it is claimed, begun, and has
# ended. The node in whose name that happens is put to sleep right then, or a little later.
freeze_when_written() { # TIMES JOB [SECONDS]
    local line times
    exec {events}< <(tell_runs)
    local watcher=$!
    node=
    while [ -z "$node" ] && read -r -t 5 -u "$events" times line; do
        [[ $times != "$1" || $line != *"$2"* || ! $line =~ node-[abc] ]] || node=${BASH_REMATCH[0]}
    done
    if [ -n "$node" ]; then
        [ -z "${3:-}" ] || nap "$3"
        freeze "$node"
    fi
    kill "$watcher"
    exec {events}<&-
    cannot='no run came to that state within 5 s'
    [ -n "$node" ]
}

hurt_freeze_claimed() { freeze_when_written 1 probe-; }
mend_freeze_claimed() { thaw "$node"; }
hurt_freeze_begun() { freeze_when_written 2 probe-; }
mend_freeze_begun() { thaw "$node"; }
hurt_freeze_running() { freeze_when_written 2 beside 1; }
mend_freeze_running() { thaw "$node"; }
hurt_freeze_finished() { freeze_when_written 3 probe-; } # the history may not have it yet
mend_freeze_finished() { thaw "$node"; }

hurt_freeze_claiming() { # the request is about to be made, or under way
    until_ms_of_second $((880 + RANDOM % 60))
    freeze "$node"
}
mend_freeze_claiming() { thaw "$node"; }

hurt_freeze_leader() {
    local leads
    leads=$(leader)
    node=${leads:-$node}
    freeze "$node"
}
mend_freeze_leader() { thaw "$node"; }

hurt_freeze_spawner() {
    local spawner
    spawner=$(spawner_of "$node") || return 0
    kill -STOP "$spawner"
}
mend_freeze_spawner() { kill -CONT "$(spawner_of "$node")"; }

# ---- replaced under its name, from another data folder, while it is asleep or cut off ----

twins=0

start_twin() { # FOLDER, beside the bridge, with a clock that is right
    inside hub env PEAL_DATA="$scratch/$1" "${node_bin[$node]}/peal" start -d \
        --store "$store_url" --node-id "$node" --capacity 1 --listen none
}

is_shut_out() { on "$1" state -o json | jq -e '.state == "shut_out"'; } # NODE
runs_nothing() { on "$1" state -o json | jq -e '.running == 0'; }       # FOLDER

# It takes nothing new, its runs end, and what it has on record is kept for the checker.
retire_twin() { # FOLDER
    curl -s -X POST --unix-socket "$scratch/$1/api.sock" http://localhost/api/v1/agent/drain >/dev/null
    wait_for 30 runs_nothing "$1"
    nap 1
    on "$1" runs --ledger -n 100000 -o json >"$scratch/runs.$1.json"
    PEAL_DATA=$scratch/$1 check_logs
    on "$1" stop 2>/dev/null
    PEAL_DATA=$scratch/$1 end_agent
}

name_twice_ways=(agent_sleeps machine_sleeps cut)
hurt_name_twice() {
    name_twice=${name_twice_ways[RANDOM % 3]}
    [ "$name_twice" != cut ] || [ -n "$can_cut" ] || name_twice=agent_sleeps
    case $name_twice in
    agent_sleeps) freeze "$node" ;;
    machine_sleeps)
        freeze "$node"
        kill -STOP "$(spawner_of "$node")"
        ;;
    cut) hurt_cut_off ;;
    esac
}
return_from_name_twice() {
    case $name_twice in
    agent_sleeps) kill -CONT "$(agent_of "$node")" ;;
    machine_sleeps) kill -CONT "$(spawner_of "$node")" "$(agent_of "$node")" ;;
    cut) remove_rules "$node" ;;
    esac
}
mend_name_twice() {
    local twin=$node.twin-$((++twins))
    wait_for 60 start_twin "$twin"
    return_from_name_twice
    wait_for 30 is_shut_out "$node"
    nap $((RANDOM % 4 + 2))
    if [ $((RANDOM % 2)) -eq 0 ]; then # the first one goes, and comes back when the name is free
        on "$node" stop 2>/dev/null
        nap 2
        retire_twin "$twin"
        wait_for 30 start_again "$node"
    else # the first one is let in again by itself
        retire_twin "$twin"
    fi
    is_back "$node"
}

# ---- replaced by another version, with jobs running ----

hurt_upgrade() {
    local bin
    goes_away "$node"
    on "$node" stop 2>/dev/null
    give_version "$node" "$(version_after "$node")"
    bin=$(mktemp -d "$scratch/bin.XXXXXX")
    cp "${node_bin[$node]}/peal" "${node_bin[$node]}/peal-spawn" "$bin"
    node_bin["$node"]=$bin
}
mend_upgrade() {
    local spawner
    bring_back "$node"
    ! spawner=$(spawner_of "$node") || kill -HUP "$spawner" # executes the new program in place
}
