#!/bin/bash
# peal calendar set --ical: the dates of an iCalendar file.
. "$(dirname "$0")/lib.sh"
start_agent data

year=$(($(date -u +%Y) + 1))
ics() { # LINE...
    printf 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\n'
    cat
    printf 'END:VCALENDAR\r\n'
}
event() { # LINE...
    printf 'BEGIN:VEVENT\r\nDTSTAMP:20200101T000000Z\r\n'
    printf '%s\r\n' "$@"
    printf 'END:VEVENT\r\n'
}
# what the events mean, within next year: what is out of it is left to the span
dates_are() { # DATES..., of the file $scratch/c.ics
    run peal calendar set c --ical "$scratch/c.ics" --years 3
    expect_status 0
    run peal calendar preview c --from "$year-01-01T00:00:00Z" --to "$year-12-31T00:00:00Z"
    expect_stdout "Dates:      $*"
}

# all-day events: the end is exclusive, and may be missing
event UID:1 "DTSTART;VALUE=DATE:${year}0501" | ics >"$scratch/c.ics"
dates_are "$year-05-01"
event UID:1 "DTSTART;VALUE=DATE:${year}0501" "DTEND;VALUE=DATE:${year}0503" | ics >"$scratch/c.ics"
dates_are "$year-05-01 $year-05-02"
event UID:1 "DTSTART;VALUE=DATE:${year}0501" DURATION:P2D | ics >"$scratch/c.ics"
dates_are "$year-05-01 $year-05-02"

# timed ones are windows: instants, or what any clock shows
windows_are() { # WINDOWS..., of the file $scratch/c.ics
    run peal calendar set c --ical "$scratch/c.ics" --years 3
    expect_status 0
    run sh -c "peal calendar show c -o json | jq -c '[.dates, .windows]'"
    expect_stdout "[[],$1]"
}
event UID:1 "DTSTART:${year}0501T220000Z" "DTEND:${year}0502T020000Z" | ics >"$scratch/c.ics"
windows_are "[\"$year-05-01T22:00Z/$year-05-02T02:00Z\"]"
event UID:1 "DTSTART:${year}0501T220000" DURATION:PT30M | ics >"$scratch/c.ics"
windows_are "[\"$year-05-01T22:00/$year-05-01T22:30\"]"
event UID:1 "DTSTART;TZID=America/New_York:${year}0501T220000" \
    "DTEND;TZID=America/New_York:${year}0501T230000" | ics >"$scratch/c.ics"
windows_are "[\"$year-05-02T02:00Z/$year-05-02T03:00Z\"]"
{
    event UID:1 "DTSTART:${year}0501T090000Z" "DTEND:${year}0501T100000Z" 'RRULE:FREQ=DAILY;COUNT=3'
    event UID:1 "RECURRENCE-ID:${year}0502T090000Z" "DTSTART:${year}0502T120000Z" \
        "DTEND:${year}0502T130000Z"
} | ics >"$scratch/c.ics"
windows_are "[\"$year-05-01T09:00Z/$year-05-01T10:00Z\",\"$year-05-02T12:00Z/$year-05-02T13:00Z\",\"$year-05-03T09:00Z/$year-05-03T10:00Z\"]"
event UID:1 "DTSTART:${year}0501T090000Z" | ics >"$scratch/c.ics" # takes no time
dates_are none
{
    event UID:1 "DTSTART;VALUE=DATE:${year}0501"
    event UID:2 "DTSTART:${year}0502T090000Z" "DTEND:${year}0502T100000Z"
} | ics >"$scratch/c.ics"
run peal calendar set c --ical "$scratch/c.ics"
run peal calendar preview c --from "$year-05-01T00:00:00Z" --to "$year-05-03T00:00:00Z"
expect_stdout "Dates:      $year-05-01
Windows:    $year-05-02T09:00:00Z - $year-05-02T10:00:00Z ($year-05-02T09:00Z/$year-05-02T10:00Z)"

# recurrences, without their exceptions, and with those that were moved
event UID:1 DTSTART\;VALUE=DATE:20200704 RRULE:FREQ=YEARLY | ics >"$scratch/c.ics"
dates_are "$year-07-04"
event UID:1 "DTSTART;VALUE=DATE:${year}0101" 'RRULE:FREQ=MONTHLY;COUNT=3' \
    "EXDATE;VALUE=DATE:${year}0201" "RDATE;VALUE=DATE:${year}0205" | ics >"$scratch/c.ics"
dates_are "$year-01-01 $year-02-05 $year-03-01"
{
    event UID:1 "DTSTART;VALUE=DATE:${year}0101" 'RRULE:FREQ=MONTHLY;COUNT=3'
    event UID:1 "RECURRENCE-ID;VALUE=DATE:${year}0201" "DTSTART;VALUE=DATE:${year}0207"
} | ics >"$scratch/c.ics"
dates_are "$year-01-01 $year-02-07 $year-03-01"
{
    event UID:1 "DTSTART;VALUE=DATE:${year}0101" 'RRULE:FREQ=MONTHLY;COUNT=3'
    event UID:1 "RECURRENCE-ID;VALUE=DATE:${year}0201" "DTSTART;VALUE=DATE:${year}0201" \
        STATUS:CANCELLED
} | ics >"$scratch/c.ics"
dates_are "$year-01-01 $year-03-01"
event UID:1 "DTSTART;VALUE=DATE:${year}0501" STATUS:CANCELLED | ics >"$scratch/c.ics"
dates_are none
ics </dev/null >"$scratch/c.ics"
dates_are none

# from stdin, with notes; the rest is as with other calendars
event UID:1 "DTSTART;VALUE=DATE:${year}0501" | ics >"$scratch/c.ics"
run_with_stdin "$scratch/c.ics" peal calendar set c --ical - --notes 'of the state'
expect_status 0
run peal calendar show c
expect_stdout_has 'Notes:      of the state'

# mistakes
refused() { # STATUS MESSAGE
    run peal calendar set c --ical "$scratch/c.ics"
    expect_status "$1"
    expect_stderr_has "$2"
}
echo 'dates: []' >"$scratch/c.ics"
refused 6 'there is no calendar (BEGIN:VCALENDAR) in it'
: >"$scratch/c.ics"
refused 6 'there is no calendar'
event UID:1 | ics >"$scratch/c.ics"
refused 6 'an event has no DTSTART'
event UID:1 DTSTART:20200101T000000Z RRULE:FREQ=SECONDLY | ics >"$scratch/c.ics"
refused 6 'repeats by the hour, minute or second'
event UID:1 "DTSTART:${year}0501T000000Z" 'RRULE:FREQ=DAILY;BYMINUTE=0,1,2,3,4;BYHOUR=1,2,3,4,5' |
    ics >"$scratch/c.ics"
refused 6 'or more than 24 times a day'
event UID:1 "DTSTART:${year}0501T090000Z" "DTEND:${year}0501T100000Z" RRULE:FREQ=DAILY |
    ics >"$scratch/c.ics"
refused 6 'more than 1000 timed events in that time; give fewer --years'
run peal calendar set c --ical "$scratch/c.ics" 12-25
expect_status 2
run peal calendar set c 12-25 --years 3
expect_status 2
run peal calendar set c --ical "$scratch/nothing.ics"
expect_status 3
finish
