#!/bin/bash
# The rules for Prometheus and the dashboard for Grafana name what an agent really has.
. "$(dirname "$0")/lib.sh"

rules=$source_dir/packaging/prometheus/peal.rules.yml
dashboard=$source_dir/packaging/grafana/peal.json

# ---- what they name ----

named() { grep -oE '\bpeal_[a-z_]+\b' | sed -E 's/_(bucket|count|sum)$//' | sort -u; }
{
    grep -A2 'expr:' "$rules" | named
    jq -r '.. | .expr? // empty' "$dashboard" | named
} | sort -u >"$scratch/named"
run test "$(wc -l <"$scratch/named")" -gt 15
expect_status 0

# ---- each alert has a case that raises it, one that does not, and a line in docs/WATCHING.md ----

grep -oE 'alert: \w+' "$rules" | sed 's/.* //' | sort >"$scratch/alerts"
awk '/alertname:/ { name = $0; sub(/.*alertname: */, "", name); sub(/}.*/, "", name) }
    /exp_alerts:/ { print name }' "${rules%.yml}.test.yml" | sort -u >"$scratch/raised"
grep -oE 'eval_time: [0-9]+m, alertname: \w+' "${rules%.yml}.test.yml" | sed 's/.* //' | sort -u >"$scratch/silent"
grep -oE '`Peal[A-Za-z]+`' "$source_dir/docs/WATCHING.md" | tr -d '`' | sort -u >"$scratch/told"
for list in raised silent told; do
    run diff "$scratch/alerts" "$scratch/$list"
    expect_stdout ''
done

# ---- what there is, with a job, a channel and a collector that is away ----

export PEAL_OTLP_ENDPOINT=http://127.0.0.1:1
start_agent node --listen none
run peal add x @manual -- true
run peal run x --wait
expect_status 0
run peal channel set ops --type webhook --hook https://127.0.0.1:1/
expect_status 0
wait_until sh -c "curl -s --unix-socket '$PEAL_DATA/api.sock' http://peal/metrics | grep -q ^peal_leader"
curl -s --unix-socket "$PEAL_DATA/api.sock" http://peal/metrics | sed -n 's/^# TYPE \(peal_[a-z_]*\) .*/\1/p' |
    sort -u >"$scratch/there"
run comm -23 "$scratch/named" "$scratch/there"
expect_stdout ''

# ---- the rules themselves, and the alerts that they raise ----

if promtool=$("$source_dir/tools/promtool.sh" 2>"$scratch/why"); then
    run "$promtool" check rules "$rules"
    expect_status 0
    cd "$(dirname "$rules")" || exit 1
    run "$promtool" test rules peal.rules.test.yml
    expect_status 0
    {
        echo 'groups: [{name: panels, rules: ['
        # shellcheck disable=SC2016 # variables of Grafana
        jq -r '.panels[].targets[].expr' "$dashboard" | sed 's/\$__rate_interval/5m/; s/\$node/.*/' |
            jq -R . | sed 's/.*/{record: "peal:panel", expr: &},/'
        echo ']}]'
    } >"$scratch/panels.yml"
    run "$promtool" check rules --lint=none "$scratch/panels.yml"
    expect_status 0
else
    echo "skipped: $(cat "$scratch/why")"
fi

finish
