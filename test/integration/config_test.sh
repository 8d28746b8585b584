#!/bin/bash
# The configuration: file, conf.d, variables and options, where each value comes from, and what SIGHUP takes.
. "$(dirname "$0")/lib.sh"

mkdir -p "$scratch/etc/conf.d"
file=$scratch/etc/peal.yaml
export PEAL_DATA=$scratch/data
cat >"$file" <<'END'
retention: {runs: 5, age: 30d}
labels: {zone: eu}
listen: none
END
cat >"$scratch/etc/conf.d/20-labels.yaml" <<'END'
labels: {zone: us, disk: ssd}
END
cat >"$scratch/etc/conf.d/10-runs.yaml" <<'END'

retention: {runs: 7}
END
echo 'not: read' >"$scratch/etc/conf.d/other.txt"
echo 'https://peal.example.com' >"$scratch/url"

# ---- what goes before what ----

expect_setting() { # NAME VALUE ORIGIN
    checks=$((checks + 1))
    jq -e --arg name "$1" --arg value "$2" --arg origin "$3" \
        'any(.[]; .name == $name and .value == $value and .origin == $origin)' "$scratch/out" >/dev/null ||
        mismatch "expected $1 to be $2, by $3"
}
export PEAL_RETENTION_RUNS=9 PEAL_MAX_RUNNING=3 PEAL_PUBLIC_URL_FILE=$scratch/url PEAL_QUOTAS_NAMESPACES='a=1,b=2'
run peal config show --origin -o json --config "$file" --role worker
expect_status 0
expect_setting retention.runs 7 "$scratch/etc/conf.d/10-runs.yaml:2"
expect_setting retention.age 30d "$file:1"
expect_setting retention.audit 400d default
expect_setting labels zone=us,disk=ssd "$scratch/etc/conf.d/20-labels.yaml:1"
expect_setting role worker --role
expect_setting max_running 3 PEAL_MAX_RUNNING
expect_setting public_url https://peal.example.com PEAL_PUBLIC_URL_FILE
expect_setting quotas.namespaces a=1,b=2 PEAL_QUOTAS_NAMESPACES
expect_setting data "$scratch/data" PEAL_DATA

run peal config show retention --config "$file"
expect_status 0
expect_stdout_has 'retention.stats  400d'
expect_stdout_lacks max_running
run peal config show retention.run
expect_status 3
expect_stderr 'peal: there is no setting "retention.run"; peal config show lists all'
run peal config show history -o yaml --history postgresql://peal:topsecret@db.example/peal
expect_stdout_has 'postgresql://peal:***@db.example/peal'
expect_stdout_lacks topsecret

# ---- mistakes ----

run peal config validate "$file"
expect_status 0
expect_stdout "ok $file"
expect_stderr "note: PEAL_RETENTION_RUNS is not used: retention.runs is set by $scratch/etc/conf.d/10-runs.yaml:2"
echo 'retention: {rums: 7}' >"$scratch/etc/conf.d/30.yaml"
run peal config validate "$file"
expect_status 6
expect_stderr "peal: $scratch/etc/conf.d/30.yaml:1:13: unknown key \"rums\"; did you mean runs?"
rm "$scratch/etc/conf.d/30.yaml"
run env PEAL_MAX_RUNNING=many peal config validate "$file"
expect_status 6
expect_stderr_has 'PEAL_MAX_RUNNING: max_running is a number, 0 or more, not "many"'
run env PEAL_PUBLIC_URL_FILE="$scratch/nowhere" peal config validate "$file"
expect_status 6
expect_stderr_has "can't read a value from $scratch/nowhere"
run env PEAL_CONFIG="$scratch/nowhere.yaml" peal config validate
expect_status 3

# ---- the sample: every line of it is right ----

peal config sample >"$scratch/sample.yaml"
run peal config validate "$scratch/sample.yaml"
expect_status 0
sed -E 's/^#(|  )([a-z_]+:)/\1\2/' "$scratch/sample.yaml" >"$scratch/full.yaml"
[ "$(id -u)" -eq 0 ] || sed -i "s/^default_user: .*/default_user: $(id -un)/" "$scratch/full.yaml"
run env -u PEAL_DATA peal config show -o json --config "$scratch/full.yaml"
expect_status 0
run jq -r '.[] | select(.origin == "default") | .name' "$scratch/out"
expect_stdout ''

# ---- SIGHUP ----

PEAL_CONFIG=$file run peal start -d
expect_status 0
sed -i 's/30d/60d/; s/none/127.0.0.1:1/' "$file"
echo 'max_running: 4' >"$scratch/etc/conf.d/30.yaml"
kill -HUP "$(cat "$scratch/data/peal.pid")"
wait_until grep -q 'reloaded signal=HUP taken="max_running=4, retention.age=60d" next_start="listen"' "$scratch/data/peal.log"
run peal stop
expect_status 0

# ---- a log for programs ----

run peal start -d --log-format json --log "$scratch/json.log" --listen none
expect_status 0
run peal stop
run jq -r '.event' "$scratch/json.log"
expect_status 0
expect_stdout_has ready
run jq -c 'select(.event == "ready") | [.data, (.pid | type), (.time | endswith("Z"))]' "$scratch/json.log"
expect_stdout "[\"$scratch/data\",\"number\",true]"

finish
