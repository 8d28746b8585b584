#!/bin/bash
# The metrics that docs/API.md names, with their types, are those that there are.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

export PEAL_LISTEN=none PEAL_OTLP_ENDPOINT=http://127.0.0.1:1
start_agent one
run peal add one @hourly -- true
run peal run one --wait
expect_status 0
run curl -fsS --unix-socket "$PEAL_DATA/api.sock" -X PUT -H 'Content-Type: application/json' \
    -d '{"type":"slack","url":"https://hooks.slack.com/services/x"}' http://peal/api/v1/channels/ops
expect_status 0

# "| `a`, `b` | gauge, counter | ..." is a gauge, then a counter; a single type is that of all.
# shellcheck disable=SC2016 # the backquotes are Markdown's
sed -n '/^### Metrics/,/^## /s/^| \(`peal_.*`\) | \([a-z, ]*\) |.*/\1|\2/p' "$source_dir/docs/API.md" |
    tr -d '`' | awk -F '|' '{
        names = split($1, name, ", ")
        types = split($2, type, ", ")
        for (i = 1; i <= names; i++)
            print name[i], type[i <= types ? i : types]
    }' | sort >"$scratch/documented"

# shellcheck disable=SC2317 # called by wait_until
told() {
    curl -sS --unix-socket "$PEAL_DATA/api.sock" http://peal/metrics |
        sed -n 's/^# TYPE //p' | sort >"$scratch/told"
    cmp -s "$scratch/documented" "$scratch/told"
}
wait_until told # the leader, say, takes a moment
run diff "$scratch/documented" "$scratch/told"
expect_status 0
finish
