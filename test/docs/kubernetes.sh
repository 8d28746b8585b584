#!/bin/bash
# The chart of packaging/helm and `peal export kubernetes` against the schemas of Kubernetes, of the oldest and the newest release that there are
# schemas of. `make kubernetes` brings what it needs.
# shellcheck disable=SC2016 # the dollars are jq's
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

found=$("$source_dir/tools/kubeconform.sh" --there 2>"$scratch/why") || {
    echo "skipped: $(cat "$scratch/why")"
    exit 77
}
read -r kubeconform schemas <<<"$found"
releases=$(find "$schemas" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V | sed -n '1p;$p')
[ "$(echo "$releases" | wc -l)" -eq 2 ] || mismatch 'expected two releases'

# Each manifest of the file is right in both releases, and there are so many.
expect_right() { # FILE COUNT
    local release
    for release in $releases; do
        run "$kubeconform" -strict -summary -output json \
            -schema-location "$schemas/$release/{{ .ResourceKind }}{{ .KindSuffix }}.json" "$1"
        ran="kubeconform $release ${1##*/}"
        expect_status 0
        expect_json '[.summary.valid, .summary.invalid, .summary.errors, .summary.skipped]' "[$2,0,0,0]"
    done
}

# ---- it can fail ----

printf 'apiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {prots: []}\n' >"$scratch/wrong.yaml"
run "$kubeconform" -strict -schema-location "$schemas/$(echo "$releases" | head -n 1)/{{ .ResourceKind }}{{ .KindSuffix }}.json" "$scratch/wrong.yaml"
expect_status 1
expect_stdout_has prots

# ---- exports ----

start_agent node --listen none
long=$(printf 'very-%.0s' $(seq 20))long
cat >"$scratch/jobs.yaml" <<END
{name: plain, schedule: '*/5 * * * *', command: [/bin/true, "--x=\"y\" 'z'", "\$(HOME) \$x"]}
---
{name: Team_A/Back.up, schedules: ['0 8 * * 1-5', '30 9 * * 6'], timezone: Asia/Shanghai, shell: "set -e\necho 'a: b' # c\n", env: {A: 'x: y', B: "two\nlines", C: 'true', D: '1'}, cwd: /srv}
---
{name: team-a/back-up, schedule: '@daily', command: [echo, 'yes', 'null', '1']}
---
{name: all, schedule: '@hourly', command: ['true'], timeout: 90s, grace: 45s, deadline: 10m, retries: 3, overlap: replace, catch_up: skip, paused: true, notes: "Of: #1\nand more"}
---
{name: allow, schedule: '0 0 1 1 *', command: ['true'], overlap: allow, user: nobody, jitter: 5m, where: zone=eu, labels: {team: ops}, owner: ops}
---
{name: caged, schedule: '0 4 * * *', command: [peal-container, docker, run, --rm, --memory, 512m, --cpus, '1.5', --env, A=b, --workdir, /srv, 'registry.example.com/tools:1', backup, --all], retention: {runs: 7}}
---
{name: $long, schedule: '@weekly', command: ['true']}
---
{name: ${long}er, schedule: '@weekly', command: ['true']}
---
{name: x_/1, schedule: '@monthly', command: ['true']}
---
{name: x.-1, schedule: '@monthly', command: ['true']}
$(for i in $(seq 12); do echo "---"; echo "{name: ${long}-$i, schedules: ['@weekly', '@daily'], command: ['true']}"; done)
END
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
peal export kubernetes --image busybox:1.36 --namespace ops >"$scratch/exported.yaml" 2>"$scratch/left"
expect_right "$scratch/exported.yaml" 35
run cat "$scratch/left"
expect_stdout ''

# Of one name there is one, and a name is what Kubernetes takes: a label of DNS, of 52 letters for a CronJob.
python3 -c 'import json, sys, yaml; print(json.dumps([d for d in yaml.safe_load_all(open(sys.argv[1])) if d]))' \
    "$scratch/exported.yaml" >"$scratch/exported.json"
run jq -r '[.[].metadata.name] | group_by(.) | map(select(length > 1)[0])[]' "$scratch/exported.json"
expect_stdout ''
run jq -r '.[].metadata.name | select(test("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$") and length <= 52 | not)' "$scratch/exported.json"
expect_stdout ''
# What is text stays text.
run jq -c '[.[] | .spec.jobTemplate.spec.template.spec.containers[] | .command // [], .args // [] | .[] | type] | unique' "$scratch/exported.json"
expect_stdout '["string"]'
run jq -c '[.[] | .spec.jobTemplate.spec.template.spec.containers[] | .env // [] | .[].value | type] | unique' "$scratch/exported.json"
expect_stdout '["string"]'

# ---- the chart ----

helm=$("$source_dir/tools/helm.sh" --there 2>"$scratch/why") || {
    echo "skipped: $(cat "$scratch/why")"
    finish
}
while IFS='|' read -r count options; do
    # shellcheck disable=SC2086 # words
    "$helm" template mine "$source_dir/packaging/helm/peal" --namespace jobs --kube-version 1.28.0 --set secrets.admin=admin \
        $options >"$scratch/made.yaml" || mismatch "helm refuses $options"
    expect_right "$scratch/made.yaml" "$count"
done <<'TABLE'
4|
5|--set replicas=3,store=etcd://etcd:2379/peal,secrets.etcd=etcd,secrets.tls=cert
5|--set replicas=3,store=postgresql://peal@db/peal,history=postgresql://peal@db/peal,secrets.postgres=db,podDisruptionBudget.maxUnavailable=50%
4|--set config.retention.runs=7,config.labels.zone=eu,persistence.storageClassName=fast,service.type=LoadBalancer,service.port=443
4|--set imagePullSecrets[0].name=pull,image.tag=1.2,resources.limits.memory=1Gi,nodeSelector.disk=ssd,tolerations[0].key=jobs,tolerations[0].operator=Exists
4|--set env[0].name=PEAL_LOG_FORMAT,env[0].value=json,affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey=zone
TABLE
finish
