#!/bin/bash
# Many jobs in files: apply and diff compare digests, and send and read only what differs. The
# definitions are random; PEAL_SEED repeats a run.
. "$(dirname "$0")/lib.sh"
start_agent data --listen none
seed=${PEAL_SEED:-$(($(date +%s%N) % 1000000007))}
echo "PEAL_SEED=$seed"
count=1200

expect_lines() { # PATTERN NUMBER
    checks=$((checks + 1))
    [ "$(grep -c "$1" "$scratch/out")" -eq "$2" ] || mismatch "expected $2 lines like $1"
}

# Files of 250 jobs.
mkdir "$scratch/jobs"
awk -v seed="$seed" -v count=$count -v folder="$scratch/jobs" '
function roll(n) { return int(rand() * n) }
function text() { return "\"" words[1 + roll(words_count)] " " roll(10) "\"" }
BEGIN {
    srand(seed)
    words_count = split("plain|with: colon|\\\"quoted\\\"|it is|# no comment|世界|\\ttab|*|null|007", words, "|")
    schedules[0] = "  schedule: \"@manual\""
    schedules[1] = "  schedule: \"%d 5 * * *\""
    schedules[2] = "  schedules: [\"@every %dm\", \"30 3 * * *\"]"
    schedules[3] = "  schedule: \"%d 4 * * *\"\n  timezone: Europe/Berlin"
    for (i = 0; i < count; i++) {
        file = folder "/f" int(i / 250) ".yaml"
        print "- name: team" i % 7 "/job-" i > file
        printf schedules[roll(4)] "\n", roll(59) + 1 > file
        if (roll(2))
            print "  command: [echo, " text() ", " text() "]" > file
        else
            print "  shell: |\n    echo one\n    echo " roll(1000) > file
        if (!roll(3)) print "  env: {A: " text() ", DB_PASSWORD: " text() "}" > file
        if (!roll(3)) print "  labels: {team: t" roll(5) "}" > file
        if (!roll(3)) print "  timeout: " roll(100) + 1 "s" > file
        if (!roll(4)) print "  overlap: allow" > file
        if (!roll(4)) print "  paused: true" > file
        if (!roll(4)) print "  notes: " text() > file
    }
}'

run peal diff -f "$scratch/jobs"
expect_status 1
expect_lines '^+++ files/' $count
run peal apply -f "$scratch/jobs"
expect_status 0
expect_lines '^created ' $count

# Now all are the same, to both of them, and none is sent.
run peal diff -f "$scratch/jobs"
expect_status 0
expect_stdout ''
run peal apply -f "$scratch/jobs"
expect_status 0
expect_stdout ''
expect_stderr "$count unchanged"

# A list is printed page by page, and is one table all the same.
run peal list
expect_status 0
expect_lines '' $((count + 1))
expect_lines '^NAME ' 1
run peal list -o name
expect_lines '' $count
run peal list --paused
expect_lines '^team' "$(cat "$scratch"/jobs/*.yaml | grep -c '^  paused: true')"
run peal list --failed
expect_stdout ''
expect_stderr 'no such jobs'

# Exactly what differs is shown and changed.
changed=()
for ((i = seed % 200; i < count; i += 200)); do
    changed+=("team$((i % 7))/job-$i")
    sed -i "s|^- name: ${changed[-1]}\$|&\n  owner: night shift|" "$scratch"/jobs/*.yaml
done
run peal diff -f "$scratch/jobs"
expect_status 1
expect_lines '^+++ files/' ${#changed[@]}
for name in "${changed[@]}"; do
    expect_stdout_has "+++ files/$name"
done
run peal apply -f "$scratch/jobs"
expect_status 0
expect_lines '^changed ' ${#changed[@]}
for name in "${changed[@]}"; do
    expect_stdout_has "changed $name"
done
expect_stderr "$((count - ${#changed[@]})) unchanged"

# More differences than are asked for one by one; jobs that are in no file.
sed -i 's|^- name: team3/.*|&\n  umask: "027"|' "$scratch"/jobs/*.yaml
run peal diff -f "$scratch/jobs"
expect_status 1
expect_lines '^+++ files/team3/' "$(cat "$scratch"/jobs/*.yaml | grep -c '^- name: team3/')"
expect_stdout_lacks '+++ files/team4/'
rm "$scratch/jobs/f4.yaml"
run peal diff -f "$scratch/jobs" --prune
expect_status 1
expect_lines '^+++ /dev/null' $((count - 1000))

# The same name in two files is told, however many there are.
cp "$scratch/jobs/f0.yaml" "$scratch/jobs/again.yaml"
run peal apply -f "$scratch/jobs"
expect_status 6
expect_stderr_has 'is defined twice'

# A file of several calls: its jobs are checked while the rest is read, and none is written before all
# are checked, by the command and by the agent.
seq 11000 | awk '{
    printf "---\nname: large/job-%05d\nschedule: %d 3 * * *\nshell: report %d\n", $1, $1 % 60, $1
}' >"$scratch/large.yaml"
with_another() { # LINE...
    {
        cat "$scratch/large.yaml"
        printf -- '---\nname: large/another\n'
        printf '%s\n' "$@"
    } >"$scratch/another.yaml"
}
expect_nothing_written() {
    expect_status 6
    run peal list -q large/ -o name
    expect_stdout ''
}
with_another 'schedule: 99 3 * * *' 'shell: x'
run peal apply -f "$scratch/another.yaml"
expect_stderr_has "$scratch/another.yaml:44003:11"
expect_nothing_written
with_another 'schedule: 9 3 * * *' 'shell: x' 'calendars: [nowhere]'
run peal apply -f "$scratch/another.yaml"
expect_stderr_has "$scratch/another.yaml:44005:"
expect_nothing_written
with_another 'schedule: 9 3 * * *' "shell: 'it''s'" 'umask: 022' # for libyaml, and wrong
run peal apply -f "$scratch/another.yaml"
expect_stderr_has "$scratch/another.yaml:44005:8"
expect_nothing_written
run peal apply -f "$scratch/large.yaml" --dry-run
expect_status 0
expect_lines '^would create large/job-' 11000
with_another 'after: large/job-00001' 'shell: x' # must be in the same call
run peal apply -f "$scratch/another.yaml"
expect_status 0
expect_lines '^created large/' 11001
run peal apply -f "$scratch/another.yaml" --prune --yes
expect_status 0
expect_lines '^created ' 0
sed -i 's|large/job|larger/job|' "$scratch/large.yaml"
run peal apply -f "$scratch/large.yaml" --prune --yes # new ones and deletes together
expect_status 0
expect_lines '^created larger/' 11000
expect_lines '^deleted large/' 11001
run peal describe larger/job-11000
expect_status 0
run peal apply -f "$scratch/large.yaml"
expect_status 0
expect_stderr '11000 unchanged'

finish
