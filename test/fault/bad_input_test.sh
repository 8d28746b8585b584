#!/bin/bash
# Whatever is given to `peal apply`: a mistake is told with its place, and nothing changes.
. "$(dirname "$0")/lib.sh"

start_peal
cd "$scratch" || exit 1
echo '{name: kept, schedule: "@manual", command: [/bin/true]}' >good.yaml
run peal apply -f good.yaml
expect_status 0
peal list -o yaml >before

refuse() { # STATUS WORDS; bad.yaml
    run peal apply -f bad.yaml
    expect_status "$1"
    expect_stderr_has "$2"
    run peal list -o yaml
    expect_stdout "$(cat before)"
}

# Each is a whole file: the good job in front of it must not be taken either.
while IFS='|' read -r text words; do
    printf '{name: new, schedule: "@manual", command: [/bin/true]}\n---\n%b\n' "$text" >bad.yaml
    refuse 6 "$words"
done <<'TABLE'
name: [unclosed|bad.yaml:
\tname: tab|bad.yaml:
name: a\nschedule: "75 * * * *"\ncommand: [x]|bad.yaml:4:
name: a\nshedule: "@daily"\ncommand: [x]|did you mean "schedule"?
name: a\nschedule: */5 * * * *\ncommand: [x]|bad.yaml:4:
name: a\nschedule: "@daily"|bad.yaml:
name: a\ncommand: [x]|bad.yaml:
schedule: "@daily"\ncommand: [x]|name
name: new\nschedule: "@daily"\ncommand: [x]|new
name: a\nname: b\nschedule: "@daily"\ncommand: [x]|name
name: "a b"\nschedule: "@daily"\ncommand: [x]|bad.yaml:3:
name: a\nschedule: "@daily"\ncommand: [x]\ntimezone: Mars/X|Mars/X
name: a\nschedule: "@daily"\ncommand: [x]\noverlap: maybe|bad.yaml:6:
name: a\nschedule: "@daily"\ncommand: [x]\nenv: &a [*a]|bad.yaml:
name: a\nschedule: "@daily"\ncommand: ["\\x00"]|bad.yaml:
name: \xff\xfe|bad.yaml:
just words|bad.yaml:
TABLE

# Nothing, a folder without files, a file that is not there or is no text.
: >bad.yaml
refuse 6 'there are no jobs in bad.yaml'
mkdir empty
run peal apply -f empty --prune --yes
expect_status 6
expect_stderr_has 'there are no jobs in empty'
run peal list -o yaml
expect_stdout "$(cat before)"
run peal apply -f missing.yaml
expect_status 3
expect_stderr_has missing.yaml
head -c 100000 /dev/urandom >bad.yaml
refuse 6 bad.yaml

# Large files: ten megabytes are read, more are not.
{
    echo 'name: large'
    echo 'schedule: "@manual"'
    echo 'command: [/bin/true]'
    printf 'notes: "'
    head -c 10485000 /dev/zero | tr '\0' n
    echo '"'
} >bad.yaml
run peal apply -f bad.yaml
expect_status 6
expect_stderr_has bad.yaml
{
    printf 'name: script\nschedule: "@manual"\nshell: "'
    head -c 131072 /dev/zero | tr '\0' '#'
    echo '"'
} >bad.yaml
refuse 6 'shell: is longer than 131071 bytes' # no shell could be given more
head -c 20000000 /dev/zero | tr '\0' '#' >bad.yaml
refuse 6 bad.yaml
for i in {1..60000}; do
    echo "- {name: j, schedule: \"@manual\", command: [x]}"
done >bad.yaml
refuse 6 '"j"'
expect_stderr_lacks Sanitizer

run peal state
expect_status 0
check_logs
finish
