#!/bin/bash
# examples.sh DOCUMENT
# Types what a document shows, line by line in one shell, as its reader would, at agents of its own.
# Indented lines that start with peal, curl, redis-cli, sqlite3 or export must succeed. What stands behind a `$ ` in
# ```console blocks must answer what the document shows below it: the very text, or, where that is
# JSON, the same but for ids, times and the like.
#
# Machines that are not there are replaced by this one (`here`); what needs something else that a
# test does not have is named in `left_out`, with the reason.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"
# shellcheck source=test/integration/history_lib.sh
. "$PEAL_SOURCE/test/integration/history_lib.sh"
# shellcheck source=test/integration/redis_lib.sh
. "$PEAL_SOURCE/test/integration/redis_lib.sh"

document=$1
mapfile -t ports < <(free_ports)
export HOME=$scratch/home
export PEAL_DATA=$HOME/.local/state/peal PEAL_LISTEN=127.0.0.1:${ports[0]}
export PEAL_PASSWORD_FILE=$scratch/password PEAL_CA=$scratch/ca.pem
unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR PEAL_URL PEAL_TOKEN
etcd_url=etcd://not.started
postgres_url=postgresql://not.started
redis_url=redis://not.started

# ---- this machine in the place of others ----

here() { # COMMAND
    sed -E -e "s#etcd://(etcd-1,etcd-2,etcd-3|10.0.0.1,10.0.0.2,10.0.0.3)#$etcd_url#" \
        -e "s#postgresql://peal@db-1,db-2/jobs\?sslmode=require#$postgres_url#" \
        -e "s#redis://redis-1#$redis_url#" \
        -e "s#^redis-cli#redis-cli -p $redis_port#" \
        -e "s#/usr/local/bin/backup#$scratch/backup#" \
        -e "s#^sqlite3 /var/lib/peal/#sqlite3 $PEAL_DATA/#" \
        -e "s#/srv/backup/#$scratch/#" \
        -e "s#--from /var/lib/peal#--from $scratch/alone#" \
        -e "s#/var/lib/peal-#$scratch/peal-#g" \
        -e "s#127.0.0.1:7325#$PEAL_LISTEN#" \
        -e "s#--listen 0.0.0.0#&:${ports[1]}#" \
        -e "s#https://peal.example.com:7325#https://localhost:${ports[1]} --name anna#" \
        -e "s#^curl .*(DKRON|GOCRON).*>#cat $scratch/\1.json >#" \
        -e "s#/etc/systemd/system#$HOME/systemd#" \
        -e "s#^peal (user add|login) .*#& --password-file $scratch/password#" \
        -e "s#^peal workflow retry 01K.*#peal workflow retry $(instance) --all --wait#" \
        -e "s#^peal (drain|undrain) web-1#peal \1 $(node_name)#" \
        -e "s#^peal logs -f (.*)#peal run \1 --wait; timeout 3 & || [ \$? -eq 124 ]#" <<<"$1"
}

# The node that the agent of $PEAL_DATA is; web-1 where nobody has started one yet.
node_name() {
    peal nodes -o name 2>/dev/null | head -n 1 | grep . || echo web-1
}

# The newest instance of the workflow that the document shows, which was good: all of it is run again.
instance() {
    peal workflow runs etl/nightly -o name 2>/dev/null | head -n 1
}

left_out() { # COMMAND
    case $1 in
    'peal cluster advance-cursors') echo 'needs a restored etcd; see restore_test.sh' ;;
    'peal cluster import --from '*://*) echo 'needs a store whose nodes are stopped; see import_stores_test.sh' ;;
    *--history\ *) echo 'needs a database; see history_test.sh' ;;
    *) return 1 ;;
    esac
}

# As one is that nobody has set up.
start_redis() {
    redis_make --appendonly no --appendfsync everysec
    redis_url=redis://127.0.0.1:$redis_port
}

start_postgres() {
    local ports
    postgres_make trust
    postgres_url=postgresql://peal@127.0.0.1:$postgres_port/peal
}

# What a reader has by the time they come here.
prepare() {
    mkdir -p "$HOME/jobs" "$scratch/bin"
    printf '#!/bin/sh\necho done\n' >"$scratch/backup"
    printf '#!/bin/sh\necho "0 3 * * * true"\n' >"$scratch/bin/crontab"
    printf 'name: nightly\nschedule: "0 3 * * *"\ncommand: ["true"]\n' >"$HOME/jobs/nightly.yaml"
    echo 'correct horse' >"$scratch/password"
    : >"$PEAL_CA"
    echo '[{"name":"a","schedule":"@daily","executor":"shell","executor_config":{"command":"true"}}]' \
        >"$scratch/DKRON.json"
    echo '[{"id":1,"name":"b","spec":"@daily","protocol":2,"command":"true"}]' >"$scratch/GOCRON.json"
    printf '%s\n' 'apiVersion: batch/v1' 'kind: CronJob' 'metadata: {name: c}' \
        'spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}' \
        >"$HOME/cronjobs.yaml"
    mkdir -p "$HOME/systemd"
    printf '[Timer]\nOnCalendar=daily\n' >"$HOME/systemd/backup.timer"
    printf '[Service]\nExecStart=/bin/true\n' >"$HOME/systemd/backup.service"
    echo '[{"id":1,"job_desc":"x","glue_type":"GLUE_SHELL","glue_source":"true"}]' >"$HOME/jobs.json"
    { # the workflow of the document, where its programs are
        sed -n '/^kind: workflow$/,/^```$/p' "$document" | sed '/^```$/,$d'
        echo "cwd: $HOME"
    } >"$HOME/etl.yaml"
    printf '#!/bin/sh\nseq 3 >data\n' >"$HOME/extract.sh"
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\n[ "$1" = --rows=3 ]\n' >"$HOME/load"
    chmod +x "$scratch/backup" "$scratch/bin/crontab" "$HOME/extract.sh" "$HOME/load"
    PATH=$scratch/bin:$PATH
    ! grep -q 'etcd://' "$document" || etcd_start
    ! grep -q 'postgresql://peal@db-1' "$document" || start_postgres
    ! grep -q 'redis://redis-1' "$document" || start_redis
    case $document in
    docs/API.md | docs/SECURITY.md) peal start -d --node-id web-1 ;;
    docs/OPERATIONS.md) peal start -d --node-id web-1 && peal add hello @manual -- true ;;
    docs/FROM-OTHERS.md) peal start -d --node-id web-1 --facade dkron,tutorial ;;
    docs/CLUSTER.md)
        peal start -d --data "$scratch/alone"
        peal add moved @manual --data "$scratch/alone" -- true
        peal stop --data "$scratch/alone"
        ;;
    esac >"$scratch/out" 2>&1 || fail 0 prepare 'the agent did not start'
    cd "$HOME" || exit 1
}

# An agent that is started while there is one is that of another machine.
make_way() { # COMMAND
    case $1 in
    'peal start'*--data*) export PEAL_LISTEN=127.0.0.1:0 ;; # it has a place of its own
    'peal start'*)
        [ ! -S "$PEAL_DATA/api.sock" ] ||
            export PEAL_DATA=$scratch/other$checks PEAL_LISTEN=127.0.0.1:0
        ;;
    'peal restart --listen'*) cp "$PEAL_DATA"/tls/cert.pem "$PEAL_CA" ;;
    esac
}

# ---- reading ----

# Of each example: its line, its command, and what it answers; "": that is not shown.
lines=()
commands=()
wants=()

add_example() { # LINE COMMAND
    lines+=("$1")
    commands+=("$2")
    wants+=('')
}

read_examples() {
    local line number=0 inside='' last
    while IFS= read -r line; do
        number=$((number + 1))
        last=$((${#commands[@]} - 1))
        case $inside$line in
        \`\`\`console) inside=: ;;
        :\`\`\`) inside= ;;
        :\$\ *) add_example $number "${line#\$ }" ;;
        :*) wants[last]+=$line$'\n' ;;
        '    peal '* | '    curl '* | '    redis-cli '* | '    sqlite3 '* | '    export PEAL'*)
            add_example $number "$(sed 's/^ *//; s/  *# .*//' <<<"$line")"
            ;;
        esac
    done <"$document"
}

# ---- comparing ----

# Without what differs from one time to the next. The README fixes its times with --from.
alike() { # FILE
    if [ "$document" = README.md ]; then
        cat "$1"
        return
    fi
    sed -E -e 's/\b[0-9A-HJKMNP-TV-Z]{26}\b/ID/g' \
        -e 's/\b20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\.[0-9]{3})?Z/TIME/g' \
        -e 's/"(user_ms|system_ms|max_rss_kb)": *[0-9]+/"\1": 0/g' \
        -e "s/\"$(id -un)\"/\"root\"/g" "$1"
}

is_json() { # FILE
    head -c 1 "$1" | grep -q '[[{]'
}

differs() { # WANTED GOT
    if is_json "$1" && is_json "$2"; then
        ! diff -u <(alike "$1" | jq -S .) <(alike "$2" | jq -S .)
    else
        ! diff -u <(alike "$1") <(sed 's/ *$//' "$2" | alike -)
    fi
}

fail() { # LINE COMMAND WORDS
    failures=$((failures + 1))
    echo "$document:$1: $2"
    echo "  $3"
    sed 's/^/  /' "$scratch/out"
}

try() { # NUMBER
    local command line=${lines[$1]} status=0
    command=$(here "${commands[$1]}")
    case $command in
    *10.0.0.* | *etcd-1* | *example.com:*)
        fail "$line" "$command" 'would ask other machines'
        return
        ;;
    esac
    make_way "$command"
    eval "$command" >"$scratch/out" 2>&1 </dev/null || status=$?
    if [ -z "${wants[$1]}" ]; then
        [ $status -eq 0 ] || fail "$line" "$command" "status $status"
    else
        printf '%s' "${wants[$1]}" >"$scratch/want"
        ! differs "$scratch/want" "$scratch/out" >"$scratch/diff" ||
            fail "$line" "$command" "$(cat "$scratch/diff")"
    fi
}

cd "$PEAL_SOURCE" || exit 1
read_examples
prepare
for i in "${!commands[@]}"; do
    if reason=$(left_out "${commands[$i]}"); then
        echo "$document:${lines[$i]}: left out: ${commands[$i]}: $reason"
        continue
    fi
    checks=$((checks + 1))
    try "$i"
done
finish
