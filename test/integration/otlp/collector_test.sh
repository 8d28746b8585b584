#!/bin/bash
# Spans and metrics for OpenTelemetry, as a strict collector takes them: one span for a run, of commands, HTTP calls,
# workflows and retries; the trace context in and out; a collector that is away, refuses, hangs.
# shellcheck disable=SC2016 # jobs expand their variables
# shellcheck disable=SC2317 # called by wait_until
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../webhook_lib.sh"

trace=0af7651916cd43dd8448eb211c80319c
caller=b7ad6b7169203331

api() { # METHOD PATH [CURL-OPTION...]
    local method=$1 path=$2
    shift 2
    curl -sS --unix-socket "$PEAL_DATA/api.sock" -X "$method" "http://peal/api/v1$path" "$@"
}

# HTTP calls are not made as root.
if [ "$(id -u)" = 0 ]; then
    export PEAL_DEFAULT_USER=nobody
    chmod a+rwx "$scratch"
fi
collector_start
export PEAL_OTLP_HEADERS='x-scope=a%20b,authorization=Bearer%20secret-1' PEAL_OTLP_METRICS=1s
export PEAL_HTTP_ALLOW=127.0.0.1
start_agent node --listen none --log-format json --log "$scratch/log"

# ---- one run ----

peal add good @manual --overlap allow -- sh -c 'echo "$TRACEPARENT/$TRACESTATE"; printf x; exit 0' 2>/dev/null
run peal run good --wait
expect_status 0
id=$(jq -r .run_id <(peal runs good -o json | jq '.[0]'))
wait_until has_spans 1
spans '.[0] | [.name, .status, .parent, .links, .of["peal.run_id"], .of["peal.state"], .of["peal.cause"],
    .of["peal.attempt"], .of["process.exit.code"], .of["peal.lateness_ms"], .resource["service.name"]]'
expect_stdout "[\"good\",0,null,[],\"$id\",\"ok\",\"manual\",1,0,null,\"peal\"]"
# The command was given the span of its own run.
run peal logs "$id"
expect_stdout "$(jq -rs '.[0] | "00-\(.trace)-\(.span)-01/"' "$collector/spans")
x"
run cat "$collector/headers"
expect_stdout_has 'x-scope: a b'
expect_stdout_has 'authorization: Bearer secret-1'
run peal config show otlp.headers
expect_stdout_has '***'
expect_stdout_lacks secret-1

# A tick of a schedule has a lateness.
peal add ticks '@every 1s' --jitter 0s -- true 2>/dev/null
is_late() { jq -es 'any(.name == "ticks" and .of["peal.lateness_ms"] >= 0 and .of["faas.trigger"] == "timer")' "$collector/spans"; }
wait_until is_late
peal delete ticks --yes >/dev/null 2>&1
all_told() { # of ticks, whose last spans may still be on their way
    [ "$(peal runs ticks -n 500 -o json | jq 'map(select(.state == "ok")) | length')" = "$(grep -c '"name": "ticks"' "$collector/spans")" ]
}
wait_until all_told

# ---- of a request: its trace, below its span ----

: >"$collector/spans"
id=$(api POST /jobs/good/run -H "traceparent: 00-$trace-$caller-01" -H 'tracestate: vendor=1,other=x y' | jq -r .run_id)
wait_until has_spans 1
spans '.[0] | [.trace, .parent]'
expect_stdout "[\"$trace\",\"$caller\"]"
run peal logs "$id"
expect_stdout_has "00-$trace-$(jq -r .span "$collector/spans")-01/vendor=1,other=x y"

# What is malformed, or comes twice, is ignored; a state without a parent, too.
: >"$collector/spans"
api POST /jobs/good/run -H "traceparent: 00-$trace-$caller-01" -H "traceparent: 00-$trace-$caller-01" >/dev/null
api POST /jobs/good/run -H "traceparent: 00-$trace-$caller" -H 'tracestate: vendor=1' >/dev/null
api POST /jobs/good/run -H "traceparent: 00-$trace-$caller-01" -H 'tracestate: UPPER=1' >/dev/null
wait_until has_spans 3
spans 'map(.parent) | sort'
expect_stdout "[null,null,\"$caller\"]"
run sh -c "peal logs '$(jq -rs 'map(select(.parent))[0].of["peal.run_id"]' "$collector/spans")'"
expect_stdout_has '-01/'
expect_stdout_lacks UPPER

# One that is not sampled is not recorded; its context goes on.
id=$(api POST /jobs/good/run -H "traceparent: 00-$trace-$caller-00" | jq -r .run_id)
wait_until newest_is good ok
run peal logs "$id"
expect_stdout_has "00-$trace-"
expect_stdout_has '-00/'

# ---- retries: one trace, each attempt linked to the one before ----

: >"$collector/spans"
cat >"$scratch/jobs.yaml" <<'YAML'
name: bad
schedule: "@manual"
shell: 'echo "$TRACEPARENT $TRACESTATE" >>attempts; exit 3'
retries: {count: 1, wait: 0s}
cwd: SCRATCH
YAML
sed -i "s|SCRATCH|$scratch|" "$scratch/jobs.yaml"
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
api POST /jobs/bad/run -H "traceparent: 00-$trace-$caller-01" -H 'tracestate: vendor=1' >/dev/null
wait_until has_spans 2
spans 'sort_by(.of["peal.attempt"]) | [.[0].links, (.[1].links == [.[0].span]), map(.trace) == ["'$trace'", "'$trace'"],
    map(.parent), map(.status), .[0].of["error.type"], .[0].of["process.exit.code"], .[0].message]'
expect_stdout "[[],true,true,[\"$caller\",\"$caller\"],[2,2],\"exit_code\",3,\"$(
    jq -rs '.[0].message' "$collector/spans")\"]"
run sh -c "cut -d' ' -f2 '$scratch/attempts'"
expect_stdout 'vendor=1
vendor=1'

# ---- a workflow: the instance, its steps, the items of a fan-out ----

: >"$collector/spans"
cat >"$scratch/flow.yaml" <<'YAML'
name: flow
schedule: "@manual"
steps:
  - {name: first, shell: 'echo "state=$TRACESTATE"'}
  - {name: each, after: first, each: [a, b], command: ["true"]}
  - {name: never, after: [{step: each, on: failure}], command: ["true"]}
YAML
run peal apply -f "$scratch/flow.yaml"
expect_status 0
api POST /jobs/flow/run -H "traceparent: 00-$trace-$caller-01" -H 'tracestate: vendor=2' >/dev/null
wait_until has_spans 5
spans 'map(.name) | sort'
expect_stdout '["flow","flow each","flow each","flow each","flow first"]'
spans '(map(select(.name == "flow"))[0]) as $all | (map(select(.of["peal.step"] == "each"))[0]) as $each |
    [$all.parent, all(.trace == "'$trace'"), (map(select(.name == "flow first"))[0].parent == $all.span),
    ($each.parent == $all.span), (map(select(.of["peal.step"] // "" | startswith("each["))) | length == 2 and all(.parent == $each.span)),
    (map(.span) | unique | length)]'
expect_stdout "[\"$caller\",true,true,true,true,5]"
step=$(jq -rs 'map(select(.name == "flow first"))[0].of["peal.run_id"]' "$collector/spans")
run peal logs "$step"
expect_stdout 'state=vendor=2'

# ---- an HTTP call ----

: >"$collector/spans"
cat >"$scratch/called.py" <<'PY'
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = "".join(f"{key.lower()}={value}\n" for key, value in self.headers.items()).encode()
        self.send_response(int(self.path[1:]))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
open(sys.argv[1], "w").write(f"{server.server_port}\n")
server.serve_forever()
PY
python3 "$scratch/called.py" "$scratch/called" &
called=$!
trap 'kill $called 2>/dev/null; collector_stop; end_agents; rm -rf "$scratch"' EXIT
wait_until test -s "$scratch/called"
peal add call @manual --http "http://127.0.0.1:$(cat "$scratch/called")/200" 2>/dev/null
peal add own @manual --http "http://127.0.0.1:$(cat "$scratch/called")/500" --header 'TraceParent=mine' 2>/dev/null
id=$(api POST /jobs/call/run -H "traceparent: 00-$trace-$caller-01" -H 'tracestate: vendor=3' | jq -r .run_id)
wait_until has_spans 1
run peal logs "$id"
expect_stdout_has "traceparent=00-$trace-$(jq -r .span "$collector/spans")-01"
expect_stdout_has 'tracestate=vendor=3'
: >"$collector/spans"
run peal run own --wait
wait_until has_spans 1
spans '.[0] | [.status, .of["http.response.status_code"], .of["error.type"]]'
expect_stdout '[2,500,"http_status"]'
run peal logs own
expect_stdout_has 'traceparent=mine'
expect_stdout_lacks 'traceparent=00-'

# ---- webhooks ----

: >"$collector/spans"
make_webhook good --kind github
printf '{}' >"$scratch/body"
path=/hooks/${url##*/}
run curl -sS --unix-socket "$PEAL_DATA/api.sock" -X POST --data-binary "@$scratch/body" -H 'Content-Type: application/json' \
    -H "X-Hub-Signature-256: $(sign_github "$secret" "$scratch/body")" -H 'X-GitHub-Delivery: d-1' -H 'X-GitHub-Event: push' \
    -H "traceparent: 00-$trace-$caller-01" -H 'tracestate: vendor=4' "http://peal$path"
expect_stdout_has run_id
wait_until has_spans 1
spans '.[0] | [.trace, .parent, .of["peal.cause"]]'
expect_stdout "[\"$trace\",\"$caller\",\"webhook\"]"
run peal logs "$(jq -r '.of["peal.run_id"]' "$collector/spans")"
expect_stdout_has '/vendor=4'

# ---- metrics: those of /metrics, under the same names ----

# shellcheck disable=SC2016 # the filter's
same_metrics() {
    curl -sS --unix-socket "$PEAL_DATA/api.sock" http://peal/metrics | sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' |
        sort >"$scratch/scraped"
    jq -r .name "$collector/metrics" | sort -u >"$scratch/sent"
    # A metric without a sample is a name alone.
    comm -13 "$scratch/scraped" "$scratch/sent" | grep -q . && return 1
    grep -q peal_run_duration_seconds "$scratch/sent" && grep -q peal_job_last_run_ok "$scratch/sent" &&
        [ "$(wc -l <"$scratch/sent")" -ge 40 ]
}
wait_until same_metrics
run jq -cs 'map(select(.name == "peal_runs_total" and .of.state == "ok" and .of.reason == "")) | last | [.kind, .value > 3]' "$collector/metrics"
expect_stdout '["sum",true]'

# ---- a collector that is away: tried again, nothing is lost, and no run waits ----

: >"$collector/spans"
: >"$collector/requests"
echo '503 1' >"$collector/answer"
run peal run good --wait
expect_status 0
tried() { grep -c 'traces 503' "$collector/requests" | grep -qE '^[2-9]'; }
wait_until tried
run peal doctor
expect_stdout_has 'OpenTelemetry'
expect_stdout_has 'HTTP status 503'
run api GET /agent
expect_json '.otlp | [.ok, .waiting, .dropped]' '[false,1,0]'
rm "$collector/answer"
wait_until has_spans 1
: >"$collector/spans"

# What is refused is dropped, and said.
echo 400 >"$collector/answer"
run peal run good --wait
expect_status 0
dropped() { api GET /agent | jq -e ".otlp.dropped == $1"; }
wait_until dropped 1
echo 'partial 1' >"$collector/answer"
run peal run good --wait
wait_until dropped 2
rm "$collector/answer"
run curl -sS --unix-socket "$PEAL_DATA/api.sock" http://peal/metrics
expect_stdout_has 'peal_otlp_spans_dropped_total 2'
run jq -c 'select(.event == "spans_dropped") | .count' "$scratch/log"
expect_stdout_has 1
run peal doctor
expect_stdout_has 'spans were dropped'
run peal --lang zh doctor
expect_stdout_has '已丢弃 2 个 span'

# ---- a stop: what waits is sent; a collector that hangs holds it up for two seconds alone ----

: >"$collector/spans"
run peal run good --wait
expect_status 0
run peal stop
expect_status 0
has_spans 1 || mismatch 'the last span was not sent'
start_agent node --listen none
echo hang >"$collector/answer"
run peal run good --wait
expect_status 0
before=$SECONDS
run peal stop
expect_status 0
checks=$((checks + 1))
[ $((SECONDS - before)) -lt 8 ] || mismatch 'the stop waited for the collector'
rm "$collector/answer"

# ---- off: the context of the request goes through unchanged, and runs of schedules have none ----

unset PEAL_OTLP_ENDPOINT PEAL_OTLP_METRICS
start_agent node --listen none
id=$(api POST /jobs/good/run -H "traceparent: 00-$trace-$caller-01" -H 'tracestate: vendor=5' | jq -r .run_id)
wait_until newest_is good ok
run peal logs "$id"
expect_stdout_has "00-$trace-$caller-01/vendor=5"
run peal run good --wait
run peal logs good
expect_stdout '/
x'
run api GET /agent
expect_json .otlp null
run peal stop

# The standard's variables hold where peal's do not; traces may be off.
export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$collector_port
run peal config show otlp --origin
expect_stdout_has OTEL_EXPORTER_OTLP_ENDPOINT
PEAL_OTLP_ENDPOINT=http://127.0.0.1:1 run peal config show otlp.endpoint --origin
expect_stdout_has PEAL_OTLP_ENDPOINT
printf 'otlp: {endpoint: "127.0.0.1:4318"}\n' >"$scratch/peal.yaml"
run peal config validate "$scratch/peal.yaml"
expect_status 6
expect_stderr_has 'expected the URL of a collector'
printf 'otlp: {headers: "a b"}\n' >"$scratch/peal.yaml"
run peal config validate "$scratch/peal.yaml"
expect_status 6
expect_stderr_has 'name=value'

expect_nothing_wrong
finish
