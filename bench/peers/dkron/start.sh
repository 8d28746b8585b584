#!/bin/sh
# start.sh COUNT each|UNIX_S PROGRAM [ARGUMENT]...: the work, done by one server of dkron, with its data in $PEER_WORK. It is given its jobs
# over HTTP, unless it has them from an earlier start, and is on an address of the loopback of its own, with dkron's own ports.
set -eu

count=$1 when=$2
shift 2
address=127.0.79.$(($$ % 250 + 1))
case $when in
each) schedule='* * * * * *' ;;
*) schedule="@at $(date -u -d "@$when" +%Y-%m-%dT%H:%M:%SZ)" ;;
esac

has_leader() { curl -fsS --max-time 1 "http://$address:8080/v1/leader" 2>/dev/null | grep -q Name; }

# One curl, which keeps its connection.
print_requests() {
    for i in $(seq "$count"); do
        [ "$i" -eq 1 ] || echo next
        cat <<END
url = "http://$address:8080/v1/jobs"
header = "Content-Type: application/json"
data = "{\"name\":\"job-$i\",\"schedule\":\"$schedule\",\"executor\":\"shell\",\"executor_config\":{\"shell\":\"false\",\"command\":\"$command\"}}"
output = /dev/null
fail
silent
show-error
END
    done
}

fill() {
    for _ in $(seq 600); do
        ! has_leader || break
        sleep 0.1
    done
    [ -e "$PEER_WORK/filled" ] || {
        print_requests >"$PEER_WORK/requests"
        curl -K "$PEER_WORK/requests" >&2
        : >"$PEER_WORK/filled"
    }
    echo "ready http://$address:8080/v1/jobs?_start=0&_end=50" >&3
}

command=$*
exec 3>&1
fill &
exec "$(dirname "$0")/dkron-program" agent --server --bootstrap-expect=1 --node-name=one --data-dir="$PEER_WORK/data" \
    --bind-addr="$address:8946" --http-addr="$address:8080" --log-level=error >/dev/null 3>&-
