#!/bin/bash
# Every error of SCHEDULES.md, through the program: status 6, the message, and the caret.
. "$(dirname "$0")/lib.sh"

# The caret's column, from 1, behind the two blanks that the text is shifted by.
caret_column() {
    awk '/^ *\^$/ { print length($0) - 2 }' "$scratch/err"
}

while IFS='|' read -r spec column message; do
    for command in next explain validate; do
        run peal $command "$spec"
        expect_status 6
        expect_stdout ''
        expect_stderr_has "peal: invalid schedule: $message"
        expect_stderr_has "  $spec"
        checks=$((checks + 1))
        [ "$(caret_column)" = "$column" ] || mismatch "expected the caret at $column"
    done
    run peal validate "$spec" -o json
    expect_status 6
    expect_json '.[0].ok' false
    expect_json '.[0].column' "$column"
done <<'TABLE'
60 * * * *|1|minute 60 is out of range 0-59
*/0 * * * *|3|a step is 1 or more
*/61 * * * *|3|step 61 is larger than the field (0-59)
0,, * * * *|3|empty list element
5* * * * *|2|unexpected '*' after a number
4294967301 * * * *|1|number too large
0 0 * * 8|9|day of week 8 is out of range 0-7
0 0 * * MONX|9|unknown weekday "MONX"; did you mean MON?
0 0 * * 5#6|11|ordinal is 1..5, -1..-5 or L
30 8 1 1 * 2030|12|day of week 2030; six fields are seconds-first, a year needs seven
* * * *|8|expected 5 to 7 fields, found 4
CRON_TZ=Mars/X 0 0 * * *|9|unknown time zone "Mars/X"
@every -5m|8|an interval is 1s or more
@Hourly|1|unknown macro; did you mean @hourly?
TABLE

# This one has neither white space nor an @: for validate it would be a file's name.
run peal next 'TZ=UTC'
expect_status 6
expect_stderr "peal: invalid schedule: schedule missing after the time zone
  TZ=UTC
        ^"

# A zone twice.
run peal next 'CRON_TZ=UTC 0 0 * * *' --tz Europe/Berlin
expect_status 6
expect_stdout ''

# The caret stands below its character also behind wide ones, and control characters do no harm.
run peal next '一二 * * * *'
expect_status 6
run peal next $'\e[31m * * * *'
expect_status 6
expect_stderr_lacks $'\e'
run peal next $'\xff\xfe * * * *'
expect_status 6
run peal validate $'\xff\xfe * * * *' -o json
expect_status 6
expect_json '.[0].ok' false
run peal next ''
expect_status 6
run peal next "$(printf '0 %.0s' $(seq 10000))"
expect_status 6

finish
