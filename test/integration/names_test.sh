#!/bin/bash
# Names of any script, through all that shows or takes a name.
. "$(dirname "$0")/lib.sh"
start_agent data --listen none

run peal add 备份/数据库 '@manual' -- printenv PEAL_JOB
expect_status 0
run peal add отчёт --after 备份/数据库 -- true
expect_status 0
run peal run 备份/数据库 --wait
expect_status 0
run peal logs 备份/数据库
expect_stdout 备份/数据库
run peal list -o name
expect_stdout "отчёт
备份/数据库"
run peal runs 备份/数据库 -o json
expect_json 'map(.job) | unique' '["备份/数据库"]'

# A wide name takes two columns for each letter, so that what follows is in line.
run peal list
checks=$((checks + 1))
[ "$(grep -c '  @manual \|  after 备份' "$scratch/out")" -eq 2 ] || mismatch 'expected the columns in line'

# A mistyped one is answered with the nearest.
run peal get 备份/数锯库
expect_status 3
expect_stderr_has 'did you mean 备份/数据库?'

# Deleted and back again.
run peal delete отчёт --yes
expect_status 0
run peal undelete отчёт
expect_status 0

# In files, and back out of them.
run peal list -o yaml
cp "$scratch/out" "$scratch/jobs.yaml"
run peal diff -f "$scratch/jobs.yaml"
expect_status 0

# What can't be told apart by eye is refused: separate accents, marks of direction, what has no width.
while IFS='|' read -r message name; do
    run peal add "$(printf '%b' "$name")" @daily -- true
    expect_status 6
    expect_stderr_has "$message"
done <<'END'
is written with separate accents|cafe\u0301
may hold letters, digits and . _ / - only|a\u202eb
may hold letters, digits and . _ / - only|a\u200bb
must start with a letter or a digit|\u3164
END

finish
