#!/bin/bash
# The program itself: finding a command, helping, and being sure that its output arrived.
. "$(dirname "$0")/lib.sh"

version=$(sed -n 's/^project(peal VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")

# Version.
for ask in version --version -V; do
    run peal $ask
    expect_status 0
    expect_stdout_has "peal $version"
    expect_stderr ''
done
run peal version now
expect_status 2

# Help goes to stdout where it was asked for, and shows examples before anything else.
for ask in help --help -h; do
    run peal $ask
    expect_status 0
    expect_stdout_has 'Jobs:'
done
run peal --help
commands=$(sed -n 's/^  \([a-z-]*\)  *[a-z].*/\1/p' "$scratch/out" | grep -v -e '^peal$' -e '^help$')
run test "$(echo "$commands" | wc -l)" -ge 30
expect_status 0
for command in $commands; do
    run peal help "$command"
    expect_status 0
    expect_stdout_has "peal $command - "
    cp "$scratch/out" "$scratch/help"
    run sed -n 3p "$scratch/help"
    expect_stdout_has 'Example'
    run peal "$command" --help
    expect_status 0
    expect_stdout "$(cat "$scratch/help")"
done
run peal next '* * *' --tz Nowhere --help
expect_status 0

# Wrong usage: status 2, nothing on stdout, and where to look.
while IFS='|' read -r line words; do
    # shellcheck disable=SC2086 # words of a command line
    run peal $line
    expect_status 2
    expect_stdout ''
    expect_stderr_has "$words"
done <<'TABLE'
|Usage: peal COMMAND
nxt|unknown command "nxt"; did you mean next?
explian @daily|did you mean explain?
valdate|did you mean validate?
hepl|did you mean help?
frobnicate|unknown command "frobnicate"
help nxt|did you mean next?
next|which schedule?
next --frm now @daily|unknown option --frm; did you mean --from?
next --zzzzzz @daily|unknown option --zzzzzz
next -x @daily|unknown option -x
next @daily -n|option -n needs a value
next @daily --tz|option --tz needs a value
next @daily --from|See: peal next --help
next @daily -n 0|-n is a number from 1 to 10000, not "0"
next @daily -n 10001|-n is a number from 1 to 10000, not "10001"
next @daily -n ten|not "ten"
next @daily -n 5x|not "5x"
next @daily -n 99999999999999999999|not "99999999999999999999"
next @daily -n -1|not "-1"
next @daily -o xml|-o is table or json, not "xml"
next @daily --dst twice|--dst is
next @daily --profile vixie|--profile is peal, quartz, aws, jenkins, k8s or ocps-strict, not "vixie"
next @daily --tz Mars/X|--tz: unknown time zone "Mars/X"
next @daily --from yesterday|--from: 
next @daily --until 2026-13-01|--until: 
next @daily --jitter fast|--jitter: 
next @daily --from 2027-01-01 --until 2026-01-01|--until is before --from
next @daily --start 2027-01-01 --end 2027-01-01|--start must be before --end
explain|which schedule?
explain @daily @hourly|one schedule at a time
explain @daily --lang fr|--lang is en or zh, not "fr"
explain @daily -o table|-o is text or json, not "table"
validate|validate what?
validate a b|one schedule, in quotes, or one file
--data /nowhere|unknown command "--data"
--data /nowhere lst|did you mean list?
list --failed=1|option --failed takes no value
list -o=jso|-o is table, wide, json, yaml or name, not "jso"; did you mean json?
list x|list takes no names; one job: peal get x
get|which job? All of them: peal list
run a b|which job? One at a time
run a --timeout 5s|--timeout is how long to wait; it needs --wait or --follow
pause a --all|names, or a filter; not both
add|which name?
add x|when? Give a schedule, or @manual, or --after JOB
add x @daily|what? Give a command after --
add x @daily --notes -- true|option --notes needs a value
calendar|what about calendars? peal calendar list, show, preview, set or delete
calendar sett|peal calendar is set, show, preview, list or delete, not "sett"; did you mean set?
calendar set|See: peal calendar set --help
calendar list --weekday sat|--weekday is for peal calendar set
cluster status --from x|--from is for peal cluster import
tls|expected: peal tls init
import csv|peal import is crontab, fleet, gocron, dkron, kubernetes, systemd, yaml or xxl-job, not "csv"
import|what to import? peal import yaml, crontab, fleet, systemd, kubernetes, dkron, gocron or xxl-job
rollback a 0|REVISION is a number from 1 to
completion tcsh|the shell is bash, zsh, fish or man, not "tcsh"
TABLE

# Options may come before the command, and one of a letter may have its value behind `=`.
run peal -o=json --data "$scratch/nowhere" state
expect_status 3
expect_json .state '"stopped"'
run peal --data "$scratch/nowhere" --output json state
expect_status 3
expect_json .data "\"$scratch/nowhere\""
run peal user --data "$scratch/nowhere" list
expect_status 5
run peal help calendar set
expect_stdout_has 'peal calendar set - '
run peal --data "$scratch/nowhere" calendar set --help
expect_stdout_has 'Usage: peal calendar set NAME'

# Output that does not arrive is an error.
for line in 'next @daily' 'next @daily -o json -n 1000' 'explain @daily' 'validate @daily' \
    'validate @daily -o json' 'version' 'help' 'help next'; do
    # shellcheck disable=SC2086 # words of a command line
    run sh -c "peal $line >/dev/full"
    expect_status 1
    expect_stderr_has "peal: can't write the output"
    run sh -c "peal $line >&-"
    expect_status 1
    expect_stderr_has "peal: can't write the output"
done
run sh -c "peal next @daily >/dev/full"
expect_stderr "peal: can't write the output: No space left on device"
run bash -c "trap '' PIPE; peal next @secondly -n 10000 | true; exit \${PIPESTATUS[0]}"
expect_status 1
run bash -c "peal next @secondly -n 10000 | true; exit \${PIPESTATUS[0]}"
expect_status 141 # of SIGPIPE

finish
