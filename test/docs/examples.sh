#!/bin/bash
# examples.sh RECEIVER DOCUMENT...
# Types what documents show, line by line in one shell, as their reader would, at agents of its own.
# - Commands in indented blocks, and in ```sh and ``` blocks, must end with 0.
# - What stands behind a `$ ` in ```console blocks must answer what the document shows below it: the very text, or,
#   where that is JSON, the same but for ids, times and the like.
# - ```yaml blocks are files of jobs and workflows that `peal validate` takes.
# What is different of a block or a line, or is not tried here, is in blocks.txt, with the reason; any other block is a
# failure. Machines that are not there are replaced by this one (`here`).
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"
# shellcheck source=test/integration/history_lib.sh
. "$PEAL_SOURCE/test/integration/history_lib.sh"
# shellcheck source=test/integration/redis_lib.sh
. "$PEAL_SOURCE/test/integration/redis_lib.sh"
# shellcheck source=test/docs/blocks_lib.sh
. "$PEAL_SOURCE/test/docs/blocks_lib.sh"

receiver=$1 # of webhooks
shift
mapfile -t ports < <(free_ports)
export HOME=$scratch/home
export PEAL_DATA=$HOME/.local/state/peal PEAL_LISTEN=127.0.0.1:${ports[0]}
export PEAL_PASSWORD_FILE=$scratch/password PEAL_CA=$scratch/ca.pem
unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_RUNTIME_DIR PEAL_URL PEAL_TOKEN
etcd_url=etcd://not.started
postgres_url=postgresql://not.started
redis_url=redis://not.started
left_out=0
ready= # the document whose agent and files are there
receiver_pid=
trap '[ -z "$receiver_pid" ] || kill "$receiver_pid"; end_agents; etcd_stop; servers_stop; rm -rf "$scratch"' EXIT
set +u # as in a reader's shell

# ---- this machine in the place of others ----

here() { # COMMAND
    local instance='' run='' node=''
    if [[ $1 == *01K9ZQ3V7C* ]]; then
        instance=$(newest_instance)
        run=$(newest_run report)
    fi
    [[ $1 != *web-[12]* ]] || node=$(node_name)
    sed -E -e "s#etcd://(etcd-1,etcd-2,etcd-3|etcd-1,etcd-2|10.0.0.1,10.0.0.2,10.0.0.3)#$etcd_url#" \
        -e "s#postgresql://peal@db-1,db-2/jobs\?sslmode=require#$postgres_url#" \
        -e "s#redis://redis-1#$redis_url#" \
        -e "s#^redis-cli#redis-cli -p $redis_port#" \
        -e "s#/usr/local/bin/backup#$scratch/backup#" \
        -e "s#( )/var/lib/peal/#\1$PEAL_DATA/#g" \
        -e "s#^systemctl stop peal#peal stop#; s#^systemctl start peal#peal start -d#" \
        -e "s#/srv/backup/#$scratch/#" \
        -e "s#/etc/peal/peal.yaml#$HOME/peal.yaml#" \
        -e "s#--from /var/lib/peal#--from $scratch/alone#" \
        -e "s#/var/lib/peal-#$scratch/peal-#g" \
        -e "s#127.0.0.1:7325#$PEAL_LISTEN#" \
        -e "s#--listen 0.0.0.0#&:${ports[1]}#" \
        -e "s#https://peal.example.com:7325#https://localhost:${ports[1]} --name anna#" \
        -e "s#^curl .*(DKRON|GOCRON).*>#cat $scratch/\1.json >#" \
        -e "s#/etc/systemd/system#$HOME/systemd#" \
        -e "s#^make #make -n -C $PEAL_SOURCE #" \
        -e "s#^journalctl [^|]*\|#cat $scratch/cron.log |#" \
        -e "s#^peal (user add|login) .*#& --password-file $scratch/password#" \
        -e "s#^peal (delete|(webhook|group|calendar) delete) .*#& --yes#" \
        -e "s#^peal workflow retry 01K9ZQ3V7C\$#peal workflow retry $instance --all --wait#" \
        -e "s#^peal (run|runs) (--again )?01K9ZQ3V7C#peal \1 \2$run#" \
        -e "s#^(peal [^|]*)01K9ZQ3V7C#\1$instance#" \
        -e "s#^peal (drain|undrain) web-1#peal \1 $node#" \
        -e "s#--on web-2#--on $node#" \
        -e "s#^peal (why|run) JOB#peal \1 backup#; s#peal logs JOB#peal logs backup#" \
        -e "s#'20(27-01-0[23]) #'20$(($(date +%y) + 1))-\1 #g; s#('20[0-9]*-)27-#\1#g" \
        -e "s#^peal logs -f 01(.*)#peal logs 01\1#" \
        -e "s#^peal logs -f ([^0].*)#peal run \1 --wait; timeout 3 & || [ \$? -eq 124 ]#" \
        -e "s#^peal elect .*#timeout -k 5 2 & || [ \$? -eq 124 ]#" <<<"$1"
}

# The node that the agent of $PEAL_DATA is; web-1 where nobody has started one yet.
node_name() {
    peal nodes -o name 2>/dev/null | head -n 1 | grep . || echo web-1
}

# The newest instance of the workflow that the document shows, which was good: all of it is run again.
newest_instance() {
    peal workflow runs etl/nightly -o name 2>/dev/null | head -n 1
}

newest_run() { # JOB
    peal runs "$1" -n 1 -o json 2>/dev/null | jq -r '.[0].run_id'
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

# A service that takes what a channel sends.
start_receiver() {
    "$receiver" "${ports[1]}" "$scratch/got" >/dev/null &
    receiver_pid=$!
    echo "http://127.0.0.1:${ports[1]}/hook" >hook.txt
    wait_until curl -fsS -o /dev/null -X POST "$(cat hook.txt)" -d ''
}

# ---- what a reader has by the time they come here ----

# Programs that documents name.
make_programs() {
    mkdir -p "$scratch/bin"
    printf '#!/bin/sh\necho done\n' >"$scratch/backup"
    printf '#!/bin/sh\nseq 3\n' >"$scratch/bin/generate"
    # crontab: -l, FILE or - for another one
    cat >"$scratch/bin/crontab" <<END
#!/bin/sh
case \$1 in
-l) cat "$scratch/crontab" ;;
*) cat "\$1" >"$scratch/crontab.new" && mv "$scratch/crontab.new" "$scratch/crontab" ;;
esac
END
    echo '0 3 * * * true' >"$scratch/crontab"
    echo "$(date -d 'yesterday 03:00:01' +%FT%T%z) host CRON[123]: (root) CMD (true)" >"$scratch/cron.log"
    chmod +x "$scratch/backup" "$scratch"/bin/*
    PATH=$scratch/bin:$PATH
}

# Files of other programs, whose jobs are imported.
make_foreign_files() {
    echo '[{"name":"a","schedule":"@daily","executor":"shell","executor_config":{"command":"true"}}]' \
        >"$scratch/DKRON.json"
    echo '[{"id":1,"name":"b","spec":"@daily","protocol":2,"command":"true"}]' >"$scratch/GOCRON.json"
    printf '%s\n' 'apiVersion: batch/v1' 'kind: CronJob' 'metadata: {name: c}' \
        'spec: {schedule: "@daily", jobTemplate: {spec: {template: {spec: {containers: [{name: c, image: i}]}}}}}' \
        >cronjobs.yaml
    mkdir -p "$HOME/systemd" fleet/web-1
    printf '[Timer]\nOnCalendar=daily\n' >"$HOME/systemd/backup.timer"
    printf '[Service]\nExecStart=/bin/true\n' >"$HOME/systemd/backup.service"
    echo '[{"id":1,"job_desc":"x","glue_type":"GLUE_SHELL","glue_source":"true"}]' >xxl.json
    echo '0 4 * * * root true' >fleet/web-1/crontab
}

# The folder in which the document is read.
make_files() { # DOCUMENT
    local name folder
    folder=$HOME/$(tr '/' _ <<<"$1")
    mkdir -p "$folder" && cd "$folder" || exit
    mkdir jobs jobs.d
    printf 'name: nightly\nschedule: "0 3 * * *"\ncommand: ["true"]\n' | tee jobs/nightly.yaml >jobs.d/nightly.yaml
    { # the workflow of the document, where its programs are
        sed -n '/^kind: workflow$/,/^```$/p' "$PEAL_SOURCE/$1" | sed '/^```$/,$d; s#http: https://.*#shell: "true"#'
        echo "cwd: $PWD"
    } >etl.yaml
    printf '#!/bin/sh\nseq 3 >data\n' >extract.sh
    # shellcheck disable=SC2016 # for the script
    printf '#!/bin/sh\n[ "$1" = --rows=3 ]\n' >load
    printf '#!/bin/sh\necho report\n' >report
    printf '#!/bin/sh\nsleep 1\n' >mailer
    cp "$scratch/backup" backup
    chmod +x extract.sh load report mailer
    for name in slack-hook ding-hook feishu-hook wecom-hook workflow-url; do
        echo "https://hooks.example.com/$name" >"$name.txt"
    done
    for name in key ding-secret feishu-secret mail integration-key bot-token ntfy-token password; do
        echo '0123456789abcdef0123456789abcdef' >"$name.txt"
    done
    echo id,amount >orders.csv
    peal config sample >"$HOME/peal.yaml"
    make_foreign_files
}

# Starts what the document needs, and makes the jobs that it speaks of.
prepare() { # DOCUMENT
    case $1 in
    docs/CLUSTER.md)
        peal start -d --data "$scratch/alone"
        peal add moved @manual --data "$scratch/alone" -- true
        peal stop --data "$scratch/alone"
        return
        ;;
    README* | docs/GUIDE.md | docs/zh/GUIDE.md) return ;;
    docs/FROM-OTHERS.md) peal start -d --node-id web-1 --facade dkron,tutorial ;;
    *) [ -S "$PEAL_DATA/api.sock" ] || peal start -d --node-id web-1 ;;
    esac
    case $1 in
    docs/OPERATIONS.md) peal add hello @manual -- true ;;
    docs/JOBS.md)
        [ -e "$PEAL_DATA/secret.key" ] || peal secret init
        peal add backup @manual -- "$scratch/backup"
        peal add load @manual -- cat
        peal add deploy @manual -- true
        peal add report @manual --param day --param format -- true
        ;;
    docs/WORKFLOWS.md) peal apply -f etl.yaml && peal workflow run etl/nightly --wait ;;
    docs/NOTIFY.md)
        peal add db/backup @manual -- false
        peal run db/backup --wait || [ $? -eq 10 ]
        start_receiver
        ;;
    docs/FROM-CRONTAB.md) export EDITOR=false ;;
    docs/CLI.md)
        git init -q . && git add jobs.d && git -c user.name=a -c user.email=a@example.com commit -qm jobs &&
            git update-ref refs/remotes/origin/main HEAD
        ;;
    *FAQ.md)
        peal add backup @manual -- true
        peal run backup --wait
        ;;
    esac
}

# Before the first command of a document; many have none.
make_ready() {
    [ "$ready" != "$document" ] || return
    ready=$document
    make_files "$document"
    prepare "$document" >"$scratch/out" 2>&1 || fail 0 prepare 'what it needs could not be made'
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

fail() { # LINE WHAT WORDS
    failures=$((failures + 1))
    echo "$document:$1: $2"
    echo "  $3"
    sed 's/^/  /' "$scratch/out"
}

# ---- commands ----

leave_out() { # LINE WHAT
    left_out=$((left_out + 1))
    # shellcheck disable=SC2128 # the words of the row
    echo "$document:$1: left out: ${2%%$'\n'*}: $words"
}

# A command, whose answer is looked at where the document shows it, or blocks.txt says what it has.
try() { # LINE COMMAND [ANSWER]
    local command line=$1 status=0 want_status=0 how words
    if rule_of "$document" "$2" skip; then
        leave_out "$line" "$2"
        return
    fi
    checks=$((checks + 1))
    [[ $2 == 'make '* ]] || make_ready
    ! rule_of "$document" "$2" status || want_status=$words
    command=$(here "$2")
    case $command in
    *10.0.0.* | *etcd-1* | *example.com:*)
        fail "$line" "$command" 'would ask other machines'
        return
        ;;
    esac
    make_way "$command"
    eval "$command" >"$scratch/out" 2>&1 </dev/null || status=$?
    if [ $# -gt 2 ] && [ -n "$3" ]; then
        printf '%s' "$3" >"$scratch/want"
        ! differs "$scratch/want" "$scratch/out" >"$scratch/diff" ||
            fail "$line" "$command" "$(cat "$scratch/diff")"
    elif [ $status -ne "$want_status" ]; then
        fail "$line" "$command" "status $status instead of $want_status"
    elif grep -q -e Sanitizer -e 'runtime error:' "$scratch/out"; then
        fail "$line" "$command" 'a sanitizer complained'
    elif rule_of "$document" "$2" says && ! grep -qF -e "$words" "$scratch/out"; then
        fail "$line" "$command" "does not say: $words"
    fi
}

# Whether more lines belong to it: a line that goes on, a text or a loop without its end, a file in the command.
is_open() { # COMMAND
    local word
    [[ $1 != *\\$'\n' ]] || return 0
    word=$(sed -nE "s/.*<<-?'?([A-Z]+)'?.*/\1/p" <<<"$1" | head -n 1)
    [ -z "$word" ] || ! grep -qx "$word" <<<"$1" || return 1
    [ -z "$word" ] || return 0
    ! bash -n <<<"$1" 2>/dev/null
}

# The commands of a block, one after the other, without what is said of them behind two blanks and a #.
try_commands() { # LINE TEXT
    local line=$(($1 - 1)) start=0 text command=''
    while IFS= read -r text; do
        line=$((line + 1))
        [ -n "$command" ] || start=$line
        [ -n "$command$text" ] || continue
        command+=$text$'\n'
        ! is_open "$command" || continue
        # shellcheck disable=SC2001 # of each of its lines
        try $start "$(sed 's/  *# .*//' <<<"${command%$'\n'}")"
        command=
    done <<<"$2"
    [ -z "$command" ] || fail $start "$command" 'has no end'
}

# Commands behind `$ `, each with the answer below it.
try_console() { # LINE TEXT
    local line=$(($1 - 1)) start=0 text command='' answer=''
    while IFS= read -r text; do
        line=$((line + 1))
        if [[ $text != '$ '* ]]; then
            answer+=$text$'\n'
            continue
        fi
        [ -z "$command" ] || try $start "$command" "$answer"
        command=${text#\$ } answer='' start=$line
    done <<<"${2%$'\n'}"
    try $start "$command" "$answer"
}

# A word that begins a command: the first one of a line, behind variables that are set for it.
is_command() { # LINE
    local word
    for word in $1; do
        [[ $word == *=* ]] || break
    done
    [[ $word =~ ^(peal|curl|make|sudo|git|docker|redis-cli|sqlite3|export|for|while|printf|cat|cp|mkdir|cc|\./[a-z]+|[a-z]+)$ ]] &&
        type "${word}" >/dev/null 2>&1
}

# ---- files ----

# A file in a block is what COMMAND takes, which gets its name.
try_file() { # LINE TEXT NAME COMMAND...
    local line=$1 file=$scratch/$3 status=0
    printf '%s\n' "$2" >"$file"
    shift 3
    checks=$((checks + 1))
    PEAL_DATA=$scratch/nowhere "$@" "$file" >"$scratch/out" 2>&1 </dev/null || status=$?
    [ $status -eq 0 ] || fail "$line" "$*" "status $status"
}

# Fields of a job.
job_with() { # TEXT
    [[ $1 == after:* ]] || echo 'schedule: "@daily"'
    printf '%s\n' 'name: a' 'command: ["true"]' "$1"
}

# A workflow with the steps that documents name, but for those that this piece has itself.
workflow_with() { # PIECE
    local name
    printf '%s\n' 'kind: workflow' 'name: a' 'schedule: "@manual"' 'params: {day: {default: "1"}, region: {default: eu}, mode: {default: full}, strict: {default: "1"}}' 'steps:'
    for name in extract check load probe list build mirror-eu mirror-us mirror-asia; do
        grep -q -- "- name: $name\$" <<<"$1" ||
            printf '  - {name: %s, command: ["true"], outputs: [rows, path, files, names]}\n' "$name"
    done
    printf '%s\n' "$1"
}

# Lines of which each is another example, of a field of a job or of a step.
try_each() { # LINE TEXT field|step
    local line=$1 one after=$'    after: [extract, check, list]\n'
    while IFS= read -r one; do
        one=${one#"${one%%[! ]*}"}
        [[ $one != after:* ]] || after=
        case $3 in
        field) try_file "$line" "$(job_with "$one")" jobs.yaml peal validate ;;
        step) try_file "$line" "$(workflow_with $'  - name: last\n    command: ["true"]\n'"$after    $one")" jobs.yaml peal validate ;;
        esac
        line=$((line + 1))
    done <<<"$2"
}

# ---- a document ----

try_block() { # LINE LANGUAGE TEXT
    local first=${3%%$'\n'*} how words
    first=${first#"${first%%[! ]*}"}
    [[ $2 == indented || $2 == none || $2 == sh || $2 == yaml || $2 == console ]] || first="\`\`\`$2"
    if rule_of "$document" "$first" text skip-block; then
        [ "$how" = text ] || leave_out "$1" "$3"
        return
    fi
    if rule_of "$document" "$first" field step; then
        try_each "$1" "$3" "$how"
    elif rule_of "$document" "$first" fields; then
        try_file "$1" "$(job_with "$3")" jobs.yaml peal validate
    elif rule_of "$document" "$first" steps; then
        try_file "$1" "$(workflow_with "$3")" jobs.yaml peal validate
    elif rule_of "$document" "$first" calendar; then
        make_ready
        try_file "$1" "$3" calendar.yaml peal calendar set shown --data "$PEAL_DATA" -f
    elif rule_of "$document" "$first" config; then
        try_file "$1" "$3" config.yaml peal config validate
    elif [ "$2" = console ]; then
        try_console "$1" "$3"
    elif [ "$2" = yaml ]; then
        try_file "$1" "$3" jobs.yaml peal validate
    elif [ "$2" = sh ] || rule_of "$document" "$first" skip status says ||
        { [[ $2 == indented || $2 == none ]] && is_command "$first"; }; then
        try_commands "$1" "$3"
    else
        : >"$scratch/out"
        fail "$1" "$first" 'is in a block that is neither tried nor named in test/docs/blocks.txt'
    fi
}

read_rules "${PEAL_BLOCKS:-$PEAL_SOURCE/test/docs/blocks.txt}"
make_programs
echo 'correct horse' >"$scratch/password"
: >"$PEAL_CA"
cd "$PEAL_SOURCE" || exit
needs() { # WORDS: of one of the documents
    grep -qF -e "$1" "${documents[@]}"
}
documents=("$@")
! grep -qE 'start.*etcd://|PEAL_STORE=etcd|peal lock.*etcd://' "${documents[@]}" || etcd_start
! needs 'postgresql://peal@db-1' || start_postgres
! needs 'redis://redis-1' || start_redis
for document in "${documents[@]}"; do
    read_blocks "$PEAL_SOURCE/$document"
    for i in "${!block_lines[@]}"; do
        try_block "${block_lines[i]}" "${block_languages[i]}" "${block_texts[i]%$'\n'}"
    done
done
echo "$left_out left out"
finish
