#!/bin/bash
# peal validate: everything is read, everything is reported, nothing odd gets through.
. "$(dirname "$0")/lib.sh"

cd "$scratch" || exit 1

run peal validate '0 0 * * sun'
expect_status 0
expect_stdout 'ok 0 0 * * 0'
run peal validate @daily
expect_status 0
expect_stdout_has 'ok '
run peal validate 0 0 1 1 7
expect_status 0
run peal validate '30 2 * * *' --tz Europe/Berlin -o json
expect_json '.[0] | [.ok, .tz, .spec]' '[true,"Europe/Berlin","30 2 * * *"]'

# A file: good lines on stdout, bad ones on stderr with their places.
printf '# backups\n\n0 3 * * *\n  75 * * * *\r\n@hourly\r\n0 0 31 2 *\n0 0 * * MONX' >list
run peal validate list
expect_status 6
expect_stdout "list:3: ok 0 3 * * *
list:5: ok 0 * * * *
list:6: ok 0 0 31 2 *"
expect_stderr_has 'list:4:3: minute 75 is out of range 0-59'
expect_stderr_has 'list:6: warning: '
expect_stderr_has 'list:7:9: unknown weekday "MONX"; did you mean MON?'
run peal validate list -o json
expect_status 6
expect_json '[.[] | [.line, .ok]]' '[[3,true],[4,false],[5,true],[6,true],[7,false]]'
expect_json '.[1] | [.column, .error]' '[3,"minute 75 is out of range 0-59"]'
run_with_stdin list peal validate -
expect_status 6
expect_stderr_has 'stdin:4:3: minute 75'
printf '\357\273\2770 3 * * *\n' >with-mark
run peal validate with-mark
expect_status 0
run peal validate ./list
expect_status 6
cp list 'a list'
run peal validate './a list'
expect_status 6
expect_stderr_has './a list:4:3:'

# Nothing to validate is fine, and said.
: >empty
run peal validate empty
expect_status 0
expect_stderr_has 'empty has no schedules'
run peal validate empty -o json
expect_stdout '[]'

# Files and folders of jobs.
mkdir jobs
printf 'name: a\nschedule: "@daily"\ncommand: ["true"]\n' >jobs/a.yaml
run peal validate jobs/a.yaml
expect_status 0
expect_stdout 'ok a'
run peal validate jobs -o json
expect_json '.[0].name' '"a"'
mkdir more
for name in c d e f g; do
    printf 'name: %s\nschedule: "@daily"\ncommand: ["true"]\n' "$name" >"more/$name.yaml"
done
run peal validate jobs/a.yaml more/*.yaml # as many as a cron schedule has words, and one more
expect_status 0
expect_stdout 'ok a
ok c
ok d
ok e
ok f
ok g'
printf 'name: b\nschedul: "@daily"\ncommand: ["true"]\n' >jobs/b.yml
run peal validate jobs
expect_status 6
expect_stderr_has 'jobs/b.yml:2:1: unknown field "schedul"; did you mean "schedule"?'

# All mistakes of a file in one pass, in its order; also those of several jobs together.
cat >many.yaml <<'YAML'
name: one
schedule: "0 25 * * *"
comand: ["true"]
timeout: soon
---
name: two
schedule: "@daily"
command: ["true"]
overlap: maybe
---
name: two
after: four
command: ["true"]
---
name: three
after: [{job: two}]
command: ["true"]
---
- name: four
  after: {jobs: [one, three], on: always}
  shell: "true"
- name: five
  schedule: "@daily"
  shell: "true"
- name: five
  schedule: "@daily"
  shell: "true"
YAML
run peal validate many.yaml
expect_status 6
mv "$scratch/err" told
run sed -n 's/^peal: //p' told
expect_stdout 'many.yaml:2:14: schedule: hour 25 is out of range 0-23
many.yaml:3:1: unknown field "comand"; did you mean "command"?
many.yaml:4:10: timeout: a duration is numbers with units, like 90s or 1h30m
many.yaml:9:10: overlap: "maybe" is not one of skip, allow, queue or replace
many.yaml:25:9: name: "five" is already the name of the job in line 22
many.yaml:16:15: after: a job would wait for itself: two -> four -> three -> two'
printf 'name: self-a\nafter: self-b\nshell: x\n' >more/self.yaml
printf 'name: self-b\nafter: self-a\nshell: x\n' >more/self-2.yaml
run peal validate more
expect_status 6
expect_stderr_has 'after: a job would wait for itself: self-b -> self-a -> self-b'
expect_stderr_has 'more/self.yaml:2:8: '
rm more/self*
printf 'name: g\nschedule: "@daily"\nshell: x\n' >more/h.yaml
run peal validate more
expect_status 6
expect_stderr_has 'more/h.yaml:1:7: job "g" is defined twice: in more/g.yaml, too'
rm more/h.yaml

# What only an agent knows; without one, a note.
cat >refs.yaml <<'YAML'
name: refs
after: [a, etl/lod]
shell: "true"
---
name: seldom
schedule: "@daily"
calendars: [holydays]
notify: {to: [ops, pager]}
shell: "true"
YAML
run peal validate refs.yaml jobs/a.yaml
expect_status 0
expect_stderr_has 'note: groups, calendars, channels and jobs that are in no file were not checked'
start_agent agent --listen none
peal calendar set holidays 12-25 2>/dev/null
peal channel set ops --type webhook --hook http://127.0.0.1:9/ --unencrypted 2>/dev/null
peal add etl/load @manual -- true 2>/dev/null
run peal validate refs.yaml jobs/a.yaml
expect_status 6
expect_stderr_has 'refs.yaml:7:13: calendars: there is no calendar "holydays"; did you mean "holidays"?'
expect_stderr_has 'refs.yaml:8:20: notify: there is no channel "pager"'
expect_stderr_has 'refs.yaml:2:12: after: there is no job "etl/lod"; did you mean "etl/load"?'
printf 'name: etl/load\nafter: refs\nshell: x\n' >load.yaml
sed 's/lod/load/; /calendars/d; /notify/d' refs.yaml >good.yaml
run peal validate good.yaml jobs/a.yaml load.yaml
expect_status 6
expect_stderr_has 'a job would wait for itself'
run peal validate good.yaml jobs/a.yaml
expect_status 0
run peal validate good.yaml jobs/a.yaml --data "$scratch/nobody"
expect_status 5

# apply says the same places.
run peal apply -f refs.yaml -f jobs/a.yaml
expect_status 6
expect_stderr_has 'refs.yaml:7:13: '
expect_stderr_has 'there is no calendar "holydays"'
expect_stderr_lacks '/put/'
run peal apply -f good.yaml -f jobs/a.yaml -f load.yaml
expect_status 6
expect_stderr_has 'good.yaml:2:12: after: a job would wait for itself: refs -> etl/load -> refs'
expect_stderr_has 'nothing was changed'
run peal stop
unset PEAL_DATA

# Workflows: mistakes in steps, jobs that they name, and steps that never run.
cat >flows.yaml <<'EOF'
name: outer
schedule: "@manual"
steps:
  - name: a
    shell: x
  - name: b
    after: [{step: a, "on": failure}]
    workflow: inner
  - name: c
    after: [a, b]
    job: task
---
name: inner
schedule: "@manual"
steps: [{name: a, shell: x}]
---
name: task
schedule: "@manual"
shell: x
EOF
run peal validate flows.yaml
expect_status 0
expect_stderr_has 'flows.yaml:9:11: warning: step "c" can never run: it needs both the success and the failure of "a"'
sed -i 's/{name: a, shell: x}/{name: a, workflow: outer}/; s/job: task/job: inner/' flows.yaml
run peal validate flows.yaml
expect_status 6
expect_stderr_has 'flows.yaml:11:10: steps[2].job: "inner" is a workflow; use "workflow" instead'
expect_stderr_has 'flows.yaml:15:29: steps: a workflow would contain itself: outer -> inner -> outer'
sed -i 's/after: .a, b./after: [a, d]/; s/^schedule:/retries: 2\nschedule:/' flows.yaml
run peal validate flows.yaml
expect_status 6
expect_stderr_has 'flows.yaml:2:10: retries: belongs to a step, not to the workflow'
expect_stderr_has 'flows.yaml:11:16: steps[2].after[1]: there is no step "d"'

# Outputs: of a workflow that is a step, and those that nobody uses.
cat >outputs.yaml <<'EOF'
name: outer
schedule: "@manual"
steps:
  - name: a
    outputs: [rows, path]
    shell: x
  - name: b
    after: a
    workflow: inner
    with: {n: "${steps.a.rows}"}
  - name: c
    after: b
    shell: echo ${steps.b/load.bytes}
---
name: inner
schedule: "@manual"
params: {n: {default: "1"}}
steps:
  - name: load
    outputs: [bytes, time]
    shell: y
EOF
run peal validate outputs.yaml
expect_status 0
expect_stderr_has 'outputs.yaml:5:21: warning: output "path" of step "a" is declared, but nothing refers to it'
expect_stderr_has 'outputs.yaml:20:22: warning: output "time" of step "load" is declared, but nothing refers to it'
expect_stderr_lacks '"rows"'
expect_stderr_lacks '"bytes"'
sed -i 's/load[.]bytes/load.byte/' outputs.yaml
run peal validate outputs.yaml
expect_status 6
# shellcheck disable=SC2016 # a reference
expect_stderr_has 'outputs.yaml:11:11: steps[2]: ${steps.b/load.byte} names an output that the step does not declare'
sed -i 's,b/load[.]byte,b/laod.bytes,' outputs.yaml
run peal validate outputs.yaml
expect_status 6
# shellcheck disable=SC2016 # a reference
expect_stderr_has 'steps[2]: ${steps.b/laod.bytes} names a step that does not exist'
sed -i 's,b/laod[.]bytes,a.pth,' outputs.yaml
run peal validate outputs.yaml
expect_status 6
# shellcheck disable=SC2016 # a reference
expect_stderr_has 'outputs.yaml:13:17: steps[2].shell: ${steps.a.pth} names an output that step "a" does not have; did you mean "path"?'

mkdir none
run peal validate none
expect_status 6

# What is not a list of schedules.
run peal validate missing
expect_status 3
expect_stderr_has "can't read missing: No such file or directory"
printf '0 0 * * *\n0 0 \0 * *\n' >binary
run peal validate binary
expect_status 6
expect_stderr_has 'binary is not a text file: line 2 has a NUL byte'
head -c 5000 /dev/zero | tr '\0' 0 >long
printf '\n0 3 * * *\n' >>long
run peal validate long
expect_status 6
expect_stderr_has 'long:1: the line is longer than 4096 bytes'
expect_stdout 'long:2: ok 0 3 * * *'
yes '0 3 * * *' | head -c 10485761 >large
run peal validate large
expect_status 6
expect_stderr_has 'large is larger than 10 MB'
run_with_stdin /dev/zero peal validate -
expect_status 6
run bash -c 'peal validate - <&-'
expect_status 1
expect_stderr_has "can't read"

finish
