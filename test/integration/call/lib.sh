# Sourced by the tests of HTTP calls, with the program of the server as first argument.
# shellcheck shell=bash
# shellcheck source=test/integration/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

servers=
trap 'kill $servers 2>/dev/null; end_agents; etcd_stop; rm -rf "$scratch"' EXIT

# Calls are not made as root: tests of root's have them made by nobody, who must reach the files.
if [ "$(id -u)" = 0 ]; then
    export PEAL_DEFAULT_USER=nobody
    chmod 755 "$scratch"
fi
printf 'http_allow: 127.0.0.1\n' >"$scratch/peal.yaml"

# Starts the server; $at is where it listens, $scratch/requests what it was asked for.
start_server() {
    : >"$scratch/requests"
    # shellcheck disable=SC2154 # the test has set it
    "$server" "$scratch/requests" >"$scratch/port" 2>/dev/null &
    servers="$servers $!"
    wait_until test -s "$scratch/port"
    port=$(cat "$scratch/port")
    at=http://127.0.0.1:$port
}

# How many requests there were with this path.
expect_requests() { # PATH NUMBER
    run grep -cxE "[A-Z]+ $1" "$scratch/requests"
    expect_stdout "$2"
}

# Calls PATH of the server, or a URL, as a job of its own; the state, the reason and the detail of
# its run are in $scratch/run.
call() { # PATH-OR-URL [OPTION...]
    local url=$1 name=c$((calls += 1))
    shift
    case $url in /*) url=$at$url ;; esac
    run peal add "$name" @manual --http "$url" "$@"
    expect_status 0
    peal run "$name" --wait >"$scratch/id" 2>/dev/null
    peal runs "$name" -o json >"$scratch/run" 2>/dev/null
}
calls=0

# ok, or failed/http_status, and the beginning of the detail.
expect_end() { # STATE[/REASON] [DETAIL]
    run jq -r '.[0] | .state + (if .reason then "/" + .reason else "" end)' "$scratch/run"
    expect_stdout "$1"
    if [ $# -gt 1 ]; then
        run jq -r '.[0].detail' "$scratch/run"
        expect_stdout_has "$2"
    fi
}

# Jobs from the standard input.
apply() {
    cat >"$scratch/jobs.yaml"
    run peal apply -f "$scratch/jobs.yaml"
}
