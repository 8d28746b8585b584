# Sourced by the tests of files that have groups, calendars, channels and maintenance beside jobs.
# shellcheck shell=bash disable=SC2154 # variables of lib.sh

# The secrets of the channels that fill_agent makes, as an exported file refers to them.
export_secrets() {
    export PEAL_CHANNEL_HOOK_URL='https://example.com/hook?key=secret-query'
    export PEAL_CHANNEL_HOOK_SECRET=secret-signature
    export PEAL_CHANNEL_HOOK_HEADER_AUTHORIZATION='Bearer secret-header'
    export PEAL_CHANNEL_ROOM_URL=https://hooks.slack.com/services/secret-slack
    export PEAL_CHANNEL_DING_URL='https://oapi.dingtalk.com/robot/send?access_token=secret-ding'
    export PEAL_CHANNEL_DING_SECRET=secret-ding-key
    export PEAL_CHANNEL_LARK_URL=https://open.feishu.cn/open-apis/bot/v2/hook/secret-lark
    export PEAL_CHANNEL_WORK_URL='https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=secret-work'
    export PEAL_CHANNEL_MAIL_PASSWORD=secret-mail
    export PEAL_CHANNEL_PAGER_TOKEN=secret-pager
    export PEAL_CHANNEL_TEAMS_URL=https://teams.example.com/workflows/secret-teams
    export PEAL_CHANNEL_BOT_TOKEN=1234:secret-bot
    export PEAL_CHANNEL_PHONE_URL=https://ntfy.sh/secret-topic
    export PEAL_CHANNEL_PHONE_TOKEN=tk_secret-phone
}

# Groups, calendars, channels of all types, maintenance, jobs and workflows of the agent.
fill_agent() {
    cat >"$scratch/holidays.ics" <<'END'
BEGIN:VCALENDAR
VERSION:2.0
PRODID:test
BEGIN:VEVENT
UID:1
DTSTART;VALUE=DATE:20370501
DTEND;VALUE=DATE:20370502
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
UID:2
DTSTART:20270601T080000Z
DTEND:20270601T100000Z
END:VEVENT
END:VCALENDAR
END
    peal group set db-backup --cluster 3 --node 1 --notes 'the storage: "slow", 慢'
    peal group set scans --label zone=2 --label zone=eu:4 --label rack=1
    peal group set shop/ --cluster 20
    peal calendar set holidays 12-25 2027-01-01 2026-10-01/2026-10-07 --notes '# no comment'
    peal calendar set weekends --weekday sat,sun
    peal calendar set office --window 'mon-fri 09:00-17:30' --window 22:00-06:00 --tz Europe/Berlin
    peal calendar set events --ical "$scratch/holidays.ics" --years 12
    peal channel set hook --type webhook --hook "$PEAL_CHANNEL_HOOK_URL" --secret-file - \
        --header "Authorization=$PEAL_CHANNEL_HOOK_HEADER_AUTHORIZATION" <<<"$PEAL_CHANNEL_HOOK_SECRET"
    peal channel set room --type slack --hook "$PEAL_CHANNEL_ROOM_URL" --default --language zh
    peal channel set ding --type dingtalk --hook "$PEAL_CHANNEL_DING_URL" --secret-file - \
        <<<"$PEAL_CHANNEL_DING_SECRET"
    peal channel set lark --type feishu --hook "$PEAL_CHANNEL_LARK_URL"
    peal channel set work --type wecom --hook "$PEAL_CHANNEL_WORK_URL"
    peal channel set mail --type mail --smtp smtps://mail.example.com --from peal@example.com \
        --to ops@example.com --user peal --password-file - <<<"$PEAL_CHANNEL_MAIL_PASSWORD"
    peal channel set pager --type pagerduty --key-file - <<<"$PEAL_CHANNEL_PAGER_TOKEN"
    peal channel set teams --type teams --hook "$PEAL_CHANNEL_TEAMS_URL"
    peal channel set bot --type telegram --chat -1001234567890 --key-file - <<<"$PEAL_CHANNEL_BOT_TOKEN"
    peal channel set phone --type ntfy --hook "$PEAL_CHANNEL_PHONE_URL" --key-file - <<<"$PEAL_CHANNEL_PHONE_TOKEN"
    peal maintenance add --from 2037-01-01T00:00:00Z --to 2037-01-02T00:00:00Z --namespace shop --reason disks
    peal maintenance add --to 2037-02-01T00:00:00Z --namespace ice
    peal pause --namespace legacy --reason moved
    cat >"$scratch/jobs.yaml" <<'END'
name: shop/dump
schedule: 0 3 * * *
timezone: Europe/Berlin
calendars: [holidays, office]
only_on: [events]
groups: [db-backup, scans]
priority: 7
command: [dump, --all]
notify: {to: [pager, mail], too_long: auto, success_by: "06:00"}
labels: {team: shop, "a.b": "1.10"}
env: {LANG: C.UTF-8, PASSWORD: "true"}
retries: {count: 3, wait: 10s}
overlap: queue
deadline: 2h
timeout: 1h
jitter: 5m
---
name: shop/late
after: [{job: shop/dump, on: always}]
shell: |
  set -e
  echo "done"
---
name: report
schedules: ["0 6 * * 1-5", "@monthly"]
timezone: UTC
calendars: [weekends]
http: {url: "https://reports.example.com/v1", method: POST, body: "{}"}
only_if: {jobs: [shop/dump], within: 6h}
notify: []
---
name: flow
schedule: H 4 * * *
timezone: UTC
steps:
- {name: load, command: [load], groups: [scans]}
- {name: clean, job: shop/late, after: [load]}
END
    peal apply -f "$scratch/jobs.yaml"
}

# Nothing of the secrets is in the file.
expect_no_secrets() { # FILE
    checks=$((checks + 1))
    ! grep -q 'secret-' "$1" || mismatch "there are secrets in $1"
}
