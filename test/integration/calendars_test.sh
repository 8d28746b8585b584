#!/bin/bash
# peal calendar, and jobs that go by one.
. "$(dirname "$0")/lib.sh"
start_agent data

run peal calendar list
expect_status 0
expect_stdout ''
expect_stderr_has 'no calendars; make one: peal calendar set'

run peal calendar set holidays 2026-12-26 12-25 --weekday sun --notes 'Closed.'
expect_status 0
expect_stderr 'holidays: made, in use by 0 jobs'
run peal calendar show holidays
expect_status 0
expect_stdout 'Name:       holidays
Notes:      Closed.
Weekdays:   sun
Dates:      12-25
            2026-12-26
Jobs:       none'

# what is shown as YAML can be set again
run peal calendar show holidays -o yaml
expect_status 0
cp "$scratch/out" "$scratch/holidays.yaml"
run peal calendar set holidays -f "$scratch/holidays.yaml"
expect_status 0
run peal calendar show holidays -o json
expect_stdout_has '"revision": 1'
run_with_stdin "$scratch/holidays.yaml" peal calendar set copy -f -
expect_status 6
expect_stderr_has 'stdin:1:7: name: is "holidays", but it is to be "copy"'

# mistakes have their place
printf 'dates:\n- 2026-12-25\n- 2026-02-30\n' >"$scratch/wrong.yaml"
run peal calendar set holidays -f "$scratch/wrong.yaml"
expect_status 6
expect_stderr_has 'wrong.yaml:3:11: dates[1]: day 30 is out of range 1-28'
run peal calendar set holidays christmas
expect_status 6
expect_stderr_has 'dates[0]: not a date; write it like 2026-12-25'
run peal calendar set holidays --weekday satt
expect_status 6
expect_stderr_has 'did you mean sat?'
run peal calendar set holidays
expect_status 2
run peal calendar set holidays 12-25 -f "$scratch/holidays.yaml"
expect_status 2
run peal calendar show nothing
expect_status 3
expect_stderr_has 'See: peal calendar list'
run peal calendar
expect_status 2

# a job that names it
run peal add report '0 9 * * *' --tz UTC --calendar holidayz -- true
expect_status 6
expect_stderr_has 'there is no calendar "holidayz"; did you mean "holidays"?'
run peal add report '0 9 * * *' --tz UTC --calendar holidays -- true
expect_status 0
run peal get report -o yaml
expect_stdout_has 'calendars: [holidays]'
run peal next report -n 10
expect_status 0
expect_stderr_has 'calendar holidays'
run peal describe report
expect_stdout_has 'calendars: [holidays]'
run peal calendar list -o name
expect_stdout holidays
run peal calendar delete holidays --yes
expect_status 4
expect_stderr_has 'calendar "holidays" is in use by report; take it out of those jobs first'

# every day is out: nothing runs by itself, and why says so
run peal calendar set holidays --weekday mon,tue,wed --weekday thu,fri,sat,sun
expect_status 0
expect_stderr 'holidays: set, in use by 1 job'
run peal next report
expect_status 0
expect_stderr_has 'report has no next tick'
run peal why report "$(date -u -d 'tomorrow 09:00' +%Y-%m-%dT%H:%M:%SZ)"
expect_stdout_has 'its date is on the calendar "holidays"'
run peal add often '* * * * * *' --calendar holidays -- true
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
has_pending() {
    peal runs often --ledger -o json |
        jq -e '.[] | select(.reason == "calendar" and .detail == "holidays" and .pending)'
}
wait_until has_pending
run peal runs --ledger
expect_stdout_has 'skipped (calendar)'
run peal why often
expect_stdout_has 'It was skipped: a calendar of the job excludes this time (holidays)'
run peal delete often --yes
expect_status 0
run sh -c "peal runs --ledger -o json | jq -c '[.[] | select(.job == \"often\") | [.reason, .pending]]'"
expect_stdout '[["calendar",null]]'
run peal run report --wait
expect_status 0
run peal audit --action calendar_create,calendar_change -o json
expect_stdout_has '"calendar_change"'

run peal delete report --yes
expect_status 0
run peal calendar delete holidays --yes
expect_status 0
expect_stderr 'holidays: deleted'

# days that a job requires
run peal calendar set trading --weekday mon,tue,wed,thu,fri
expect_status 0
run peal add settle '0 18 * * *' --tz UTC --only-on tradings -- true
expect_status 6
expect_stderr_has 'only_on[0]: there is no calendar "tradings"; did you mean "trading"?'
run peal add settle '0 18 * * *' --tz UTC --only-on trading -- true
expect_status 0
run peal get settle -o yaml
expect_stdout_has 'only_on: '
run peal next settle -n 10
expect_status 0
expect_stderr_has 'calendar trading'
expect_stdout_lacks 'Sat '
expect_stdout_lacks 'Sun '
run peal calendar delete trading --yes
expect_status 4
run peal calendar set trading 2001-01-01
expect_status 0
run peal why settle
expect_stdout_has 'its date is not on the calendar trading'
run peal next settle
expect_stdout ''

# what a calendar does
run peal calendar set trading --weekday mon,tue,wed,thu,fri
run peal add daily '0 12 * * *' --tz UTC -- true
run peal calendar preview trading --from 2026-01-01T00:00:00Z --to 2026-01-08T00:00:00Z
expect_status 0
expect_stdout 'Dates:      2026-01-01 2026-01-02 2026-01-05 2026-01-06 2026-01-07

settle (only_on): 2 ticks skipped
  2026-01-03T18:00:00Z
  2026-01-04T18:00:00Z'
run peal calendar preview trading --job daily --from 2026-01-01T00:00:00Z --to 2026-01-03T00:00:00Z
expect_stdout_has 'daily (calendars): 2 ticks skipped'
run peal calendar preview trading --job daily --from 2026-01-01T00:00:00Z --to 2028-01-01T00:00:00Z
expect_status 6
run peal calendar preview nothing
expect_status 3

# windows, by the calendar's own clock
run peal calendar set office --window 'mon-fri 09:00-17:30' --window '2096-06-02 12:00-24:00' \
    --tz Europe/Berlin
expect_status 0
run peal calendar show office
expect_stdout 'Name:       office
Windows:    mon-fri 09:00-17:30
            2096-06-02 12:00-24:00
Time zone:  Europe/Berlin
Jobs:       none'
run peal calendar show office -o yaml
cp "$scratch/out" "$scratch/office.yaml"
run peal calendar set office -f "$scratch/office.yaml"
expect_status 0
run peal calendar show office -o json
expect_stdout_has '"revision": 1'
run peal add sync '0 */3 * * *' --tz UTC --calendar office -- true
expect_status 0
run peal calendar preview office --from 2096-06-01T00:00:00Z --to 2096-06-02T00:00:00Z
expect_status 0
expect_stdout 'Dates:      none
Windows:    2096-06-01T09:00:00+02:00 - 2096-06-01T17:30:00+02:00 (mon-fri 09:00-17:30)

sync (calendars): 3 ticks skipped
  2096-06-01T09:00:00Z
  2096-06-01T12:00:00Z
  2096-06-01T15:00:00Z'
run peal why sync 2096-06-01T12:00:00Z
expect_stdout_has 'it is in the window "mon-fri 09:00-17:30" of the calendar "office"'
run peal --lang zh why sync 2096-06-01T12:00:00Z
expect_stdout_has '时段“mon-fri 09:00-17:30”'
run peal next sync -n 20
expect_stderr_has 'calendar office, mon-fri 09:00-17:30'
run peal calendar set office --window 9-17
expect_status 6
expect_stderr_has 'windows[0]: not a window; write it like 09:00-17:30'
run peal calendar set office --tz Mars/X
expect_status 6
expect_stderr_has 'unknown time zone "Mars/X"'

# the ledger names the window, and plan counts by it
run peal calendar set always --window 00:00-12:00 --window 12:00-24:00
run peal add often '* * * * * *' --calendar always -- true
# shellcheck disable=SC2317 # called by wait_until
is_named() {
    peal runs often --ledger -o json | jq -e '.[] | select(.detail | startswith("always: "))'
}
wait_until is_named
mkdir -p "$scratch/calendars"
run peal calendar show office -o yaml
cp "$scratch/out" "$scratch/calendars/office.yaml"
printf 'name: sync\nschedule: "0 */3 * * *"\ntimezone: UTC\ncommand: ["true"]\n' >"$scratch/old.yaml"
printf 'name: sync\nschedule: "0 */3 * * *"\ntimezone: UTC\ncommand: ["true"]\ncalendars: [office]\n' \
    >"$scratch/new.yaml"
run peal plan -f "$scratch/new.yaml" --against "$scratch/old.yaml" --calendars "$scratch/calendars"
expect_stdout_has 'calendars leave'
finish
