#!/bin/bash
# peal calendar set --ical ADDRESS: from a server of the test's own, and kept current by a job.
# shellcheck source=test/integration/lib.sh
. "$(dirname "$0")/lib.sh"
start_agent data

year=$(($(date -u +%Y) + 1))
www=$scratch/www
mkdir "$www"
publish() { # DATE...
    {
        printf 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//t//EN\r\n'
        for date; do
            printf 'BEGIN:VEVENT\r\nUID:%s\r\nDTSTAMP:20200101T000000Z\r\nDTSTART;VALUE=DATE:%s\r\nEND:VEVENT\r\n' "$date" "$date"
        done
        printf 'END:VCALENDAR\r\n'
    } >"$www/new.ics"
    mv "$www/new.ics" "$www/holidays.ics"
}
cat >"$scratch/server.py" <<'END'
import functools, http.server, sys
class Server(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        to = {"/moved": "/holidays.ics", "/file": "file:///etc/hostname", "/round": "/round"}.get(self.path)
        if to is None:
            return super().do_GET()
        self.send_response(302)
        self.send_header("Location", to)
        self.end_headers()
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=sys.argv[1]))
print(server.server_address[1], flush=True)
server.serve_forever()
END
python3 "$scratch/server.py" "$www" >"$scratch/port" &
server=$!
trap 'kill $server; end_agents; rm -rf "$scratch"' EXIT
until [ -s "$scratch/port" ]; do
    kill -0 $server || exit 1
    sleep 0.02
done
at=http://127.0.0.1:$(cat "$scratch/port")
shows() { # DATES: of next year
    run peal calendar preview c --from "$year-01-01T00:00:00Z" --to "$year-12-31T00:00:00Z"
    expect_stdout "Dates:      $1"
}
revision() { peal calendar show c -o json | jq .revision; }

publish "${year}0501"
run peal calendar set c --ical "$at/holidays.ics"
expect_status 0
shows "$year-05-01"

# The same again is no change; what is new is.
before=$(revision)
run peal calendar set c --ical "$at/holidays.ics"
expect_status 0
run revision
expect_stdout "$before"
publish "${year}0501" "${year}1224"
run peal calendar set c --ical "$at/moved"
expect_status 0
shows "$year-05-01 $year-12-24"

# What goes wrong leaves it as it was, and does not show the address.
publish
for address in "$at/holidays.ics?key=secret" "$at/nowhere?key=secret" "$at/file" "$at/round" "http://127.0.0.1:1/?key=secret"; do
    run peal calendar set c --ical "$address"
    checks=$((checks + 1))
    [ "$status" -ne 0 ] || mismatch "expected a refusal of $address"
    expect_stderr_has 'the calendar stays as it was'
    expect_stderr_lacks secret
done
echo '<html>' >"$www/page.ics"
run peal calendar set c --ical "$at/page.ics"
expect_status 6
head -c 11000000 /dev/zero >"$www/large.ics"
run peal calendar set c --ical "$at/large.ics"
expect_status 1
expect_stderr 'peal: the iCalendar address: it has more than 10 MB; the calendar stays as it was'
run env PEAL_LANG=zh peal calendar set c --ical "$at/nowhere"
expect_stderr_has '日历保持不变'
shows "$year-05-01 $year-12-24"

# A job keeps it current, with a token of its own; without one it may not.
publish "${year}0704"
run peal secret init
expect_status 0
peal token create calendars --role editor 2>/dev/null | peal secret set calendar-token
run peal add refresh @manual --secret PEAL_TOKEN=calendar-token --env "PEAL_DATA=$PEAL_DATA" -- "$(command -v peal)" calendar set c --ical "$at/holidays.ics"
expect_status 0
run peal run refresh --wait
expect_status 0
shows "$year-07-04"
publish "${year}0705"
run peal add stranger @manual --env "PEAL_DATA=$PEAL_DATA" -- "$(command -v peal)" calendar set c --ical "$at/holidays.ics"
run peal run stranger --wait
expect_status 10
shows "$year-07-04"
rm "$www/holidays.ics"
run peal run refresh --wait
expect_status 10
run peal logs refresh
expect_stderr_has 'HTTP status 404; the calendar stays as it was'
shows "$year-07-04"

finish
