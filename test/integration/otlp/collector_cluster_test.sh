#!/bin/bash
# Three nodes on one etcd: each run has one span, which its node sends; steps on several nodes
# are below one instance.
# shellcheck disable=SC2317 # called by wait_until
. "$(dirname "$0")/../nodes.sh"
. "$(dirname "$0")/lib.sh"
trap 'collector_stop; end_agents; etcd_stop; rm -rf "$scratch"' EXIT
collector_start
start_nodes

cat >"$scratch/jobs.yaml" <<'YAML'
name: everywhere
schedule: "@every 1s"
command: ["true"]
overlap: allow
---
name: parts
schedule: "@manual"
spread: all
command: ["true"]
---
name: flow
schedule: "@manual"
steps:
  - {name: one, command: ["true"]}
  - {name: two, after: one, each: [a, b, c, d, e, f], command: ["true"]}
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal run parts --wait
expect_status 0
run peal run flow --wait
expect_status 0
wait_until has_spans 25
peal delete everywhere --yes >/dev/null 2>&1

# All that ended has one span, once.
one_each() {
    peal runs -n 500 --steps -o json 2>/dev/null |
        jq -r '.[] | select(.state == "ok") | .run_id' | sort >"$scratch/ended"
    jq -r '.of["peal.run_id"]' "$collector/spans" | sort >"$scratch/told"
    [ -s "$scratch/ended" ] && cmp -s "$scratch/ended" "$scratch/told"
}
wait_until one_each
run diff "$scratch/ended" "$scratch/told"
expect_stdout ''
spans '(map(.span) | unique | length) == length'
expect_stdout true
spans 'map(select(.name == "parts")) | [length, (map(.trace) | unique | length), (map(.of["peal.node"]) | sort)]'
expect_stdout '[3,1,["a","b","c"]]'
spans 'all(.of["peal.node"] == null or .of["peal.node"] == .resource["service.instance.id"])'
expect_stdout true
spans '(map(select(.name == "flow"))[0].span) as $all | map(select(.name == "flow one"))[0].parent == $all'
expect_stdout true

expect_nothing_wrong
finish
