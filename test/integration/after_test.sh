#!/bin/bash
# Jobs that wait for other jobs, on the command line.
. "$(dirname "$0")/lib.sh"
start_agent data

# add
run peal add extract @manual -- true
run peal add probe @manual -- true
run peal add load --after extract -- true
expect_status 0
expect_stderr 'load: created; runs after extract'
run peal add report --after load --after probe:always --timeout 5m -- true
expect_status 0
expect_stderr 'report: created; runs after load, probe (always)'
run peal add alarm --after extract:failure -- true
expect_status 0
run peal get report -o json
expect_json '[.after, .schedule, .schedules, .timezone, .status.next_at]' \
    '[[{"job":"load"},{"job":"probe","on":"always"}],null,null,null,null]'

# add: mistakes, each with its exit status.
while IFS='|' read -r want_status want args; do
    eval "run peal add $args"
    expect_status "$want_status"
    expect_stderr_has "$want"
done <<'TABLE'
2|when? Give a schedule, or @manual, or --after JOB|x -- true
2|a schedule and --after are one too many|x @daily --after extract -- true
6|after[0].on: "fail" is not one of success, failure or always; did you mean "failure"?|x --after extract:fail -- true
6|a job can't wait for itself|x --after x -- true
6|"extract" is named twice|x --after extract --after extract:always -- true
6|jitter: is for jobs with a schedule|x --after extract --jitter 5s -- true
6|after: there is no job "extrct"; did you mean "extract"?|x --after extrct -- true
6|after: a job would wait for itself: extract -> report -> load -> extract|extract --replace --after report -- true
TABLE

# What is shown.
run peal list
expect_stdout_has 'after load, probe (always)'
run peal get report -o yaml
expect_stdout 'name: report
after: [load, {job: probe, "on": always}]
command: ["true"]
timeout: 5m'
run peal describe report
expect_status 0
expect_stdout_has 'Waits for'
expect_stdout_has 'not yet'
expect_stdout_lacks 'Time zone'
run peal describe extract
expect_stdout_has 'These wait for it
  alarm (on failure)
  load (on success)'
run peal next report
expect_status 0
expect_stderr_has 'report has no ticks: it runs after load, probe (always)'
run peal why report
expect_stdout_has 'It waits for the end of load, probe (on: always).'

# Files, in any order and all at once; and back.
peal export yaml >"$scratch/jobs.yaml"
run peal diff -f "$scratch/jobs.yaml"
expect_status 0
run peal delete extract probe load report alarm --yes
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
run peal describe report
expect_stdout_lacks 'no such job'
run peal export crontab
expect_stdout_has "# left out: cron can't wait for load, probe"
cat >"$scratch/bad.yaml" <<'YAML'
name: late
after: nobody
command: ["true"]
YAML
run peal apply -f "$scratch/bad.yaml"
expect_status 6
expect_stderr_has 'there is no job "nobody"'

# One that is waited for may go; then the other has a problem.
run peal delete load --yes
expect_status 0
run peal list -o wide
expect_stdout_has 'after: there is no job "load"'
run peal describe report
expect_stdout_has 'there is no such job'

finish
