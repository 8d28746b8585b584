#!/bin/bash
# Another user of the machine, who may look into the folders around an agent, and whose processes
# share its machine: what it keeps, its sockets, its processes.
# shellcheck disable=SC2016,SC2317 # for the other shell; functions that run calls
. "$(dirname "$0")/lib.sh"

if [ "$(id -u)" -ne 0 ]; then
    echo 'skipped: only root can be two users'
    exit 77
fi
chmod 0755 "$scratch"
mkdir "$scratch/bin" # where everybody may execute it
cp "$(command -v peal)" "$(command -v peal-spawn)" "$scratch/bin/"
export PATH=$scratch/bin:$PATH
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }

# The folder is open to all, as an operator may have left it; what is in it is not.
mkdir -m 0755 "$scratch/plain"
umask 0000
start_target plain
umask 0022
secret=hunter2-of-the-db
run peal add secret @manual --env "DB_PASSWORD=$secret" --shell 'echo printed; sleep 60'
expect_status 0
run peal run secret
expect_status 0
wait_until newest_is secret running
run as_nobody ls "$PEAL_DATA"
expect_status 0

run as_nobody find "$PEAL_DATA" -mindepth 1 '(' -readable -o -writable ')' ! -type l
expect_stdout '' # neither files nor folders nor sockets
run as_nobody sh -c 'for file in "$0"/* "$0"/*/*; do cat "$file" || : >"$file"; done' "$PEAL_DATA"
expect_stdout ''

# Its sockets: that of the API, and the spawner's, which starts processes.
run as_nobody curl -sS --unix-socket "$PEAL_DATA/api.sock" http://peal/api/v1/jobs
expect_status 7
run as_nobody env PEAL_DATA="$PEAL_DATA" peal list
checks=$((checks + 1))
[ "$status" -ne 0 ] || mismatch 'expected to be refused'
find "$PEAL_DATA" -type s >"$scratch/sockets"
run grep -c . "$scratch/sockets"
expect_stdout 2
while read -r socket; do
    run as_nobody curl -sS --unix-socket "$socket" http://peal/
    expect_status 7
done <"$scratch/sockets"
# Even where the file lets them in, the kernel says who they are.
chmod 0666 "$PEAL_DATA/api.sock"
run as_nobody curl -sS -o "$scratch/answer" -w '%{http_code}' --unix-socket "$PEAL_DATA/api.sock" http://peal/api/v1/jobs
expect_stdout 403
chmod 0600 "$PEAL_DATA/api.sock"

# Its processes: what they are told is not on their command lines, nor can they be looked into or ended.
run sh -c 'cat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "'
expect_stdout_lacks "$secret"
expect_stdout_lacks "$token"
pid=$(cat "$PEAL_DATA/peal.pid")
for pid in "$pid" $(processes_with "peal-spawn --dir $PEAL_DATA/"); do
    run as_nobody sh -c 'cat /proc/$0/environ /proc/$0/maps /proc/$0/mem /proc/$0/fd/0; kill -9 $0' "$pid"
    expect_stdout ''
    run kill -0 "$pid"
    expect_status 0
done

# A folder of their own under a name that the agent would use.
mkdir "$scratch/shared"
chmod 1777 "$scratch/shared"
run as_nobody mkdir -m 0700 "$scratch/shared/trap"
run peal start -d --data "$scratch/shared/trap" --listen none
checks=$((checks + 1))
[ "$status" -ne 0 ] || mismatch 'expected it not to start in a folder of another user'
run as_nobody ln -s "$PEAL_DATA" "$scratch/shared/link"
expect_bait
run peal stop
expect_status 0
finish
