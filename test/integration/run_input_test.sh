#!/bin/bash
# A run with an input of its own: bytes of a file or of stdin, over the API too; kept with the run,
# there for its retries and when it is run again, and on record.
. "$(dirname "$0")/lib.sh"
start_agent data --listen none
api() { # PATH JSON
    run curl -sS --unix-socket "$PEAL_DATA/api.sock" "http://peal/api/v1$1" -d "$2"
}

cat >"$scratch/jobs.yaml" <<'YAML'
name: load
schedule: "@manual"
overlap: allow
shell: |
  [ -n "$PEAL_INPUT" ] || { echo "no input"; exit 0; }
  echo "$PEAL_INPUT_TYPE/$PEAL_WEBHOOK/$PEAL_PARAM_day"
  sha256sum <"$PEAL_INPUT" | cut -c1-64
  cat | wc -c
params: {day: {default: today}}
---
name: flaky
schedule: "@manual"
retries: {count: 1, wait: 0s}
shell: wc -c <"$PEAL_INPUT"; test $PEAL_ATTEMPT = 2
---
name: fed
schedule: "@manual"
command: [cat]
stdin: of its own
---
name: call
schedule: "@manual"
http: http://127.0.0.1:9/
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0

# ---- any bytes, from a file and from stdin ----
head -c 256K /dev/urandom >"$scratch/most"
printf 'a\0b\n' >"$scratch/small"
: >"$scratch/empty"
sum_of() { sha256sum <"$1" | cut -c1-64; }
for file in most small empty; do
    run peal run load --input "$scratch/$file" --follow
    expect_status 0
    expect_stdout "//today
$(sum_of "$scratch/$file")
0"
done
# shellcheck disable=SC2016 # not to be expanded
run_with_stdin "$scratch/small" peal run load --input - -p 'day=$(x)' --follow
expect_stdout "//\$(x)
$(sum_of "$scratch/small")
0"
id=$(head -n 1 "$scratch/err")
run peal runs "$id"
expect_stdout_has 'Input: 4 bytes'
run peal runs "$id" -o json
expect_json '[.[0].input.size, .[0].input.type, .[0].input.source, .[0].cause]' '[4,null,null,"manual"]'
run peal run load --follow
expect_stdout 'no input'

# ---- again, as it was or with another ----
run peal run --again "$id" --follow
expect_stdout "//\$(x)
$(sum_of "$scratch/small")
0"
run peal run --again "$id" --input "$scratch/most" --follow
expect_stdout "//\$(x)
$(sum_of "$scratch/most")
0"

# ---- all attempts have it ----
run peal run flaky --input "$scratch/small" --follow
expect_status 0
expect_stdout '4
4'

# ---- the API: a text, or base 64 with a content type ----
api /jobs/load/run '{"input":"plain \u00e4"}'
run peal logs -f "$(jq -r .run_id "$scratch/out")"
expect_stdout "//today
$(printf 'plain \303\244' | sha256sum | cut -c1-64)
0"
api /jobs/load/run '{"input":{"data":"YQBiCg==","type":"text/csv; x\"y"},"params":{"day":"日\n"}}'
run peal logs -f "$(jq -r .run_id "$scratch/out")"
expect_stdout_has 'text/csv; x_y//'
expect_stdout_has "$(sum_of "$scratch/small")"
api /jobs/load/run '{"input":null}'
run peal logs -f "$(jq -r .run_id "$scratch/out")"
expect_stdout 'no input'

# ---- on record: parameters that were chosen, and the size ----
run peal audit -o json
# shellcheck disable=SC2016 # not to be expanded
expect_json '[.[] | .detail // "" | select(startswith("param"))] | unique' \
    '["param day=$(x), input of 4 bytes","param day=日 , input of 4 bytes"]'

# ---- what is refused ----
while IFS='|' read -r path body pointer message; do
    api "$path" "$body"
    expect_json '[.status, .errors[0].pointer]' "[422,\"$pointer\"]"
    expect_stdout_has "$message"
done <<'TABLE'
/jobs/load/run|{"input":7}|/input|input: expected a text
/jobs/load/run|{"input":{}}|/input|input: expected a text
/jobs/load/run|{"input":{"data":"YQ==","name":"x"}}|/input|input: expected a text
/jobs/load/run|{"input":{"data":"YQ==","type":7}}|/input|input: expected a text
/jobs/load/run|{"input":{"data":"Y"}}|/input/data|is not base64
/jobs/fed/run|{"input":"x"}|/input|of its own, which leaves none for PEAL_INPUT
/jobs/call/run|{"input":"x"}|/input|an HTTP call has no file
/jobs:act?q=load|{"action":"run","params":{"day":"x"}}|/params|params
/jobs:act?q=load|{"action":"run","input":"x"}|/input|input
TABLE
head -c 262145 /dev/zero >"$scratch/large"
run peal run load --input "$scratch/large"
expect_status 6
expect_stderr_has 'is larger than 256 KiB'
{ printf '{"input":"' && head -c 262145 /dev/zero | tr '\0' x && printf '"}'; } >"$scratch/large.json"
api /jobs/load/run "@$scratch/large.json"
expect_json '[.status, .errors[0].pointer]' '[422,"/input"]'
run peal run load --input "$scratch/nowhere"
expect_status 3
run peal run fed --input "$scratch/small" --lang zh
expect_status 6
expect_stderr_has '无法再提供 PEAL_INPUT'
finish
