#!/bin/bash
# Parameters of a job: declared, chosen by a request, given to the run, kept with it, used again.
# shellcheck disable=SC2016 # values and jobs have ${NAME}, which this shell is not to expand
. "$(dirname "$0")/lib.sh"
port=$(free_ports | head -n 1)
start_agent data --listen "127.0.0.1:$port"
log=$scratch/log

cat >"$scratch/jobs.yaml" <<YAML
name: report
schedule: "@manual"
command: [/usr/bin/printf, '[%s]\n', '\${day}', 'n=\${count}', '\$\${day}', '\${other}', 'x\${flag}\${flag}y']
params:
  day: {help: "Which day"}
  count: {type: integer, default: 5}
  flag: {type: boolean, default: false}
---
name: scripted
schedule: "@every 1h"
shell: 'printf "[%s]" "\$PEAL_PARAM_zone" "\$PEAL_PARAM_ratio"; echo'
params:
  zone: {default: eu, allowed: [eu, us, "a b"]}
  ratio: {type: number, default: 1.5}
---
name: fails
schedule: "@manual"
retries: {count: 1, wait: 0s}
shell: 'echo "\$PEAL_ATTEMPT \$PEAL_PARAM_who" >>$log; exit 3'
params: {who: {}}
---
name: plain
schedule: "@manual"
command: ["true"]
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
# A second look finds nothing to change: what is written is what was read.
run peal diff -f "$scratch/jobs.yaml"
expect_status 0
run peal get report -o json
expect_json .params '{"day":{"help":"Which day"},"count":{"type":"integer","default":5},"flag":{"type":"boolean","default":false}}'

# ---- values ----
run peal run report -p day=2026-11-01 -p flag=true --follow
expect_status 0
expect_stdout '[2026-11-01]
[n=5]
[${day}]
[${other}]
[xtruetruey]'
id=$(head -n 1 "$scratch/err")
run peal runs "$id" -o json
expect_json '.[0].params' '{"day":"2026-11-01","count":"5","flag":"true"}'
run peal runs "$id"
expect_stdout_has 'day = "2026-11-01"'
run peal logs "$id"
expect_stdout_lacks params

# A value is never read by a shell, nor again as a template, nor as more than one word.
run peal run report -p 'day=$(touch x); ${count} `id` "'"'"' ${day}
second line' --follow
expect_stdout '[$(touch x); ${count} `id` "'"'"' ${day}
second line]
[n=5]
[${day}]
[${other}]
[xfalsefalsey]'

# ---- again ----
run peal run --again "$id" --follow
expect_stdout_has '[2026-11-01]'
expect_stdout_has '[xtruetruey]'
run peal run --again "$id" -p count=7 --follow
expect_stdout_has '[2026-11-01]'
expect_stdout_has '[n=7]'
run peal run --again "$id" report
expect_status 2
run peal run
expect_status 2

# ---- refused ----
# (what, words of the message)
while IFS='|' read -r arguments words; do
    # shellcheck disable=SC2086 # words
    run peal run $arguments
    [ "$status" -ne 0 ] || mismatch 'expected a refusal'
    expect_stderr_has "$words"
done <<'END'
report|params.day: has no default; give a value
report -p day=1 -p dya=2|params.dya: is no parameter of this job; it has day
plain -p day=1|which has none
report -p day=1 -p count=five|params.count: "five" is not a whole number
report -p day=1 -p count=99999999999999999999|is not a whole number
report -p day=1 -p count=1e3|is not a whole number
report -p day=1 -p flag=yes|is not true or false
report -p day=--force|params.day: begins with a dash
scripted -p zone=asia|params.zone: "asia" is not allowed; choose eu, us, a b
scripted -p ratio=1,5|is not a number
END
run peal run report -p "day=$(head -c 9000 /dev/zero | tr '\0' x)"
expect_stderr_has 'params.day: is longer than 8192 bytes'
run peal run report -p "day=$(printf '\377')"
expect_status 2
expect_stderr_has 'not text in UTF-8'
run peal runs report --state queued,due,claimed -o json
expect_json length 0

# ---- a tick has the defaults; so has a run without parameters of its own ----
run peal run scripted --follow
expect_stdout '[eu][1.5]'
run peal run scripted -p 'zone=a b' -p ratio=-2e3 --follow
expect_stdout '[a b][-2e3]'
run peal add tick '@every 1s' --param word=hello --param n:integer=3 -- /bin/echo '${word}' '${n}'
expect_status 0
wait_until newest_is tick ok
run peal logs tick
expect_stdout 'hello 3'
run peal delete tick

# ---- attempts of one tick share them, and each is recorded with them ----
run peal run fails -p who=ann --wait
expect_status 10
# shellcheck disable=SC2317 # wait_until calls it
has_two() { [ "$(peal runs fails -o json | jq '[.[] | select(.finished_at)] | length')" = 2 ]; }
wait_until has_two
run cat "$log"
expect_stdout '1 ann
2 ann'
for id in $(peal runs fails -o json | jq -r '.[].run_id'); do
    run peal runs "$id" -o json
    expect_json '.[0].params' '{"who":"ann"}'
done
run peal run --again "$id" --wait
expect_status 10

# ---- the definition changes between the request and the start ----
cat >"$scratch/slow.yaml" <<YAML
name: slow
schedule: "@manual"
overlap: queue
shell: 'while [ ! -e $scratch/go ]; do sleep 0.05; done; echo "\$PEAL_PARAM_a"'
params: {a: {}}
YAML
run peal apply -f "$scratch/slow.yaml"
run peal run slow -p a=1
wait_until newest_is slow running
run peal run slow -p a=2
id=$(cat "$scratch/out")
sed -i 's/params: .*/params: {a: {type: boolean, default: true}}/' "$scratch/slow.yaml"
run peal apply -f "$scratch/slow.yaml"
expect_status 0
touch "$scratch/go"
# shellcheck disable=SC2317 # wait_until calls it
is_over() { peal runs "$1" -o json | jq -e '.[0].finished_at'; }
wait_until is_over "$id"
run peal runs "$id" -o json
expect_json '.[0] | [.state, .reason, .detail]' '["failed","no_start","parameter a: \"2\" is not true or false"]'

# ---- they survive the agent ----
rm "$scratch/go"
run peal run slow -p a=false
id=$(cat "$scratch/out")
wait_until newest_is slow running
run peal run slow -p a=true
waiting=$(cat "$scratch/out")
run peal restart
expect_status 0
run peal runs "$waiting" -o json
expect_json '.[0] | [.state, .params.a]' '["queued","true"]'
touch "$scratch/go"
wait_until is_over "$waiting"
run peal logs "$waiting"
expect_stdout true
run peal runs "$id" -o json
expect_json '.[0] | [.state, .params.a]' '["ok","false"]'

# ---- where a value would be code ----
while IFS='|' read -r line words; do
    printf 'name: bad\nschedule: "@manual"\n%s\nparams: {a: {}}\n' "$line" >"$scratch/bad.yaml"
    run peal validate "$scratch/bad.yaml"
    expect_status 6
    expect_stderr_has "$words"
done <<'END'
shell: 'echo ${a}'|use "$PEAL_PARAM_a"
command: [sh, -c, 'echo ${a}']|use "$PEAL_PARAM_a"
command: [/usr/bin/env, bash, -euc, 'echo ${a}']|would be read as code
command: [python3, -c, 'print(${a})']|would be read as code
command: ['${a}']|the program can't be a parameter
END
printf 'name: bad\nschedule: "@daily"\ncommand: ["true"]\nparams: {a: {}}\n' >"$scratch/bad.yaml"
run peal validate "$scratch/bad.yaml"
expect_status 6
expect_stderr_has 'needs a "default"'
printf 'name: good\nschedule: "@manual"\ncommand: [sh, -c, "echo $1", sh, "${a}"]\nparams: {a: {}}\n' >"$scratch/good.yaml"
run peal validate "$scratch/good.yaml"
expect_status 0

# ---- another environment, time limit and node, for one run ----
run peal add env @manual --env A=job --env B=job --shell 'echo "$A $B $C"; sleep "$D"'
expect_status 0
run peal run env --env A=mine --env 'C=x y' --env D=0 --env PEAL_RUN_ID=forged --follow
expect_status 0
expect_stdout 'mine job x y'
id=$(head -n 1 "$scratch/err")
run peal runs "$id" -o json
expect_json '.[0] | [.env, .timeout, .pinned]' '[{"A":"mine","C":"x y","D":"0","PEAL_RUN_ID":"forged"},null,null]'
run peal runs "$id"
expect_stdout_has 'Environment: A, C, D, PEAL_RUN_ID'
run peal audit --action run -n 1 -o json
expect_json '.[0].detail' '"env A, env C, env D, env PEAL_RUN_ID"'
run peal run env --env D=0 --follow
expect_stdout 'job job '
run peal run --again "$id" --follow
expect_stdout 'mine job x y'
run peal run env --env D=600 --time-limit 1s --wait
expect_status 10
expect_stderr_has 'timed_out (timeout)'
node=$(peal nodes -o json | jq -r '.[0].node // .[0].name')
run peal run env --env D=0 --on "$node" --wait
expect_status 0
run peal runs "$(tail -n 1 "$scratch/out")" -o json
expect_json '.[0] | [.pinned == .node, .pinned != null]' '[true,true]'
while IFS='|' read -r arguments words; do
    # shellcheck disable=SC2086 # words
    run peal run env $arguments
    [ "$status" -ne 0 ] || mismatch 'expected a refusal'
    expect_stderr_has "$words"
done <<'END'
--on nowhere|there is no node nowhere
--time-limit soon|a duration is numbers with units
--env =x|
END

# The right to run a job is not the right to define it.
run peal token create ops --role operator -o json
expect_status 0
token=$(jq -r .token "$scratch/out")
# shellcheck disable=SC2317 # called below
as_ops() { env -u PEAL_DATA PEAL_TOKEN="$token" peal "$@" --url "http://127.0.0.1:$port"; }
run as_ops run env --env LD_PRELOAD=/tmp/x.so
expect_status 1
expect_stderr_has define
run as_ops run env --time-limit 1h
expect_status 1
run as_ops run --again "$id"
expect_status 1
run as_ops run report -p day=1 --wait
expect_status 0
run as_ops runs "$id" -o json
expect_json '.[0].env' '{"A":"********","C":"********","D":"********","PEAL_RUN_ID":"********"}'

# ---- nothing is left in the store ----
# shellcheck disable=SC2317 # wait_until calls it
run peal stop
command -v sqlite3 >/dev/null && {
    run sqlite3 "$scratch/data/peal.db" "SELECT count(*) FROM docs WHERE kind = 'input'"
    expect_stdout 0
}
# A run for a node that is full waits for it, says so, and not for ever.
echo 'max_running: 1' >"$scratch/one.yaml"
start_agent small --node-id small --listen none --config "$scratch/one.yaml"
cat >"$scratch/jobs.yaml" <<YAML
name: fills
schedule: "@manual"
shell: while ! test -e $scratch/filled; do sleep 0.1; done
---
name: waits
schedule: "@manual"
command: ["true"]
deadline: 3s
---
name: waits-on
schedule: "@manual"
command: ["true"]
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal run fills --on small
# shellcheck disable=SC2317 # wait_until calls it
small_is() { [ "$(peal nodes -o json | jq -r '.[0].state')" = "$1" ]; }
wait_until small_is full
run peal run waits --on small
expect_status 0
run peal run waits-on --on small
expect_status 0
run peal why waits-on
expect_stdout_has 'only node small may run it, which takes no runs now: it runs as much as it may (max_running)'
# shellcheck disable=SC2317 # likewise
state_is() { [ "$(peal runs "$1" -o json | jq -r '.[0].state')" = "$2" ]; }
wait_until state_is waits missed
run peal runs waits -o json
expect_json '.[0] | [.reason, .detail]' '["deadline","for node small, which did not take it in time: it runs as much as it may (max_running)"]'
wait_until state_is waits-on due
touch "$scratch/filled"
wait_until state_is waits-on ok

finish
