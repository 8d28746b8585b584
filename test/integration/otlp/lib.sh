# Sourced by the tests of OpenTelemetry, after lib.sh: a collector, and what it was sent.
# shellcheck shell=bash
# shellcheck disable=SC2154 # lib.sh has its variables

command -v python3 >/dev/null || {
    echo 'skipped: python3 is not here'
    exit 77
}
collector=$scratch/collector
collector_pid=
mkdir "$collector"
trap 'collector_stop; end_agents; etcd_stop; rm -rf "$scratch"' EXIT

collector_start() { # [PORT]
    rm -f "$collector/port"
    python3 "$source_dir/test/integration/otlp/collector.py" "$collector" "$@" 2>"$scratch/collector.log" &
    collector_pid=$!
    wait_until test -s "$collector/port"
    collector_port=$(cat "$collector/port")
    export PEAL_OTLP_ENDPOINT=http://127.0.0.1:$collector_port
}

collector_stop() {
    [ -z "$collector_pid" ] || { kill "$collector_pid" && wait "$collector_pid"; } 2>/dev/null
    collector_pid=
}

# Whether this filter of all spans gives this.
spans_are() { # FILTER JSON
    [ "$(jq -cs "$1" "$collector/spans")" = "$2" ]
}

has_spans() { # NUMBER
    [ -e "$collector/spans" ] && [ "$(wc -l <"$collector/spans")" -ge "$1" ]
}

# What a filter makes of all spans.
spans() { # FILTER
    run jq -cs "$1" "$collector/spans"
    expect_status 0
}

expect_nothing_wrong() {
    checks=$((checks + 1))
    ran='the collector'
    [ ! -e "$collector/wrong" ] || {
        cp "$collector/wrong" "$scratch/out"
        mismatch 'it has refused what is not as the protocol has it'
    }
}
