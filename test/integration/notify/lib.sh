# What the tests of messages share: a receiver of webhooks that can be stopped, and what it got.
# shellcheck shell=bash
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

receiver=$1
mapfile -t ports < <(free_ports)
export hook=http://127.0.0.1:${ports[0]}/hook
got=$scratch/got
receiver_pid=
: >"$got"
trap 'receiver_stop; end_agents; rm -rf "$scratch"' EXIT

receiver_start() {
    "$receiver" "${ports[0]}" "$got" &
    receiver_pid=$!
    wait_until curl -fsS -o /dev/null -X POST "$hook" -d ''
    sed -i '/^- /d' "$got" # which was this
}

receiver_stop() {
    [ -z "$receiver_pid" ] || { kill -9 "$receiver_pid" && wait "$receiver_pid"; } 2>/dev/null
    receiver_pid=
}

# Messages that came, of an event and a job.
got_count() { # EVENT JOB
    grep -c "\"event\":\"$1\".*\"job\":\"$2\"" "$got"
}

got_is() { # EVENT JOB COUNT
    [ "$(got_count "$1" "$2")" -eq "$3" ]
}

waiting_is() { # CHANNEL COUNT
    [ "$(peal channel show "$1" -o json | jq .delivery.waiting)" -eq "$2" ]
}
