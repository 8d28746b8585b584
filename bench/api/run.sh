#!/bin/bash
# The API under load: wrk on a page of 50 out of 100,000 jobs, beside nginx with a file of the same
# size in the same minute; how late runs are meanwhile; and what 10,000 subscribers cost. Takes a
# minute and a half.
# usage: bench/api/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
bench=$build/bench/api_bench
seconds=5
as='Authorization: Bearer bench'
failed=0

if ! [ -x "$bench" ]; then
    echo "bench/api: $bench is wanted; build it first" >&2
    exit 1
fi
for tool in wrk nginx; do
    if ! command -v $tool >/dev/null; then
        echo "bench/api: $tool is wanted; tools/deps.sh bench" >&2
        exit 1
    fi
done
work=$(mktemp -d "${TMPDIR:-/tmp}/peal-bench-XXXXXX")
chmod 755 "$work"
server=
web=
listeners=
trap 'kill $server $web $listeners 2>/dev/null || true; wait; rm -rf "$work"' EXIT
ulimit -n "$(ulimit -Hn)"

line() { # WHAT MEASURED BESIDE BUDGET CONDITION
    verdict=
    if [ -n "$5" ]; then
        if awk "BEGIN { exit !($5) }"; then verdict=ok; else verdict=MISSED failed=1; fi
    fi
    printf '%-44s %16s %20s  %s\n' "$1" "$2" "$3" "$4 $verdict"
}

serve() { # JOBS DUE
    mkfifo "$work/port"
    "$bench" serve "$work" "$1" "$2" >"$work/port" &
    server=$!
    read -r port <"$work/port"
    rm "$work/port"
}

stop() {
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=
}

resident_kb() {
    awk '/^VmRSS:/ { print $2 }' "/proc/$server/status"
}

# "requests/s p50_ms p99_ms"
load() { # URL CONNECTIONS
    wrk -H "$as" -t1 -c"$2" -d${seconds}s --latency "$1" | awk '
        function ms(text) { return text ~ /us$/ ? text / 1000 : text ~ /ms$/ ? text + 0 : text * 1000 }
        $1 == "50%" { p50 = ms($2) }
        $1 == "99%" { p99 = ms($2) }
        /^Requests\/sec/ { rate = $2 }
        /Non-2xx/ { bad = 1 }
        END { if (bad) exit 1; printf "%.0f %.2f %.2f\n", rate, p50, p99 }'
}

serve 100000 0
page="http://127.0.0.1:$port/api/v1/jobs?limit=50"
curl -s -H "$as" "$page" >"$work/page.json"
cat >"$work/nginx.conf" <<END
daemon off; worker_processes 1; pid $work/nginx.pid; error_log $work/error.log;
events { worker_connections 1024; }
http { access_log off; root $work; client_body_temp_path $work/b; proxy_temp_path $work/p;
  fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;
  server { listen 127.0.0.1:$((port + 1)); keepalive_requests 100000000; } }
END
nginx -c "$work/nginx.conf" -e "$work/error.log" &
web=$!
until curl -s -o /dev/null "http://127.0.0.1:$((port + 1))/page.json"; do
    kill -0 $web
    sleep 0.1
done

printf '%-44s %16s %20s  %s\n' what peal 'nginx, same size' budget
read -r rate p50 p99 < <(load "$page" 1)
read -r bare bare50 bare99 < <(load "http://127.0.0.1:$((port + 1))/page.json" 1)
line "page of 50 of 100,000 jobs, p50, 1 client" "$p50 ms" "$bare50 ms" '' ''
line '  p99' "$p99 ms" "$bare99 ms" '5 ms + nginx' "$p99 <= 5 + $bare99"
read -r rate p50 p99 < <(load "$page" 16)
read -r bare bare50 bare99 < <(load "http://127.0.0.1:$((port + 1))/page.json" 16)
line '  requests/s, 16 clients' "$rate /s" "$bare /s" '' ''
line '  p99' "$p99 ms" "$bare99 ms" '' ''
read -r rate p50 p99 < <(load "http://127.0.0.1:$port/livez" 16)
line 'the smallest answer, requests/s' "$rate /s" '' '' ''
stop

# Late in spite of all this? The server's own histogram tells, beside a bare timer of another
# process in the same seconds; what it had to catch up with after its start does not count.
lateness() {
    curl -s -H "$as" "http://127.0.0.1:$port/metrics?jobs=false" | grep '^peal_run_lateness_seconds_bucket'
}

p99_late() { # BEFORE AFTER: "ms runs"
    paste "$1" "$2" | awk '
        { split($1, words, "\""); le[NR] = words[2]; count[NR] = $4 - $2 }
        END { for (i = 1; i < NR && count[i] < 0.99 * count[NR]; i++); print le[i] * 1000, count[NR] }'
}

late_under() { # WHAT PATH
    lateness >"$work/before"
    "$bench" timer $seconds >"$work/timer" &
    watcher=$!
    load "http://127.0.0.1:$port$2" 16 >"$work/loaded"
    wait $watcher
    lateness >"$work/after"
    p99_late "$work/before" "$work/after" >"$work/late"
    read -r late _ <"$work/late"
    line "p99 late, $(cut -d ' ' -f 1 "$work/loaded") /s $1" "<= $late ms" \
        "timer $(cat "$work/timer") ms" '10 ms + timer' "$late <= 10 + $(cat "$work/timer")"
}

serve 100000 100
sleep 3
# The first list puts the jobs in order, which an agent does while it loads.
curl -s -H "$as" -o "$work/page.json" "http://127.0.0.1:$port/api/v1/jobs"
late_under pages '/api/v1/jobs?limit=50'
late_under 'sorted pages' '/api/v1/jobs?limit=50&sort=next'
late_under searches '/api/v1/jobs?limit=50&q=nowhere'
stop

# Subscribers that hear nothing but that the connection is alive, and then everything.
subscribe() { # COUNT TOPICS
    rm -f "$work/end" "$work/ready"
    mkfifo "$work/end"
    "$bench" subscribe "$port" "$1" "$2" <"$work/end" >"$work/ready" &
    listeners=$!
    exec 9>"$work/end"
    until grep -qs ready "$work/ready"; do
        kill -0 $listeners
        sleep 0.1
    done
}

unsubscribe() {
    exec 9>&-
    wait $listeners
    listeners=
}

serve 1000 0
before=$(resident_kb)
subscribe 10000 jobs
sleep 30 # until all have got their first sign of life
after=$(resident_kb)
sleep 20
later=$(resident_kb)
line '10,000 idle subscribers, bytes for each' "$(((after - before) * 1024 / 10000))" '' '' ''
line '  20 s later, in all' "$((later - after)) kB more" '' 'flat' "$((later - after)) <= 1024"
unsubscribe
stop

serve 1000 100
subscribe 10000 jobs
late_under 'pages, 10,000 idle subscribers' '/api/v1/jobs?limit=50'
unsubscribe
subscribe 1000 runs
late_under 'pages, 1,000 subscribers told' '/api/v1/jobs?limit=50'
unsubscribe
stop
exit $failed
