#!/bin/bash
# quota_test.sh ATTACK
# Accounts that make more jobs, longer definitions or more streams than the operator allows, by every
# way that leads to a job, one after the other and all at once.
. "$(dirname "$0")/lib.sh"

cat >"$scratch/peal.yaml" <<'END'
quotas:
  jobs: 12
  namespace_jobs: 4
  namespaces: {small: 2, big/sub: 1}
  definitions: 20KiB
  streams: 3
facades: dkron
END
start_target quotas --config "$scratch/peal.yaml"
api=http://127.0.0.1:$port/api/v1

call() { # PATH [OPTION...]
    run curl -sS -H "Authorization: Bearer ${as:-$token}" "$api$1" "${@:2}"
}
put() { # NAME [PARAMETERS]
    call "/jobs/${1//\//%2F}${2:-}" -X PUT -d '{"schedule":"@manual","command":["true"]}'
}
# The last answer is a refusal by this quota, with what is there and the limit.
expect_quota() { # KEY USED LIMIT POINTER
    expect_json .status 409
    expect_json '[.quota.key, .quota.used, .quota.limit, .errors[0].pointer]' "[\"$1\",$2,$3,\"$4\"]"
}

# A namespace with a quota of its own.
put small/a
put small/b
put small/c '?dry_run=true'
expect_quota namespaces 2 2 ''
put small/c
expect_quota namespaces 2 2 ''
expect_stdout_has 'raise quotas.namespaces in the configuration file'
call /jobs -X POST -d '{"name":"small/c","schedule":"@manual","command":["true"]}'
expect_quota namespaces 2 2 ''
call /jobs/small%2Fa -X PATCH -d '{"notes":"may be changed"}'
expect_json .notes '"may be changed"'
call /jobs/small%2Fa/pause -X POST
expect_json .paused true
run peal delete -y small/b
put small/c
expect_json .name '"small/c"'
call /jobs/small%2Fb/undelete -X POST
expect_quota namespaces 2 2 ''
call /jobs/small%2Fc -X PUT -H 'Accept-Language: zh' -d '{"schedule":"@manual","command":["true","changed"]}'
expect_json .revision 2
put big/sub/a
put big/sub/b
expect_quota namespaces 1 1 ''

# The quota of all namespaces, in a batch: nothing of it is written; deletes make room.
call /jobs:batch -d '{"put":[{"name":"team/1","schedule":"@manual","command":["true"]},{"name":"team/2","schedule":"@manual","command":["true"]},
    {"name":"team/3","schedule":"@manual","command":["true"]},{"name":"team/4","schedule":"@manual","command":["true"]},
    {"name":"team/x/5","schedule":"@manual","command":["true"]}]}'
expect_quota namespace_jobs 4 4 /put/4
run peal list -o json
expect_json '[.[].name | select(startswith("team"))]' '[]'
call /jobs:batch -d '{"put":[{"name":"small/d","schedule":"@manual","command":["true"]}],"delete":["small/c"]}'
expect_json '[.results[].result]' '["created","deleted"]'

# Files and crontabs.
printf 'name: team/%s\nschedule: "@manual"\ncommand: ["true"]\n---\n' 1 2 3 4 5 | sed '$d' >"$scratch/jobs.yaml"
run peal apply -f "$scratch/jobs.yaml"
expect_status 4
expect_stderr_has 'there are 4 jobs in the namespace "team", and its quota is 4'
printf '1 2 3 4 5 true %s\n' 1 2 3 4 5 6 7 8 9 >"$scratch/crontab"
run peal import crontab "$scratch/crontab" --apply
expect_stderr_has 'the quota is 12'
run peal list -o json
expect_json 'length' 4

# All at once: of 20 that are sent at the same time as many are made as there is room for.
seq 20 | xargs -P 20 -I{} curl -sS -o /dev/null -X PUT -H "Authorization: Bearer $token" \
    -d '{"schedule":"@manual","command":["true"]}' "$api/jobs/many{}"
run peal list -o json
expect_json 'length' 12
put one-more
expect_quota jobs 12 12 ''
run curl -sS -H "Authorization: Bearer $token" "http://127.0.0.1:$port/v1/jobs" \
    -d '{"name":"facade","schedule":"@every 1h","executor":"shell","executor_config":{"command":"true"}}'
expect_stdout_has 'the quota is 12'
run peal doctor
expect_stdout_has 'jobs: 12 of 12 are used'

# Who sees one namespace is not told how many there are elsewhere.
as=$(peal token create editor --role editor --namespace other)
put other/a
expect_json '[.status, .quota.key, .quota.used, .quota.limit]' '[409,"jobs",null,null]'
as=

# Bytes of definitions, by one job and by a change.
notes=$(head -c 20000 /dev/zero | tr '\0' x)
call /jobs/many1 -X PATCH -d "{\"notes\":\"$notes\"}"
expect_json '[.status, .quota.key, .quota.limit]' '[409,"definitions",20480]'

# Streams of an account.
for _ in 1 2 3; do
    curl -sN -H "Authorization: Bearer $token" "$api/events" >>"$scratch/events" &
done
for _ in $(seq 600); do
    [ "$(grep -c hello "$scratch/events")" = 3 ] && break
    sleep 0.1
done
call /events -m 5
expect_json .status 429
expect_stdout_has 'this account has 3 streams open, and the quota is 3'
kill %1 %2 %3
for _ in $(seq 50); do # the seats of those who left are free again
    run curl -sN -m 1 -H "Authorization: Bearer $token" "$api/events"
    grep -q hello "$scratch/out" && break
done
expect_stdout_has hello

# Lowered: what is there stays, and may be changed and deleted, but not become more.
sed -i 's/jobs: 12/jobs: 2/; s/namespace_jobs: 4/namespace_jobs: 1/' "$scratch/peal.yaml"
call /agent
kill -HUP "$(jq .pid "$scratch/out")"
for _ in $(seq 600); do
    call /agent
    [ "$(jq .quotas.jobs.limit "$scratch/out")" = 2 ] && break
    sleep 0.1
done
expect_json '.quotas.jobs' '{"limit":2,"used":12}'
call /jobs/bait -X PUT -d '{"schedule":"@hourly","command":["true"]}'
expect_json .revision 2
call /jobs/small%2Fa -X DELETE
expect_json .name '"small/a"'
put one-more
expect_quota jobs 11 2 ''
finish
