#!/bin/bash
# Mail by a real SMTP server, plain and over TLS.
# shellcheck source=test/integration/notify/lib.sh
. "$PEAL_SOURCE/test/integration/notify/lib.sh"

command -v aiosmtpd >/dev/null || [ -x /usr/bin/aiosmtpd ] || {
    echo 'aiosmtpd is not installed'
    exit 77
}
server=$(PATH=/usr/bin:$PATH command -v aiosmtpd)
server_pid=
at=127.0.0.1
trap 'server_stop; end_agents; rm -rf "$scratch"' EXIT

server_start() { # OPTION...
    "$server" -n -l "$at:${ports[1]}" -c aiosmtpd.handlers.Debugging "$@" >>"$got" 2>"$scratch/smtp.log" &
    server_pid=$!
}

server_stop() {
    [ -z "$server_pid" ] || { kill -9 "$server_pid" && wait "$server_pid"; } 2>/dev/null
    server_pid=
}

# What the lines of base 64 in the mails say.
# shellcheck disable=SC2317 # called by got_text
texts() {
    grep -aE '^[A-Za-z0-9+/]+=*$' "$got" | base64 -d 2>/dev/null
}

# shellcheck disable=SC2317 # called by wait_until
got_text() { # TEXT
    texts | grep -qaF "$1"
}

export PYTHONUNBUFFERED=1 PEAL_LISTEN=none
start_agent one
run peal channel set mail --type mail --smtp "smtp://127.0.0.1:${ports[1]}" --from peal@example.com \
    --to ops@example.com --to dev@example.com
expect_status 0
run peal add bad @manual --notify mail --shell 'echo "看不懂 .dots"; echo .; exit 4'
expect_status 0

# The server is not there yet.
run peal run bad --wait
expect_status 10
wait_until waiting_is mail 1
server_start
wait_until waiting_is mail 0
wait_until grep -q '^---------- MESSAGE FOLLOWS' "$got"
run cat "$got"
expect_stdout_has 'From: peal <peal@example.com>'
expect_stdout_has 'To: ops@example.com,'
expect_stdout_has 'Subject: [peal] bad failed: exit code 4'
expect_stdout_has 'Auto-Submitted: auto-generated'
wait_until got_text '看不懂 .dots'

# In Chinese, the subject is encoded.
run peal channel set mail --language zh
run peal channel test mail
expect_status 0
run grep -A1 '^Subject: =?UTF-8?B?' "$got"
expect_status 0
wait_until got_text '这是一条测试消息'
server_stop

# Over TLS the certificate must be one that is known.
run openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
    -addext 'subjectAltName=DNS:localhost' -keyout "$scratch/key.pem" -out "$scratch/cert.pem"
expect_status 0
server_start --smtpscert "$scratch/cert.pem" --smtpskey "$scratch/key.pem"
run peal channel set mail --smtp "smtps://localhost:${ports[1]}"
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
refused() {
    peal channel test mail 2>&1 | grep -i certificate
}
wait_until refused
run peal stop
printf 'notify_ca: %s\n' "$scratch/cert.pem" >"$scratch/peal.yaml"
start_agent one --config "$scratch/peal.yaml"
run peal channel test mail
expect_status 0

# A server on another machine must have STARTTLS, unless the channel says otherwise.
server_stop
at=127.0.0.2
server_start
run peal channel set mail --smtp "smtp://127.0.0.2:${ports[1]}"
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
no_starttls() {
    peal channel test mail 2>&1 | grep -q 'STARTTLS.*the channel is unencrypted'
}
wait_until no_starttls
run peal channel set mail --unencrypted
expect_status 0
run peal channel test mail
expect_status 0
at=127.0.0.1

# A password is never sent in the clear.
server_stop
server_start
echo hush >"$scratch/password"
run peal channel set mail --smtp "smtp://127.0.0.1:${ports[1]}" --user peal --password-file "$scratch/password"
expect_status 6
expect_stderr_has 'a password is never sent without TLS'
run peal channel set mail --smtp "smtp://127.0.0.1:${ports[1]}" --user peal --password-file "$scratch/password" --no-unencrypted
expect_status 0
# shellcheck disable=SC2317 # called by wait_until
insecure() {
    peal channel test mail 2>&1 | grep -qiE 'STARTTLS|SSL|TLS'
}
wait_until insecure
run grep -c hush "$scratch/smtp.log"
expect_stdout 0
finish
