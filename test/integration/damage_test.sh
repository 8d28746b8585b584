#!/bin/bash
# Values in etcd that can't be read, or have words that only a newer peal knows: the agent lives, also
# after a restart, names the keys, leaves them as they are, and goes on with the rest.
. "$(dirname "$0")/lib.sh"
etcd_start

value=$scratch/value

# A value, field by field (src/store/etcd/store_etcd_value.c).
begin() { printf '\x01' >"$value"; }
number() { # NUMBER: as a zigzag varint
    local bits=$(($1 * 2))
    while [ $bits -ge 128 ]; do
        # shellcheck disable=SC2059 # the byte is the format
        printf "\\x$(printf %x $((bits % 128 + 128)))" >>"$value"
        bits=$((bits / 128))
    done
    # shellcheck disable=SC2059
    printf "\\x$(printf %x $bits)" >>"$value"
}
numbers() { # NUMBER...
    local each
    for each; do
        number "$each"
    done
}
text() { # TEXT
    number ${#1}
    printf %s "$1" >>"$value"
}
no_id() { head -c 16 /dev/zero >>"$value"; }

id_at() { # MS
    local letters=0123456789ABCDEFGHJKMNPQRSTVWXYZ left=$1 made=''
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        made=${letters:$((left % 32)):1}$made
        left=$((left / 32))
    done
    echo "${made}RRFFQ69G5FAV0000"
}

etcd() { etcdctl --endpoints "$etcd_endpoint" "$@"; }
put() { etcd put "/p/$1" <"$value" >/dev/null || mismatch "etcdctl put $1 failed"; }
get() { etcd get --print-value-only "/p/$1" | base64 -w0; }
job_uid() { peal get "$1" -o json | jq -r .uid; }

start_agent a --node-id a --store "$etcd_url/p"
run peal add victim '* * * * * *' -- true
expect_status 0
run peal add other '* * * * * *' -- true
expect_status 0
wait_until newest_is victim ok
wait_until newest_is other ok
uid=$(job_uid victim)
etcd get --print-value-only "/p/cursors/$uid" | head -c -1 >"$scratch/cursor"
etcd get --print-value-only /p/names/other | tail -c +2 | head -c 16 >"$scratch/other"
pid=$(peal state -o json | jq .pid)

# A cursor whose last run has a state that no version has.
begin
numbers 1 "$(($(date +%s) * 1000))"
no_id
numbers 0 0 1000000
put "cursors/$uid"
bad_cursor=$(get "cursors/$uid")

# An ended run with a reason of a newer peal, on a node that is not there.
now=$(($(date +%s) * 1000))
newer=$(id_at $now)
begin
numbers 1 0 1
cat "$scratch/other" >>"$value"
text other
numbers $((now - 500)) 1 0 6 1000 # tick, attempt, cause, failed, reason
text ghost
numbers 7 1 1 0 "$now" "$now" "$now" 1 0 0 0 0 0 0
text ''
text ''
number 0
text ''
put "runs/$newer"

# A ledger entry and a document that are nothing at all.
printf nonsense >"$value"
put "entries/$newer"
put docs/user/eve

# Values that the store can read, with words inside that only a newer peal has: of a user, a token, a
# channel, a calendar and a job.
spoil() { # KEY SED: as long as it was
    etcd get --print-value-only "/p/$1" | head -c -1 | LC_ALL=C sed "$2" >"$value"
    put "$1"
}
run peal user add otto --role viewer --no-password
expect_status 0
run peal token create ci --role viewer
expect_status 0
token=$(peal token list -o json | jq -r '.[0].id')
echo 'http://127.0.0.1:1/?key=of-the-hook' >"$scratch/hook"
run peal channel set hook --type webhook --hook-file "$scratch/hook"
expect_status 0
run peal calendar set holidays 12-25
expect_status 0
run peal add newer @daily --overlap queue -- true
expect_status 0
newer_uid=$(job_uid newer)
spoil docs/user/otto s/viewer/emperr/
spoil "docs/token/$token" s/viewer/emperr/
spoil docs/channel/hook s/webhook/carrier/
spoil docs/calendar/holidays s/12-25/easte/
spoil "jobs/$newer_uid" s/queue/juggl/

# A run ends, and another waits for it, while the cursor of their job can't be read.
run peal add line @manual --overlap queue --shell "until [ -e $scratch/go ]; do sleep 0.1; done"
expect_status 0
line=$(job_uid line)
for _ in 1 2; do
    run peal run line
    expect_status 0
done
etcd get --print-value-only "/p/cursors/$line" | head -c -1 >"$scratch/line"
printf nonsense >"$value"
put "cursors/$line"

# shellcheck disable=SC2317 # called by wait_until
doctor_names() { # KEY
    peal doctor | grep -qF "$1 can't be read"
}

# shellcheck disable=SC2317
shows_newer() { peal runs other -n 500 -o json | jq -e 'any(.[]; .reason == "reason-1000")'; }

all_is_as_it_was() {
    wait_until doctor_names "cursors/$uid"
    wait_until doctor_names "entries/$newer"
    wait_until doctor_names docs/user/eve
    for key in docs/user/otto "docs/token/$token" docs/channel/hook docs/calendar/holidays "jobs/$newer_uid"; do
        wait_until doctor_names "$key"
    done
    run peal doctor
    expect_stdout_has "docs/channel/hook can't be read: this version can't read it, at /type"
    expect_stdout_has "can't be read: the definition of newer: this version can't read it, at /overlap"
    expect_stdout_lacks of-the-hook
    for user in otto eve; do # nobody takes their place
        run peal user add $user --role admin --no-password
        expect_status 4
    done
    expect_stderr_has "can't be read by this version, and is left as it is; peal doctor names its key"
    run peal get victim
    expect_status 3
    wait_until shows_newer
    last=$(peal runs other -n 1 -o json | jq -r '.[0].run_id')
    # shellcheck disable=SC2317 # called by wait_until
    has_run_again() { [ "$(peal runs other -n 1 --state ok -o json | jq -r '.[0].run_id')" != "$last" ]; }
    wait_until has_run_again
    ran='what is set aside is left as it is'
    checks=$((checks + 1))
    [ "$(get "cursors/$uid")" = "$bad_cursor" ] || mismatch 'the cursor was written'
}
wait_until doctor_names "cursors/$line"
touch "$scratch/go"
# shellcheck disable=SC2317
line_has() { [ "$(peal runs -n 500 --state ok -o json | jq '[.[] | select(.job == "line")] | length')" = "$1" ]; } # COUNT
wait_until line_has 1
cp "$scratch/line" "$value"
put "cursors/$line"
wait_until line_has 2 # it is not there for ever, and nothing else of the job has to happen

all_is_as_it_was
ran='the agent lives'
checks=$((checks + 1))
[ "$(peal state -o json | jq .pid)" = "$pid" ] || mismatch 'it was started anew'
run peal add victim '* * * * * *' -- true
expect_status 4

run peal restart
expect_status 0
all_is_as_it_was

# What can be read again is there again.
cp "$scratch/cursor" "$value"
put "cursors/$uid"
# shellcheck disable=SC2317
is_there() { peal get victim; }
wait_until is_there
wait_until newest_is victim ok
etcd del "/p/entries/$newer" >/dev/null
etcd del /p/docs/user/eve >/dev/null
for key in user/otto "token/$token" channel/hook calendar/holidays; do
    etcd del "/p/docs/$key" >/dev/null
done
spoil "jobs/$newer_uid" s/juggl/queue/
# shellcheck disable=SC2317
nothing_is_aside() { ! peal doctor | grep -q "can't be read"; }
wait_until nothing_is_aside

finish
