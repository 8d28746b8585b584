#!/bin/bash
# A real collector of OpenTelemetry, with the project's own receiver: what it has received of runs and metrics. `make collector` builds it.
# shellcheck disable=SC2016 # filters of jq
# shellcheck disable=SC2317 # called by wait_until
. "$(dirname "$0")/../lib.sh"

program=$("$source_dir/tools/otelcol.sh" --there 2>"$scratch/why") || {
    echo "skipped: $(cat "$scratch/why")"
    exit 77
}
trace=0af7651916cd43dd8448eb211c80319c
caller=b7ad6b7169203331
folder=$scratch/collector
mkdir "$folder"
cat >"$folder/config.yaml" <<YAML
receivers:
  otlp: {protocols: {http: {endpoint: "127.0.0.1:0"}}}
exporters:
  file/spans: {path: $folder/spans, flush_interval: 50ms}
  file/metrics: {path: $folder/metrics, flush_interval: 50ms}
service:
  telemetry: {metrics: {level: none}, logs: {encoding: json}}
  pipelines:
    traces: {receivers: [otlp], exporters: [file/spans]}
    metrics: {receivers: [otlp], exporters: [file/metrics]}
YAML
"$program" --config "$folder/config.yaml" >"$folder/log" 2>&1 &
collector=$!
trap 'kill $collector 2>/dev/null; end_agents; rm -rf "$scratch"' EXIT
is_ready() { kill -0 "$collector" && grep -q 'Everything is ready' "$folder/log"; }
wait_until is_ready
port=$(jq -r 'select(.msg == "Starting HTTP server") | .endpoint' "$folder/log" | sed 's/.*://')
export PEAL_OTLP_ENDPOINT=http://127.0.0.1:$port PEAL_OTLP_METRICS=1s
start_agent node --listen none --log-format json --log "$scratch/log"

# A line of the file is a request; spans with the attributes as members, and what they are below.
flat='def plain: [.[]? | {key, value: (.value | .stringValue // (.intValue | if . then tonumber else empty end) // .doubleValue // .boolValue)}] | from_entries;'
spans() { # FILTER of all spans
    run jq -cs "$flat [.[].resourceSpans[] | (.resource.attributes | plain) as \$resource | .scopeSpans[] | .scope.name as \$scope |
        .spans[] | .attributes |= plain | . + {resource: \$resource, scope: \$scope}] | $1" "$folder/spans"
    expect_status 0
}
metrics() { # FILTER of the last value of each point
    run jq -cs "$flat [.[].resourceMetrics[] | .scopeMetrics[].metrics[] | . as \$metric |
        (.sum // .gauge // .histogram).dataPoints[] | {name: \$metric.name, unit: (\$metric.unit // \"\"), description: \$metric.description,
        kind: (if \$metric.sum then \"sum\" elif \$metric.gauge then \"gauge\" else \"histogram\" end), temporality: (\$metric.sum // \$metric.histogram
        | .aggregationTemporality?), monotonic: \$metric.sum.isMonotonic, of: (.attributes | plain), point: .}]
        | group_by([.name, .of]) | map(last) | $1" "$folder/metrics"
    expect_status 0
}
count_spans() { { jq -s '[.[].resourceSpans[].scopeSpans[].spans[]] | length' "$folder/spans" || echo 0; } 2>/dev/null; }
has_spans() { [ "$(count_spans)" -ge "$1" ]; }
api() { # METHOD PATH [CURL-OPTION...]
    local method=$1 path=$2
    shift 2
    curl -sS --unix-socket "$PEAL_DATA/api.sock" -X "$method" "http://peal/api/v1$path" "$@"
}

# ---- spans ----

cat >"$scratch/jobs.yaml" <<YAML
name: good
schedule: "@manual"
command: [sleep, "0.2"]
---
name: bad
schedule: "@manual"
shell: 'exit 3'
retries: {count: 1, wait: 0s}
---
name: flow
schedule: "@manual"
steps:
  - {name: one, command: ["true"]}
  - {name: two, after: one, each: [a, b], command: ["true"]}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
before=$(date +%s%N)
api POST /jobs/good/run -H "traceparent: 00-$trace-$caller-01" >"$scratch/run.json"
wait_until newest_is good ok
run peal run good --wait
expect_status 0
run peal run bad --wait
run peal run flow --wait
expect_status 0
wait_until has_spans 9
after=$(date +%s%N)
# Of each run one, and of the instance one: two runs, two attempts, an instance, three steps and the fan-out's own.
run count_spans
expect_stdout 9
spans 'map(.name) | sort'
expect_stdout '["bad","bad","flow","flow one","flow two","flow two","flow two","good","good"]'
spans '[(map(.spanId) | unique | length), (map(.scope) | unique), (map(.resource["service.name"]) | unique), (map(.resource["service.instance.id"] | length > 0) | all)]'
expect_stdout '[9,["peal"],["peal"],true]'
spans 'map(.startTimeUnixNano as $s | .endTimeUnixNano as $e | ($s | tonumber) >= '"$before"' - 2e9 and ($s | tonumber) <= ($e | tonumber) and ($e | tonumber) <= '"$after"') | all'
expect_stdout true
# The one of the request is below its span, and lasts as long as its run; the others begin traces of their own.
spans 'map(select(.traceId == "'$trace'")) | map([.name, .parentSpanId, .kind, .attributes["peal.run_id"], .attributes["peal.state"], .attributes["peal.cause"],
    .attributes["peal.attempt"], .attributes["process.exit.code"], (.status.code // 0)])'
expect_stdout "[[\"good\",\"$caller\",1,$(jq -c .run_id "$scratch/run.json"),\"ok\",\"manual\",1,0,0]]"
spans 'map(select(.traceId == "'$trace'")) | .[0] | ((.endTimeUnixNano | tonumber) - (.startTimeUnixNano | tonumber)) / 1e6 | . >= 200 and . < 60000'
expect_stdout true
spans 'map(select(.name == "good" and .traceId != "'$trace'")) | map(.parentSpanId // "")'
expect_stdout '[""]'
# What has failed, and its second try, which is linked to the first.
spans 'map(select(.name == "bad")) | sort_by(.attributes["peal.attempt"]) | [map(.status.code), map(.attributes["error.type"]), (map(.traceId) | unique | length),
    (.[0].links // [] | length), (.[1].links[0].spanId == .[0].spanId), (.[0].status.message | length > 0)]'
expect_stdout '[[2,2],["exit_code","exit_code"],1,0,true,true]'
# A workflow is a tree.
spans '(map(select(.name == "flow"))[0].spanId) as $all | (map(select(.name == "flow two" and (.attributes["peal.step"] == "two")))[0].spanId) as $two |
    [map(select(.name == "flow one"))[0].parentSpanId == $all, (map(select(.parentSpanId == $all)) | length), (map(select(.parentSpanId == $two)) | length)]'
expect_stdout '[true,2,2]'

# ---- metrics ----

curl -sS --unix-socket "$PEAL_DATA/api.sock" 'http://peal/metrics?jobs=true' >"$scratch/scraped"
# Only what has a sample is sent.
awk '/^# TYPE/ { type[$3] = $4 } /^[a-z]/ { name = $1; sub(/{.*/, "", name); base = name; sub(/_(bucket|sum|count)$/, "", base)
        if (base in type) print base, type[base]; else if (name in type) print name, type[name] }' "$scratch/scraped" | sort -u |
    sed 's/ counter$/ sum/' >"$scratch/wanted"
has_all() {
    metrics 'map("\(.name) \(.kind)") | unique[]' && jq -r . "$scratch/out" | sort -u >"$scratch/sent" && ! comm -23 "$scratch/wanted" "$scratch/sent" | grep -q .
}
wait_until has_all
run diff "$scratch/wanted" "$scratch/sent"
expect_stdout ''
run test "$(wc -l <"$scratch/sent")" -ge 40
expect_status 0
metrics '[(map(select(.kind != "gauge") | .temporality) | unique), (map(select(.kind == "sum") | .monotonic) | unique)]'
expect_stdout '[[2],[true]]'
metrics '[.[] | select(.name | endswith("_seconds")) | .unit] | unique'
expect_stdout '["s"]'
metrics '[.[] | select(.name | endswith("_bytes")) | .unit] | unique'
expect_stdout '["By"]'
metrics '[.[] | select((.description // "") == "") | .name] | unique'
expect_stdout '[]'
# The values are those that are scraped.
counted() { metrics '[.[] | select(.name == "peal_runs_total" and .of.state == "ok") | .point.asInt | tonumber] | add' && grep -qx "$1" "$scratch/out"; }
wait_until counted "$(sed -n 's/^peal_runs_total{[^}]*state="ok"[^}]*} //p' "$scratch/scraped" | awk '{ sum += $1 } END { print sum }')"
metrics '[.[] | select(.name == "peal_run_duration_seconds") | .point | [(.count | tonumber) == ([.bucketCounts[] | tonumber] | add), (.bucketCounts | length) == (.explicitBounds | length) + 1,
    (.explicitBounds == (.explicitBounds | sort)), .sum >= 0.2]] | unique'
expect_stdout '[[true,true,true,true]]'

# ---- nothing was refused, on either side ----

run api GET /agent
expect_json '.otlp | [.ok, .dropped]' '[true,0]'
run jq -r 'select(.level == "error" or .level == "warn") | .msg' "$folder/log"
expect_stdout ''
run peal stop
expect_status 0
finish
