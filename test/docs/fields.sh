#!/bin/bash
# Every field of a job that has an option in the table of fields is an option of `peal add`, and its
# words can be completed.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

sed -n 's/.*\.option = "\([a-z-]*\)".*/\1/p' "$source_dir/src/job/definition/job_fields.c" >"$scratch/options"
run grep -c . "$scratch/options"
checks=$((checks + 1))
[ "$(cat "$scratch/out")" -ge 17 ] || mismatch 'expected the options of the table'

run peal add --help
expect_status 0
while read -r option; do
    expect_stdout_has "    --$option"
done <"$scratch/options"
expect_stdout_has '(default), allow, queue or replace'

run peal completion bash
expect_stdout_has "'add --overlap') source='=skip allow queue replace'"
expect_stdout_has "'add --calendar') source='calendar list'"
expect_stdout_has "'add --notify') source='channel list'"
expect_stdout_has "'add --cwd') source='files'"
expect_stdout_has "'add --after') source='list'"
finish
