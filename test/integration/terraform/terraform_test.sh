#!/bin/bash
# The Terraform provider in clients/terraform, with terraform or tofu, on an agent: the example of its README; jobs that are
# made by a seed; what other people change; imports; mistakes; and an agent that is away.
# shellcheck disable=SC2317 # called by wait_until
. "$(dirname "$0")/../lib.sh"
here=$source_dir/test/integration/terraform

skip() { # REASON...
    echo "skipped: $*"
    exit 77
}

# ---- the provider, installed as the README says ----

tool=$(command -v terraform || command -v tofu) || skip 'neither terraform nor tofu is installed'
command -v go >/dev/null || skip 'go is not installed'
export GOFLAGS='-mod=readonly -buildvcs=false' GOTOOLCHAIN=local HOME=${HOME:-$scratch}
printf 'go1.25\n%s\n' "$(go env GOVERSION)" | sort -VC || skip "$(go env GOVERSION) is older than 1.25"
mkdir "$scratch/clients"
cp -r "$source_dir/clients/go" "$source_dir/clients/terraform" "$scratch/clients"
client=$scratch/clients/terraform
(cd "$client" && timeout 200 go list -deps . >/dev/null 2>"$scratch/why") ||
    skip "the modules can't be had: $(tail -n 1 "$scratch/why")"
home=$scratch/home
plugins=$home/.terraform.d/plugins/peal.internal/peal/peal/0.1.0/$(go env GOOS)_$(go env GOARCH)
run sh -c "cd '$client' && gofmt -l . && go vet . && go test . >test.log && go build -o '$plugins/terraform-provider-peal_v0.1.0' ."
expect_status 0
expect_stdout ''
[ $failures -eq 0 ] || finish

export CHECKPOINT_DISABLE=1 TF_IN_AUTOMATION=1 TF_INPUT=0 TF_CLI_ARGS=-no-color
unset TF_CLI_CONFIG_FILE TF_DATA_DIR TF_LOG TF_PLUGIN_CACHE_DIR PEAL_URL PEAL_CA

tf() { # ARGUMENT...
    run env HOME="$home" "$tool" "$@"
}

# A folder of its own; main.tf is the standard input.
project() { # NAME
    mkdir -p "$scratch/$1"
    cd "$scratch/$1" || exit 1
    cat >main.tf
    tf init
    expect_status 0
}

head='terraform {
  required_providers {
    peal = { source = "peal.internal/peal/peal" }
  }
}'

expect_no_changes() {
    tf plan -detailed-exitcode
    expect_status 0
    expect_stdout_has 'No changes.'
}

api() { # METHOD PATH [BODY]
    curl -sS --unix-socket "$PEAL_DATA/api.sock" -X "$1" "http://peal/api/v1$2" ${3:+-d "$3"}
}

of_job() { # NAME FILTER
    api GET "/jobs/${1//\//%2F}" | jq -c "$2"
}

expect_job() { # NAME FILTER JSON
    checks=$((checks + 1))
    [ "$(of_job "$1" "$2")" = "$3" ] || mismatch "expected $2 of the job $1 to be: $3, found $(of_job "$1" "$2")"
}

mapfile -t ports < <(free_ports)
export PEAL_DATA=$scratch/node
run peal tls init --host localhost
expect_status 0
start_agent node --listen "127.0.0.1:${ports[0]}"
url=https://localhost:${ports[0]}
authority=$(find "$PEAL_DATA" -name '*.pem' ! -name '*key*' | head -n 1)

# ---- the example of the README ----

project example < <(awk '$0 == "```terraform" { inside = 1; next } /^```/ { inside = 0 } inside' "$client/README.md")
tf fmt -check
expect_status 0
tf apply -auto-approve
expect_status 0
expect_stdout_has '5 added, 0 changed, 0 destroyed'
expect_stdout_has '02:30:00+0'
expect_stdout_lacks 'hooks/secret'
expect_job db/backup '[.retries.count, .timeout, .groups, .calendars[0]]' '[3,"2h","db","holidays"]'
expect_no_changes
tf destroy -auto-approve
expect_status 0
run peal list -o json
expect_json '.' '[]'

project more <"$source_dir/examples/terraform/main.tf"
tf fmt -check
expect_status 0
tf apply -auto-approve
expect_status 0
expect_stdout_has '4 added, 0 changed, 0 destroyed'
expect_no_changes
tf destroy -auto-approve
expect_status 0

# ---- generated jobs ----

seed=${PEAL_SEED:-$SRANDOM}
echo "seed $seed (PEAL_SEED repeats it)"
made=15
generate() { # [HOW]
    python3 "$here/jobs.py" "$seed" $made "$@" >jobs.tf.json
}

token=$(peal token create terraform --role admin 2>/dev/null)
export PEAL_URL=$url PEAL_TOKEN=$token PEAL_CA=$authority
project generated <<<"$head"
tf providers schema -json
jq -r '.provider_schemas[].resource_schemas.peal_job.block.attributes
    | [paths(type == "object" and (.description_kind or .nested_type)) | map(select(type == "string" and . != "nested_type" and . != "attributes")) | join(".")]
    | unique[] | select(. != "name" and . != "revision" and . != "uid" and (startswith("finally.") | not))' \
    "$scratch/out" >"$scratch/fields"
python3 "$here/jobs.py" fields >"$scratch/made"
run diff "$scratch/fields" "$scratch/made"
expect_stdout ''

# The other definitions have tables of their own, which are to have all fields, too.
tf providers schema -json
jq -r '.provider_schemas[].resource_schemas | to_entries[] | select(.key != "peal_job")
    | .key as $kind | .value.block.attributes | keys[] | select(. != "revision") | $kind + "." + .' "$scratch/out" | sort >"$scratch/fields"
curl -sS --unix-socket "$PEAL_DATA/api.sock" http://peal/openapi.json | jq -r '.components.schemas | to_entries[]
    | select(.key == "GroupDefinition" or .key == "CalendarDefinition" or .key == "ChannelDefinition")
    | .key as $kind | .value.properties + {name: 0} | keys[] | "peal_" + ($kind[:-10] | ascii_downcase) + "." + .' | sort >"$scratch/made"
run diff "$scratch/fields" "$scratch/made"
expect_stdout ''
run cat "$scratch/fields"
expect_stdout_has peal_channel.secret

generate
tf apply -auto-approve
expect_status 0
expect_stdout_has "$((made + 5)) added, 0 changed, 0 destroyed"
expect_no_changes
generate respell
expect_no_changes

# A change of one field is a change of this field.
changes() { # of the plan in the file p
    HOME=$home "$tool" show -json p | jq -c '[.resource_changes[] | select(.change.actions != ["no-op"])
        | {name: (.type + "." + .name), actions: .change.actions, fields: [.change as $c | $c.after + $c.after_unknown | keys[]
            | select($c.before[.] != $c.after[.] and . != "revision")]}]'
}
generate change 2>"$scratch/changed"
read -r job field <"$scratch/changed"
tf plan -out p
expect_status 0
checks=$((checks + 1))
[ "$(changes)" = "[{\"name\":\"peal_job.$job\",\"actions\":[\"update\"],\"fields\":[\"${field%%.*}\"]}]" ] ||
    mismatch "expected a change of $field of $job alone, found $(changes)"
tf apply p
expect_status 0
expect_no_changes

# Each job becomes quite another one, and then what it was.
seed=$((seed + 1)) generate
tf apply -auto-approve
expect_status 0
expect_no_changes

# What is imported is what is there, however the configuration writes it; secrets of a channel are nobody's to read.
generate
tf apply -auto-approve
expect_status 0
mkdir "$scratch/imported"
cp -r main.tf .terraform .terraform.lock.hcl "$scratch/imported"
cd "$scratch/imported" || exit 1
generate import
tf plan -out p
expect_status 0
expect_stdout_has "$((made + 5)) to import, 0 to add, 1 to change, 0 to destroy"
checks=$((checks + 1))
[ "$(changes)" = '[{"name":"peal_channel.o","actions":["update"],"fields":["headers","secret","url"]}]' ] ||
    mismatch "expected a change of the channel's secrets alone, found $(changes)"
tf apply p
expect_status 0
expect_stdout_lacks hush
expect_no_changes
tf destroy -auto-approve
expect_status 0
run peal list -o json
expect_json '.' '[]'
cd "$scratch/generated" || exit 1 # whose state has what is gone by now
tf destroy -auto-approve -refresh=false
expect_status 0
expect_stdout_has "$((made + 5)) destroyed"

# ---- what other people change ----

project others <<END
$head
resource "peal_job" "a" {
  name     = "team/a"
  schedule = "@daily"
  command  = ["true"]
  timeout  = "90s"
  steps    = null
  env      = { A = "1", B = "2" }
}
END
tf apply -auto-approve
expect_status 0
api PATCH /jobs/team%2Fa '{"env":{"A":"7"},"timeout":"1m30s"}' >"$scratch/out"
tf plan -detailed-exitcode -out p
expect_status 2
expect_stdout_has '~ "A" = "7" -> "1"'
expect_stdout_lacks timeout
expect_stdout_lacks '"B"'

# Meanwhile somebody changes it again: nothing is overwritten.
api PATCH /jobs/team%2Fa '{"notes":"mine"}' >"$scratch/out"
tf apply p
expect_status 1
expect_stderr_has 'Somebody has changed it since this was planned'
expect_job team/a '[.env.A, .notes]' '["7","mine"]'
tf apply -auto-approve
expect_status 0
expect_job team/a '[.env.A, .notes]' '["1",null]'

# A pause is no drift, and survives a change.
peal pause team/a >"$scratch/out" 2>&1
expect_no_changes
sed -i 's/@daily/@weekly/' main.tf
tf apply -auto-approve
expect_status 0
expect_job team/a '[.paused, .schedule]' '[true,"@weekly"]'
sed -i 's/  steps .*/  paused = true/' main.tf
tf apply -auto-approve
expect_status 0
expect_job team/a .paused true
sed -i '/  paused/d' main.tf
tf apply -auto-approve
expect_status 0
expect_job team/a .paused null

# One way to say what runs replaces another, and what is taken out goes back to its default.
sed -i 's/  command .*/  shell = "true"/; /timeout/d; s/  schedule .*/  schedules = ["@daily", "@hourly"]/' main.tf
tf apply -auto-approve
expect_status 0
expect_job team/a '[.command, .shell, .timeout, .schedule, .schedules]' '[null,"true",null,null,["@daily","@hourly"]]'
expect_no_changes

# Renamed by somebody: the plan says so; with the new name in the configuration it is the same job.
uid=$(of_job team/a .uid)
peal rename team/a team/b >"$scratch/out" 2>&1
tf plan -detailed-exitcode
expect_status 2
expect_stdout_has 'The job "team/a" was renamed to "team/b"'
expect_stdout_has '# forces replacement'
sed -i 's|"team/a"|"team/b"|' main.tf
expect_no_changes
expect_job team/b .uid "$uid"
sed -i 's|"team/b"|"team/c"|' main.tf
tf apply -auto-approve
expect_status 0
expect_stdout_has '1 added, 0 changed, 1 destroyed'
run peal list -o json
expect_json '[.[].name]' '["team/c"]'

# Deleted by somebody: it is made again; and what is gone need not be destroyed.
peal delete team/c --yes >"$scratch/out" 2>&1
tf apply -auto-approve
expect_status 0
expect_stdout_has '1 added'
peal delete team/c --yes >"$scratch/out" 2>&1
tf destroy -auto-approve -refresh=false
expect_status 0

# Made by somebody: it is not taken over.
peal add team/c @daily -- false >"$scratch/out" 2>&1
tf apply -auto-approve
expect_status 1
expect_stderr_has 'There is a job of that name already'
expect_stderr_has 'terraform import peal_job.NAME team/c'
expect_job team/c .command '["false"]'
tf import peal_job.a team/c
expect_status 0
tf apply -auto-approve
expect_status 0
expect_stdout_has '0 added, 1 changed'
tf import peal_job.a2 team/c
expect_status 1
tf destroy -auto-approve
expect_status 0

# ---- mistakes are those of the plan ----

expect_mistake() { # BODY OF peal_job.x, MESSAGE [LINE, counted from that of the resource]
    printf '%s\nresource "peal_job" "x" {\n  name = "x"\n%s\n}\n' "$head" "$1" >main.tf
    tf plan
    expect_status 1
    tr -s '\n ' '  ' <"$scratch/err" >"$scratch/joined"
    mv "$scratch/joined" "$scratch/err"
    expect_stderr_has "$2"
    expect_stderr_has "on main.tf line $((${3:-3} + 5))"
}

project mistakes <<<"$head"
expect_mistake '  schedule = "0 25 * * *"
  command = ["true"]' 'schedule: hour 25 is out of range 0-23 (at column 3 of the text)'
expect_mistake '  schedule = "@daily"
  command = ["true"]
  retries = {
    count = 3
    wait = "3 x"
  }' 'retries.wait: ' 5
expect_mistake '  schedule = "@daily"
  steps = [
    { name = "a", command = ["true"] },
    { name = "b", command = ["true"], after = [{ step = "c" }] },
  ]' 'there is no step "c"' 4
expect_mistake '  schedule = "@daily"
  timezone = "Europe/Atlantis"
  command = ["true"]' 'unknown time zone "Europe/Atlantis"' 4
expect_mistake '  schedule = "@daily"' 'needs a "command"' 1
expect_mistake '  shedule = "@daily"' 'An argument named "shedule" is not expected here'
# ... also where another part of it is known only when it is applied
expect_mistake '  schedule = "0 25 * * *"
  command = [terraform_data.later.output]
}
resource "terraform_data" "later" {
  input = "true"' 'hour 25 is out of range'

cat >main.tf <<END
$head
resource "peal_calendar" "x" {
  name  = "x"
  dates = ["13-01"]
}
resource "peal_group" "x" {
  name    = "x"
  cluster = 0
}
resource "peal_channel" "x" {
  name   = "x"
  type   = "slack"
  url    = "https://example.com/x"
  secret = "sixteen-letters-x"
}
data "peal_schedule" "x" {
  schedule = "61 * * * *"
}
END
tf plan
expect_status 1
expect_stderr_has 'month 13 is out of range'
expect_stderr_has 'cluster'
expect_stderr_has 'secret'
expect_stderr_has 'minute 61 is out of range'

# A name that is not there is a warning, since it may come; of what this plan makes it is none.
cat >main.tf <<END
$head
resource "peal_calendar" "here" {
  name     = "here"
  weekdays = ["sun"]
}
resource "peal_job" "x" {
  name      = "x"
  schedule  = "@daily"
  command   = ["true"]
  calendars = [peal_calendar.here.name]
}
resource "peal_job" "y" {
  name      = "y"
  schedule  = "@daily"
  command   = ["true"]
  calendars = ["nowhere"]
}
resource "terraform_data" "later" {
  input = "later"
}
resource "peal_job" "z" {
  name  = "z"
  after = [{ job = peal_job.x.name }]
  shell = "true"
  notes = terraform_data.later.output
  limits = { io_weight = 5 }
}
resource "peal_job" "call" {
  name     = "call"
  schedule = "@daily"
  env      = { TOKEN = terraform_data.later.output }
  http     = { url = "https://example.com/", headers = { Authorization = "Bearer \$\${TOKEN}" } }
}
resource "peal_job" "param" {
  name     = "param"
  schedule = "@manual"
  params   = { day = { default = terraform_data.later.output } }
  http     = { url = "https://example.com/\$\${day}" }
}
resource "peal_job" "flow" {
  name     = "flow"
  schedule = "@daily"
  jitter   = "5m"
  steps    = [{ name = "a", command = ["echo", terraform_data.later.output] }]
  finally  = [{ name = "b", command = ["true"] }]
}
END
tf plan
expect_status 0
expect_stdout_has 'there is no calendar "nowhere"'
expect_stdout_lacks 'there is no calendar "here"'
expect_stdout_lacks 'there is no job'
sed -i 's/"nowhere"/peal_calendar.here.name/' main.tf
tf apply -auto-approve
expect_status 0
expect_job z '[.notes, .timezone]' '["later",null]'
expect_job call .env.TOKEN '"later"'
expect_job param .params.day.default '"later"'
expect_job flow '[.steps[0].command[1], .timezone]' '["later","UTC"]'
expect_no_changes

# ---- a channel's secrets, data sources ----

cat >main.tf <<END
$head
resource "peal_channel" "o" {
  name   = "o"
  type   = "webhook"
  url    = "https://example.com/h?key=hush"
  secret = "hush-hush-hush-one"
}
data "peal_jobs" "all" {
  status = "never"
}
data "peal_job" "z" {
  name = "z"
}
output "found" {
  value = [data.peal_jobs.all.names, data.peal_job.z.after, data.peal_job.z.revision]
}
END
peal add keep/z @daily -- true >"$scratch/out" 2>&1
api PUT /jobs/z '{"after":"keep/z","command":["true"]}' >"$scratch/out"
tf apply -auto-approve -target=peal_channel.o
expect_status 0
sed -i 's/hush-one/hush-two/' main.tf
tf plan
expect_status 0
expect_stdout_has '~ secret'
expect_stdout_lacks hush
tf apply -auto-approve -target=peal_channel.o
expect_status 0
run api GET '/audit?limit=1'
expect_json '.items[0] | [.action, .detail]' '["channel_change","secret"]'

# ---- who asks, and whom ----

run peal add seen @daily -- true
printf '%s\nresource "peal_job" "v" {\n name = "v"\n schedule = "@daily"\n command = ["true"]\n}\n' "$head" >main.tf
tf state rm peal_channel.o
PEAL_TOKEN=$(env -u PEAL_URL -u PEAL_TOKEN peal token create viewer --role viewer 2>/dev/null)
tf plan -target=peal_job.v
expect_status 0
expect_stdout_has 'it needs the right'
sed -i 's/@daily/@dayly/' main.tf
tf plan -target=peal_job.v
expect_status 1
expect_stderr_has '@dayly'
PEAL_TOKEN=wrong
tf plan
expect_status 1
expect_stderr_has "Can't use the agent at $url"
expect_stderr_has 'The provider takes its token from'
export PEAL_URL=http://peal.example.com:7325
tf plan
expect_stderr_has 'would carry the token in the clear'
export PEAL_URL=https://127.0.0.1:${ports[1]}
tf plan
expect_status 1
expect_stderr_has 'The agent does not answer'
unset PEAL_URL PEAL_TOKEN PEAL_CA

# The same by the provider's arguments: over TLS with a token in a file, and by the socket's path.
echo "$token" >"$scratch/token"
list_seen() { # ARGUMENTS of the provider
    printf '%s\nprovider "peal" {\n%s\n}\ndata "peal_jobs" "all" {\n  q = "seen"\n}\noutput "names" {\n  value = data.peal_jobs.all.names\n}\n' \
        "$head" "$1" >main.tf
    rm -f terraform.tfstate
    run env HOME="$home" PEAL_DATA="$scratch/nowhere" "$tool" plan
}
list_seen "  address    = \"$url\"
  token_file = \"$scratch/token\"
  ca_file    = \"$authority\""
expect_status 0
expect_stdout_has '"seen"'
list_seen "  address = \"unix:$PEAL_DATA/api.sock\""
expect_status 0
expect_stdout_has '"seen"'
list_seen "  address    = \"$url\"
  token_file = \"$scratch/token\""
expect_status 1
expect_stderr_has 'certificate'

peal stop >"$scratch/out" 2>&1
tf plan
expect_status 1
expect_stderr_has 'Is it running there'
finish
