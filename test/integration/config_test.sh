#!/bin/bash
# The configuration: file, conf.d, variables and options, where each value comes from, and what SIGHUP takes.
. "$(dirname "$0")/lib.sh"

mkdir -p "$scratch/etc/conf.d"
file=$scratch/etc/peal.yaml
export PEAL_DATA=$scratch/data
cat >"$file" <<'END'
retention: {runs: 5, age: 30d}
labels: {zone: eu}
listen: none
END
cat >"$scratch/etc/conf.d/20-labels.yaml" <<'END'
labels: {zone: us, disk: ssd}
END
cat >"$scratch/etc/conf.d/10-runs.yaml" <<'END'

retention: {runs: 7}
END
echo 'not: read' >"$scratch/etc/conf.d/other.txt"
echo 'https://peal.example.com' >"$scratch/url"

# ---- what goes before what ----

expect_setting() { # NAME VALUE ORIGIN
    checks=$((checks + 1))
    jq -e --arg name "$1" --arg value "$2" --arg origin "$3" \
        'any(.[]; .name == $name and .value == $value and .origin == $origin)' "$scratch/out" >/dev/null ||
        mismatch "expected $1 to be $2, by $3"
}
export PEAL_RETENTION_RUNS=9 PEAL_MAX_RUNNING=3 PEAL_PUBLIC_URL_FILE=$scratch/url PEAL_QUOTAS_NAMESPACES='a=1,b=2'
run peal config show --origin -o json --config "$file" --role worker
expect_status 0
expect_setting retention.runs 7 "$scratch/etc/conf.d/10-runs.yaml:2"
expect_setting retention.age 30d "$file:1"
expect_setting retention.audit 400d default
expect_setting labels zone=us,disk=ssd "$scratch/etc/conf.d/20-labels.yaml:1"
expect_setting role worker --role
expect_setting max_running 3 PEAL_MAX_RUNNING
expect_setting public_url https://peal.example.com PEAL_PUBLIC_URL_FILE
expect_setting quotas.namespaces a=1,b=2 PEAL_QUOTAS_NAMESPACES
expect_setting data "$scratch/data" PEAL_DATA

run peal config show retention --config "$file"
expect_status 0
expect_stdout_has 'retention.stats  400d'
expect_stdout_lacks max_running
run peal config show retention.run
expect_status 3
expect_stderr 'peal: there is no setting "retention.run"; peal config show lists all'
run peal config show history -o yaml --history postgresql://peal:topsecret@db.example/peal
expect_stdout_has 'postgresql://peal:***@db.example/peal'
expect_stdout_lacks topsecret

# ---- mistakes ----

run peal config validate "$file"
expect_status 0
expect_stdout "ok $file"
expect_stderr "note: PEAL_RETENTION_RUNS is not used: retention.runs is set by $scratch/etc/conf.d/10-runs.yaml:2"
echo 'retention: {rums: 7}' >"$scratch/etc/conf.d/30.yaml"
run peal config validate "$file"
expect_status 6
expect_stderr "peal: $scratch/etc/conf.d/30.yaml:1:13: unknown key \"rums\"; did you mean runs?"
rm "$scratch/etc/conf.d/30.yaml"
run env PEAL_MAX_RUNNING=many peal config validate "$file"
expect_status 6
expect_stderr_has 'PEAL_MAX_RUNNING: max_running is a number from 0 to 2147483647, not "many"'
run env PEAL_PUBLIC_URL_FILE="$scratch/nowhere" peal config validate "$file"
expect_status 6
expect_stderr_has "can't read a value from $scratch/nowhere"
run env PEAL_CONFIG="$scratch/nowhere.yaml" peal config validate
expect_status 3

# What a file may say wrongly, and where.
mkdir "$scratch/wrong"
while IFS='|' read -r text want; do
    printf '%b' "$text" >"$scratch/wrong/peal.yaml"
    run env -u PEAL_RETENTION_RUNS -u PEAL_MAX_RUNNING peal config validate "$scratch/wrong/peal.yaml"
    ran="validate: $text"
    expect_status 6
    expect_stderr "peal: $scratch/wrong/peal.yaml:$want"
done <<'TABLE'
max_running: true|1:14: max_running is a number from 0 to 2147483647, not "true"
max_running: 2.5|1:14: max_running is a number from 0 to 2147483647, not "2.5"
max_running: " 3"|1:14: max_running is a number from 0 to 2147483647, not " 3"
max_running: 2147483648|1:14: max_running is a number from 0 to 2147483647, not "2147483648"
max_running: [1]|1:14: max_running is one value, not a list
max_running:|1:13: max_running is one value, not nothing
max_running: 1\nmax_running: 2|2:1: "max_running" is given twice; the first is in line 1
retention.runs: 5\nretention: {runs: 6}|2:19: "retention.runs" is given twice; the first is in line 1
runs: 5|1:1: unknown key "runs"; did you mean retention.runs?
etcd: {password: x}|1:8: unknown key "password"; did you mean password_file?
retention: {age: 36501d}|1:18: age: the duration is too long; 36500d is the most
retention: {age: 5}|1:18: age: a unit is missing; use w, d, h, m or s
retention: {total: 99999999999GiB}|1:20: total: 99999999999GiB is out of range 0 to 9223372036854775807 bytes
heartbeat_every: 5s|1:18: heartbeat_every: expected 10s to 1d
timezone: europe/berlin|1:11: timezone: unknown time zone "europe/berlin"; did you mean "Europe/Berlin"?
labels: zone=eu|1:9: labels are names and values, like zone: eu, not a text
labels: {a: b, a: c}|1:16: "a" is given twice; the first is in line 1
max_running: 1\n---\nmax_running: 2|3:1: one document is enough
\tmax_running: 1|1:1: a tab can't indent in YAML; use spaces
max_running: \0000|1:14: a NUL byte: this is not a text file
TABLE

# What it may be: empty, a comment, with a mark of its encoding, with the line ends of another system, a link.
for text in '' '# nothing' '\xef\xbb\xbfmax_running: 5' 'max_running: 5\r\n'; do
    printf '%b' "$text" >"$scratch/wrong/peal.yaml"
    run env -u PEAL_RETENTION_RUNS -u PEAL_MAX_RUNNING peal config validate "$scratch/wrong/peal.yaml"
    expect_status 0
done
ln -s wrong/peal.yaml "$scratch/link.yaml"
run env -u PEAL_MAX_RUNNING peal config show max_running --origin -o json --config "$scratch/link.yaml"
expect_setting max_running 5 "$scratch/link.yaml:1"
rm "$scratch/link.yaml"
run peal config validate "$scratch/etc"
expect_status 1
expect_stderr_has 'Is a directory'
mkdir "$scratch/wrong/conf.d"
ln -s nowhere "$scratch/wrong/conf.d/a.yaml"
run peal config validate "$scratch/wrong/peal.yaml"
expect_status 3
expect_stderr_has "can't read $scratch/wrong/conf.d/a.yaml"
rm "$scratch/wrong/conf.d/a.yaml"

# ---- secrets as files ----

headers_are() { # VALUE: as the collector's headers would be; shown as asterisks
    run env PEAL_OTLP_HEADERS_FILE="$scratch/headers" peal config show otlp.headers --origin
    expect_status 0
    expect_stdout_has 'otlp.headers  ***    PEAL_OTLP_HEADERS_FILE'
}
for text in 'x=1' 'x=1\n' 'x=1\r\n' 'x=1\nthe second line is not read\n'; do
    printf '%b' "$text" >"$scratch/headers"
    headers_are
done
while IFS='|' read -r text want; do
    printf '%b' "$text" >"$scratch/headers"
    run env PEAL_OTLP_HEADERS_FILE="$scratch/headers" peal config validate
    expect_status 6
    expect_stderr "peal: PEAL_OTLP_HEADERS_FILE: $want"
done <<TABLE
|can't read a value from $scratch/headers: it is empty
\\n|can't read a value from $scratch/headers: its first line is empty
\\nx=1\\n|can't read a value from $scratch/headers: its first line is empty
top secret|expected name=value, with commas between
TABLE
head -c 70000 /dev/zero | tr '\0' x >"$scratch/headers"
run env PEAL_OTLP_HEADERS_FILE="$scratch/headers" peal config validate
expect_status 6
expect_stderr_has 'its first line is too long'
run env PEAL_OTLP_HEADERS_FILE="$scratch" peal config validate
expect_status 6
expect_stderr_has 'Is a directory'
# A secret that is wrong is not shown either.
run env PEAL_OTLP_HEADERS='top secret' peal config validate
expect_status 6
expect_stderr 'peal: PEAL_OTLP_HEADERS: expected name=value, with commas between'

# ---- what is noted beside mistakes ----

printf 'otlp: {headers: "x=1"}\netcd: {password_file: %s, ca: %s}\n' "$scratch/password" "$scratch/nowhere.pem" >"$scratch/wrong/peal.yaml"
touch "$scratch/password" "$scratch/wrong/conf.d/more.yml"
chmod 644 "$scratch/password"
chmod 646 "$scratch/wrong/peal.yaml"
run env -u PEAL_MAX_RUNNING -u PEAL_QUOTAS_NAMESPACES PEAL_RETENTION_RUN=1 PEAL_NODE=x PEAL_STEP=y PEAL_OTLP_HEADERS_FILE=/x \
    peal config validate "$scratch/wrong/peal.yaml"
expect_status 0
expect_stderr "note: PEAL_OTLP_HEADERS_FILE is not used: otlp.headers is set by $scratch/wrong/peal.yaml:1
note: PEAL_RETENTION_RUN is no setting; did you mean PEAL_RETENTION_RUNS?
note: $scratch/wrong/conf.d/more.yml is not read: its name has to end in .yaml
note: every user can change $scratch/wrong/peal.yaml: chmod go-w it
note: every user can read $scratch/wrong/peal.yaml, which has a secret, otlp.headers: chmod 600 it
note: etcd.password_file: every user can read $scratch/password: chmod 600 it
note: etcd.ca: can't read $scratch/nowhere.pem: No such file or directory"
run peal --lang zh config validate "$scratch/wrong/peal.yaml"
expect_stderr_has "所有用户都能读取 $scratch/password"

# ---- the sample: every line of it is right ----

peal config sample >"$scratch/sample.yaml"
run peal config validate "$scratch/sample.yaml"
expect_status 0
sed -E 's/^#(|  )([a-z_]+:)/\1\2/' "$scratch/sample.yaml" >"$scratch/full.yaml"
[ "$(id -u)" -eq 0 ] || sed -i "s/^default_user: .*/default_user: $(id -un)/" "$scratch/full.yaml"
run env -u PEAL_DATA peal config show -o json --config "$scratch/full.yaml"
expect_status 0
run jq -r '.[] | select(.origin == "default") | .name' "$scratch/out"
expect_stdout ''

# ---- SIGHUP ----

PEAL_CONFIG=$file run peal start -d
expect_status 0
hang_up() { # LINE of the log
    kill -HUP "$(cat "$scratch/data/peal.pid")"
    wait_until grep -qF "$1" "$scratch/data/peal.log"
}
sed -i 's/30d/60d/; s/none/127.0.0.1:1/' "$file"
echo 'max_running: 4' >"$scratch/etc/conf.d/30.yaml"
hang_up 'reloaded signal=HUP taken="max_running=4, retention.age=60d" next_start="listen"'
# A file of a variable is read again, too; with what is wrong everything stays as it was.
echo 'https://other.example.com' >"$scratch/url"
hang_up 'taken="" next_start="listen, public_url"'
echo 'max_running: 5' >"$scratch/etc/conf.d/30.yaml"
: >"$scratch/url"
hang_up "not_reloaded error=\"PEAL_PUBLIC_URL_FILE: can't read a value from $scratch/url: it is empty\""
echo 'https://peal.example.com' >"$scratch/url"
mv "$file" "$file.away"
hang_up "not_reloaded error=\"can't read $file: No such file or directory\""
mv "$file.away" "$file"
echo 'timezone: Mars/Olympus' >"$scratch/etc/conf.d/40.yaml"
hang_up "not_reloaded error=\"$scratch/etc/conf.d/40.yaml:1:11: timezone: unknown time zone"
rm "$scratch/etc/conf.d/40.yaml"
hang_up 'taken="max_running=5" next_start="listen"'
# What another store would be is said; that the file names none, as at the start, is no change.
echo 'store: etcd://127.0.0.1:1/other' >"$scratch/etc/conf.d/40.yaml"
hang_up 'taken="" next_start="listen, store"'
rm "$scratch/etc/conf.d/40.yaml"
echo 'max_running: 6' >"$scratch/etc/conf.d/30.yaml"
hang_up 'taken="max_running=6" next_start="listen"'
run peal stop
expect_status 0

# A folder that was named from where one was, and a user that only root could take, are no obstacle.
cd "$scratch" || exit
PEAL_DATA=data PEAL_DEFAULT_USER=$(id -un) PEAL_CONFIG=etc/peal.yaml run peal start -d --listen none
expect_status 0
rm "$scratch/etc/conf.d/30.yaml"
hang_up 'taken="max_running=3" next_start=""'
run peal stop
expect_status 0

# ---- a log for programs ----

run peal start -d --log-format json --log "$scratch/json.log" --listen none
expect_status 0
run peal stop
run jq -r '.event' "$scratch/json.log"
expect_status 0
expect_stdout_has ready
run jq -c 'select(.event == "ready") | [.data, (.pid | type), (.time | endswith("Z"))]' "$scratch/json.log"
expect_stdout "[\"$scratch/data\",\"number\",true]"

finish
