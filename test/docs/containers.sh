#!/bin/bash
# What packaging/container and packaging/helm say: files that can be read, and variables that there are. With helm, the chart itself: what it makes
# of several values, and what it refuses.
# shellcheck disable=SC2016,SC2317 # the dollars are jq's; `run` calls the functions
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

cd "$source_dir/packaging" || exit

# ---- variables: every one is a setting, or of the entry point ----

{
    peal config show -o name | tr 'a-z.' 'A-Z_' | sed 's/^/PEAL_/'
    printf 'PEAL_%s\n' CONFIG ADMIN_PASSWORD ADMIN_PASSWORD_FILE PUBLIC_NAME IMAGE ETCD_PASSWORD
} | sort -u >"$scratch/known"
grep -rhoE 'PEAL_[A-Z_]+' container/compose*.yaml container/peal-entry container/Containerfile helm/peal/templates | sort -u >"$scratch/used"
run comm -13 "$scratch/known" "$scratch/used"
expect_stdout ''
run grep -c . "$scratch/used"
checks=$((checks + 1))
[ "$(cat "$scratch/out")" -ge 8 ] || mismatch 'expected variables'

# ---- compose ----

# As JSON; anchors are put in place.
json_of() { # FILE
    python3 -c 'import json, sys, yaml; print(json.dumps([d for d in yaml.safe_load_all(open(sys.argv[1])) if d]))' "$1"
}
for file in container/compose*.yaml; do
    run json_of "$file"
    expect_status 0
    cp "$scratch/out" "$scratch/compose.json"
    # Every volume that is used is there, every service has an image, and nodes have names and folders of their own.
    run jq -c '.[0] | [.services[].volumes[]? | split(":")[0]] - (.volumes | keys)' "$scratch/compose.json"
    expect_stdout '[]'
    run jq -c '[.[0].services[] | select(.image == null or .image == "")] | length' "$scratch/compose.json"
    expect_stdout 0
    run jq -c '[.[0].services[] | select(.environment.PEAL_NODE_ID) | [.environment.PEAL_NODE_ID, .volumes[0]]] | (length == (unique | length)) and
        ((map(.[1]) | unique | length) == length)' "$scratch/compose.json"
    expect_stdout true
    run jq -c '[.[0].services | keys[]] as $there | [.[0].services[].depends_on // {} | keys[]] - $there' "$scratch/compose.json"
    expect_stdout '[]'
done

# ---- the chart ----

helm=$("$source_dir/tools/helm.sh" --there 2>"$scratch/why") || {
    echo "skipped: $(cat "$scratch/why")"
    finish
}
run "$helm" lint --strict helm/peal --set secrets.admin=admin
expect_status 0

made() { # [OPTION...]: the objects, as JSON
    "$helm" template mine helm/peal --namespace jobs --kube-version 1.28.0 "$@" >"$scratch/made.yaml" && json_of "$scratch/made.yaml"
}
run made --set secrets.admin=admin
expect_status 0
expect_json 'map(.kind) | sort' '["ConfigMap","Service","Service","StatefulSet"]'
expect_json '.[] | select(.kind == "StatefulSet") | .spec.template.spec.containers[0].image' '"peal:0.1.0"'

run made --set secrets.admin=admin,replicas=3,store=etcd://etcd:2379/peal,secrets.tls=cert,secrets.postgres=db,config.retention.runs=7
expect_status 0
cp "$scratch/out" "$scratch/made.json"
expect_json 'map(.kind) | sort' '["ConfigMap","PodDisruptionBudget","Service","Service","StatefulSet"]'
expect_json '.[] | select(.kind == "PodDisruptionBudget") | .spec.selector.matchLabels == {"app.kubernetes.io/name":"peal","app.kubernetes.io/instance":"mine"}' true
# The selector picks the pods; mounts have volumes; probes are the routes.
expect_json '.[] | select(.kind == "StatefulSet") | .spec as $set | $set.selector.matchLabels | to_entries | all(. as $one | $set.template.metadata.labels[$one.key] == $one.value)' true
expect_json '.[] | select(.kind == "StatefulSet") | [.spec.template.spec.containers[0].volumeMounts[].name] - ([.spec.template.spec.volumes[].name] + [.spec.volumeClaimTemplates[].metadata.name])' '[]'
expect_json '.[] | select(.kind == "StatefulSet") | .spec.template.spec.containers[0] | [.startupProbe, .livenessProbe, .readinessProbe] | map(.httpGet.path)' '["/livez","/livez","/readyz"]'
expect_json '.[] | select(.kind == "StatefulSet") | .spec.serviceName as $name | $name' '"mine-peal-nodes"'
expect_json '[.[] | select(.kind == "Service") | .metadata.name]' '["mine-peal","mine-peal-nodes"]'
# Its configuration is right.
jq -r '.[] | select(.kind == "ConfigMap") | .data["peal.yaml"]' "$scratch/made.json" >"$scratch/peal.yaml"
run peal config show retention.runs --origin --config "$scratch/peal.yaml" --data "$scratch/data"
expect_stdout_has "$scratch/peal.yaml:"

run made --set secrets.admin=admin,replicas=3
expect_stderr_has 'more than one node needs a store that they share'
run made
expect_stderr_has 'set secrets.admin'
finish
