#!/bin/bash
# peal next: the right times, in the right form.
. "$(dirname "$0")/lib.sh"

ny=America/New_York

# The day that the clock jumps.
run peal next '30 2 * * *' --tz $ny --from 2026-03-08T00:00:00 -n 2 -o json
expect_status 0
expect_json . '{"spec":"30 2 * * *","tz":"America/New_York","fires":[{"at":"2026-03-08T07:00:00Z","local":"2026-03-08T03:00:00-04:00","note":"moved: 02:30 does not exist on this day"},{"at":"2026-03-09T06:30:00Z","local":"2026-03-09T02:30:00-04:00"}]}'
run peal next '30 2 * * *' --tz $ny --from 2026-03-08T00:00:00 -n 2
expect_stdout "AT (UTC)              LOCAL (America/New_York)       IN     NOTE
2026-03-08T07:00:00Z  Sun 2026-03-08T03:00:00-04:00  2h     moved: 02:30 does not exist on this day
2026-03-09T06:30:00Z  Mon 2026-03-09T02:30:00-04:00  1d 1h"
run peal next '30 2 * * *' --tz $ny --from 2026-03-08 -n 1 --dst skip -o json
expect_json '[.fires[].at]' '["2026-03-09T06:30:00Z"]'

# The day that it repeats an hour.
run peal next '30 1 * * *' --tz $ny --from 2026-11-01 -n 2 -o json
expect_json '[.fires[] | [.at, .note]]' \
    '[["2026-11-01T05:30:00Z","first of two: 01:30 happens twice on this day"],["2026-11-02T06:30:00Z",null]]'
run peal next '30 1 * * *' --tz $ny --from 2026-11-01 -n 2 --dst both -o json
expect_json '[.fires[] | [.at, .note]]' \
    '[["2026-11-01T05:30:00Z","first of two: 01:30 happens twice on this day"],["2026-11-01T06:30:00Z","second of two: 01:30 happens twice on this day"]]'

# Times of one schedule: options, spec, and all of `at`.
while IFS='|' read -r options spec want; do
    # shellcheck disable=SC2086 # options
    run peal next $options -o json "$spec"
    expect_status 0
    expect_json '[.fires[].at] | join(" ")' "\"$want\""
done <<'TABLE'
--from 2026-01-01T00:00:00Z -n 2|* * * * *|2026-01-01T00:01:00Z 2026-01-01T00:02:00Z
--from 2026-01-01T00:00:00Z -n 2|*/30 * * * * *|2026-01-01T00:00:30Z 2026-01-01T00:01:00Z
--from 2026-01-01T01:00:00+01:00 -n 1|@hourly|2026-01-01T01:00:00Z
--from 2026-01-01 -n 1 --tz Asia/Shanghai|@daily|2026-01-01T16:00:00Z
--from 2026-01-01 -n 1|CRON_TZ=Asia/Shanghai @daily|2026-01-01T16:00:00Z
--from 2026-01-01T00:00:00Z --until 2026-01-01T03:00:00Z|@hourly|2026-01-01T01:00:00Z 2026-01-01T02:00:00Z 2026-01-01T03:00:00Z
--from 2026-01-01 --start 2026-01-03 --end 2026-01-05|@daily|2026-01-03T00:00:00Z 2026-01-04T00:00:00Z
--from 2026-01-01 -n 2 --start 2026-01-01T00:00:10Z|@every 1m|2026-01-01T00:00:10Z 2026-01-01T00:01:10Z
--from 2026-01-01|@at 2027-01-01T00:00:00Z|2027-01-01T00:00:00Z
--from 2026-01-01 -n 1|0 0 29 2 *|2028-02-29T00:00:00Z
--from 2026-01-01 -n 1 --profile quartz|0 0 12 ? * 2|2026-01-05T12:00:00Z
TABLE

# Five fields without quotes; the shell would have put file names where a star is.
run peal next 30 2 1 1 MON --from 2026-01-01 -n 1 -o json
expect_status 0
expect_json '[.spec, .fires[0].at]' '["30 2 1 1 MON","2026-01-01T02:30:00Z"]'
run peal next 30 2 README.md LICENSE src --from 2026-01-01
expect_status 6
expect_stderr_has 'put the schedule in quotes'
run peal next @every 5m
expect_status 6
expect_stderr_has 'put the schedule in quotes'
run peal next 'x * * * *'
expect_stderr_lacks 'quotes'
run peal next @yearly @monthly @weekly @daily @hourly --from 2026-12-31T23:00:00Z -n 1 -o json
expect_json '.fires[0].at' '"2027-01-01T00:00:00Z"'

# Several schedules are merged; an instant is listed once, under the first that is due.
run peal next '0 0 * * *' '0 */12 * * *' --from 2026-01-01T00:00:00Z -n 3 -o json
expect_status 0
expect_json '.specs' '["0 0 * * *","0 */12 * * *"]'
expect_json '[.fires[] | [.at, .spec]]' \
    '[["2026-01-01T12:00:00Z","0 */12 * * *"],["2026-01-02T00:00:00Z","0 0 * * *"],["2026-01-02T12:00:00Z","0 */12 * * *"]]'
run peal next $'0 9 * * *\n\n# noon\n0 12 * * *\n' --from 2026-01-01T00:00:00Z -n 2
expect_stdout "AT (UTC)              LOCAL (UTC)               IN   SCHEDULE
2026-01-01T09:00:00Z  Thu 2026-01-01T09:00:00Z  9h   0 9 * * *
2026-01-01T12:00:00Z  Thu 2026-01-01T12:00:00Z  12h  0 12 * * *"
run peal next $'0 9 * * *\n0 99 * * *\n61 * * * *'
expect_status 6
expect_stderr_has 'invalid schedule in line 2: hour 99'
expect_stderr_has 'invalid schedule in line 3: minute 61'
run peal next 'TZ=Asia/Tokyo 0 0 * * *' 'TZ=Europe/Paris 0 0 * * *' --from 2026-01-01T12:00:00Z -n 2
expect_stdout_has '2026-01-01T15:00:00Z  Fri 2026-01-02T00:00:00+09:00  Asia/Tokyo    3h   TZ=Asia/Tokyo 0 0 * * *'
expect_stdout_has '2026-01-01T23:00:00Z  Fri 2026-01-02T00:00:00+01:00  Europe/Paris  11h  TZ=Europe/Paris 0 0 * * *'
run peal next 'TZ=Asia/Tokyo 0 0 * * *' 'TZ=Europe/Paris 0 0 * * *' --from 2026-01-01T12:00:00Z -n 2 -o json
expect_json '[.tz, .fires[].tz]' '[null,"Asia/Tokyo","Europe/Paris"]'

# Schedules that have no ticks to list.
run peal next '@after 5m' --from 2026-01-01T00:00:00Z -o json
expect_status 0
expect_json '[.fires[].at]' '["2026-01-01T00:05:00Z"]'
expect_stderr_has 'the next ones count from the end of each run'
for spec in @reboot @manual; do
    run peal next $spec
    expect_status 0
    expect_stdout ''
    expect_stderr_has 'note: '
    run peal next $spec -o json
    expect_status 0
    expect_json '.fires' '[]'
done
run peal next '0 0 31 2 *' --from 2026-01-01
expect_status 0
expect_stdout ''
expect_stderr_has 'warning: '
run peal next '0 0 31 2 *' --from 2026-01-01 -o json
expect_status 0
expect_json '.fires' '[]'
run peal next '0 0 1 1 *' --from 2026-02-01 --until 2026-03-01
expect_status 0
expect_stdout ''
expect_stderr_has 'nothing is due in this time'

# Values that belong to a job.
run peal next 'H H * * *' --from 2026-01-01 -n 1
expect_status 0
expect_stderr_has "\`H\` depends on the job's name"
run peal next 'H H * * *' --from 2026-01-01 -n 1 --job backup
expect_stderr ''
cp "$scratch/out" "$scratch/once"
run peal next 'H H * * *' --from 2026-01-01 -n 1 --job backup
expect_stdout "$(cat "$scratch/once")"
run peal next '0~59 3 * * *' --from 2026-01-01 -n 1 --job backup
expect_stderr_has 'drawn when the job is made'
run peal next '@daily' --from 2026-01-01 -n 2 --jitter 1h --job backup -o json
expect_json '[.fires[].starts | test("^2026-01-0[23]T00:[0-5][0-9]:[0-5][0-9].[0-9]{3}Z$")]' '[true,true]'
run peal next '@daily' --from 2026-01-01 -n 1 --jitter 1h
expect_stdout_has 'STARTS (UTC)'

# Many, and all until a time.
run peal next '@secondly' --from 2026-01-01T00:00:00Z -n 10000 -o json
expect_json '[(.fires | length), .fires[-1].at]' '[10000,"2026-01-01T02:46:40Z"]'
run peal next '@minutely' --from 2026-01-01T00:00:00Z --until 2026-01-01T01:00:00Z -o json
expect_json '.fires | length' 60
run peal next '@secondly' --from 2026-01-01T00:00:00Z --until 2026-01-02T00:00:00Z
expect_stderr_has 'only the first 10000 are shown'
run sh -c "peal next '@daily' | wc -l"
expect_stdout 11

# Zones: this machine's, and another database.
TZ=Asia/Kathmandu run peal next '@daily' --from 2026-01-01 -n 1 -o json
expect_json '[.tz, .fires[0].local]' '["Asia/Kathmandu","2026-01-02T00:00:00+05:45"]'
mkdir -p "$scratch/zones/Moon"
cp /usr/share/zoneinfo/Asia/Kathmandu "$scratch/zones/Moon/Base"
TZDIR=$scratch/zones run peal next '@daily' --from 2026-01-01 -n 1 --tz Moon/Base -o json
expect_json '[.tz, .fires[0].local]' '["Moon/Base","2026-01-02T00:00:00+05:45"]'
TZDIR=$scratch/zones run peal next '@daily' --tz Asia/Kathmandu
expect_status 2

finish
