#!/bin/bash
# Secrets of jobs: a job of another namespace, a reader of the disk, a job that prints its secret in pieces, other
# users of the machine, writers to the files; and the value in the middle of a spawner's or an agent's end.
# shellcheck disable=SC2016 # texts of jobs
. "$(dirname "$0")/lib.sh"

# Of the two processes with this command line the one whose parent is the other.
spawner_pid() {
    local pid all
    mapfile -t all < <(processes_with "peal-spawn --dir $scratch/data/")
    for pid in "${all[@]}"; do
        [[ " ${all[*]} " != *" $(ps -o ppid= -p "$pid" | tr -d ' ') "* ]] || echo "$pid"
    done | tail -n 1
}
seed=${PEAL_SEED:-$RANDOM}
RANDOM=$seed
echo "PEAL_SEED=$seed"
value="v$(tr -dc 'a-z0-9' </dev/urandom | head -c 14)X$seed"
filed="f$(tr -dc 'a-z0-9' </dev/urandom | head -c 14)Y$seed"
(umask 077 && echo "$value" >"$scratch/value")
mkdir -m 700 "$scratch/secrets"
(umask 077 && echo "$filed" >"$scratch/secrets/filed")
printf 'secrets_dir: %s\n' "$scratch/secrets" >"$scratch/peal.yaml"
[ "$(id -u)" != 0 ] || printf 'default_user: root\n' >>"$scratch/peal.yaml"
start_agent data --config "$scratch/peal.yaml"

ends() { # JOB STATE [DETAIL]: the last run of the job has ended so
    until peal runs "$1" -o json | jq -e 'length > 0 and .[0].finished_at != null' >"$scratch/out"; do sleep 0.05; done
    run peal runs "$1" -o json
    expect_json '.[0].state' "\"$2\""
    [ -z "${3:-}" ] || expect_json ".[0].detail | contains(\"$3\")" true
}
# shellcheck disable=SC2317 # run calls it
found() { # files of the agent that hold a value, as it is or in base 64
    grep -rlaF -e "$value" -e "$filed" -e "$(printf %s "$value" | base64 | tr -d =)" "$scratch/data" | wc -l
}

run peal secret set db-password --value-file "$scratch/value"
expect_status 4 # there is no key
run peal secret init
expect_status 0
run peal secret init
expect_status 4
run peal secret set db-password --value-file "$scratch/value"
expect_status 0
run peal secret set team/other --value-file "$scratch/value"
expect_status 0
run peal secret set shared --share team --value-file "$scratch/value"
expect_status 0
for show in 'list -o json' 'list -o yaml' 'list -o wide'; do
    # shellcheck disable=SC2086 # words
    run peal secret $show
    expect_stdout_has db-password
    [[ $(<"$scratch/out") != *"$value"* ]] || mismatch 'expected no value'
done

# ---- whatever it prints ----
cat >"$scratch/jobs.yaml" <<'YAML'
name: prints
schedule: "@manual"
secrets: [db-password, FILED=filed]
shell: |
  echo "<$DB_PASSWORD> <$FILED>"; echo "<$DB_PASSWORD>" >&2
  for ((i = 0; i < ${#DB_PASSWORD}; i++)); do printf %s "${DB_PASSWORD:i:1}"; sleep 0.01; done
  printf '\n'; printf %s "$DB_PASSWORD" | base64; printf 'user:%s' "$DB_PASSWORD" | base64
---
name: team/own
schedule: "@manual"
secrets: [other, shared]
shell: test -n "$OTHER" && test -n "$SHARED"
---
name: team/outside
schedule: "@manual"
secrets: db-password
command: ["true"]
---
name: elsewhere/thief
schedule: "@manual"
secrets: team/other
command: ["true"]
---
name: elsewhere/file
schedule: "@manual"
secrets: filed
command: ["true"]
---
name: endless
schedule: "@manual"
overlap: allow
secrets: db-password
shell: while for i in {1..20}; do printf "%s-" "$DB_PASSWORD"; done; do sleep 0.01; done
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal run prints
ends prints ok
run peal logs prints
expect_stdout_has '<********> <********>'
for text in "$value" "$filed" "$(printf %s "$value" | base64)"; do
    [[ $(<"$scratch/out") != *"$text"* ]] || mismatch 'expected no value'
done
run peal run team/own
ends team/own ok
for job in team/outside elsewhere/thief elsewhere/file; do
    run peal run "$job"
    ends "$job" failed 'there is no secret'
    run peal runs "$job" -o json
    expect_json '.[0].reason' '"no_start"'
done
run found
expect_stdout 0

# ---- a file that others may read, a folder that others may write, a link ----
for harm in 'chmod 644 filed' 'chmod 777 .' 'ln -sf /etc/hostname filed'; do
    (cd "$scratch/secrets" && eval "$harm")
    run peal run prints
    ends prints failed "$scratch/secrets/"
    (cd "$scratch/secrets" && chmod 700 . && rm -f filed && umask 077 && echo "$filed" >filed)
done

# ---- values that were moved or changed in the store ----
[ -z "$(command -v sqlite3)" ] || {
    run peal stop
    sqlite3 "$scratch/data/peal.db" .dump | grep -c -aF "$value" >"$scratch/count" || true
    checks=$((checks + 1))
    [ "$(<"$scratch/count")" = 0 ] || mismatch 'expected no value in the database'
    start_agent data --config "$scratch/peal.yaml"
}

# ---- killed in the middle of it ----
for round in 1 2 3 4; do
    run peal run endless
    id=$(<"$scratch/out")
    until peal runs endless -o json 2>"$scratch/err" | jq -e '.[0].state == "running" or .[0].finished_at' >"$scratch/out"; do sleep 0.02; done
    run peal runs endless -o json
    expect_json '.[0].state' '"running"'
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    if [ $((round % 2)) = 1 ]; then
        kill -9 "$(spawner_pid)"
    else
        kill -9 "$(<"$scratch/data/peal.pid")"
        start_agent data --config "$scratch/peal.yaml"
    fi
    sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
    run peal kill "$id"
    ends endless killed
    run found
    expect_stdout 0
    run peal logs "$id"
    [[ $(<"$scratch/out") != *"$value"* ]] || mismatch 'expected no value'
done
finish
