# Sourced by the tests of the real binaries. A test runs a command and then says what it expects:
#
#   run peal next '75 * * * *'
#   expect_status 6
#   expect_stderr_has 'minute 75 is out of range'
#
# Every mismatch names the line of the test and shows what was there; `finish` ends the test.
# shellcheck shell=bash

set -u

source_dir=${PEAL_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
PATH=${PEAL_BIN:-$source_dir/build/asan/bin}:$PATH
export TZ=UTC LC_ALL=C.UTF-8
# Tests of root's run their jobs as root, as those of everybody else run theirs as themselves.
PEAL_DEFAULT_USER=$(id -un)
export PEAL_DEFAULT_USER
unset LANGUAGE PEAL_LANG TZDIR NO_COLOR PEAL_DATA PEAL_STORE PEAL_ETCD_PASSWORD PEAL_REDIS_PASSWORD PEAL_TOKEN PEAL_TOKEN_FILE VISUAL EDITOR

scratch=$(mktemp -d)
trap 'end_agents; etcd_stop; rm -rf "$scratch"' EXIT

checks=0
failures=0
status=0
ran=

# Reports a mismatch at the line of the test script, whichever helper found it.
mismatch() { # WHAT
    local i=0
    while [ "${BASH_SOURCE[$i]##*/}" = lib.sh ]; do
        i=$((i + 1))
    done
    failures=$((failures + 1))
    echo "${BASH_SOURCE[$i]##*/}:${BASH_LINENO[$((i - 1))]}: $ran"
    echo "  $1"
    echo "  status $status"
    sed 's/^/  stdout: /' "$scratch/out"
    sed 's/^/  stderr: /' "$scratch/err"
}

# Runs a command; its status, stdout and stderr are what the next lines are about. A sanitizer's
# report is a failure, whatever is expected.
run_with_stdin() { # FILE COMMAND...
    local input=$1
    shift
    ran="$*"
    status=0
    "$@" <"$input" >"$scratch/out" 2>"$scratch/err" || status=$?
    if grep -q -e 'Sanitizer' -e 'runtime error:' "$scratch/err"; then
        mismatch 'a sanitizer complained'
    fi
}

run() { # COMMAND...
    run_with_stdin /dev/null "$@"
}

expect_status() { # NUMBER
    checks=$((checks + 1))
    [ "$status" -eq "$1" ] || mismatch "expected status $1"
}

expect_same() { # STREAM TEXT
    checks=$((checks + 1))
    [ "$(cat "$scratch/$1")" = "$2" ] || mismatch "expected std$1 to be: $2"
}

expect_has() { # STREAM TEXT
    checks=$((checks + 1))
    grep -qF -e "$2" "$scratch/$1" || mismatch "expected in std$1: $2"
}

expect_lacks() { # STREAM TEXT
    checks=$((checks + 1))
    ! grep -qF -e "$2" "$scratch/$1" || mismatch "did not expect in std$1: $2"
}

expect_stdout() { expect_same out "$1"; }
expect_stderr() { expect_same err "$1"; }
expect_stdout_has() { expect_has out "$1"; }
expect_stderr_has() { expect_has err "$1"; }
expect_stdout_lacks() { expect_lacks out "$1"; }
expect_stderr_lacks() { expect_lacks err "$1"; }

# What a jq filter makes of stdout, in compact form.
expect_json() { # FILTER JSON
    checks=$((checks + 1))
    [ "$(jq -c "$1" "$scratch/out" 2>&1)" = "$2" ] || mismatch "expected $1 to be: $2"
}

# A systemd before 254 says that it ignores DelegateSubgroup, and does without limits of whole runs.
verify_unit() { # FILE
    local result=0
    systemd-analyze verify --man=no "$1" 2>"$scratch/verified" || result=$?
    grep -v "Unknown key 'DelegateSubgroup'" "$scratch/verified" >&2
    return "$result"
}

# An agent of the test's own in $scratch/NAME, which $PEAL_DATA names afterwards. All are ended,
# with what they started, when the test ends.
start_agent() { # NAME [OPTION...]
    export PEAL_DATA=$scratch/$1
    shift
    run peal start -d "$@"
    expect_status 0
}

# The processes that have TEXT in their command line.
processes_with() { # TEXT
    local file words
    for file in /proc/[0-9]*/cmdline; do
        { mapfile -d '' words <"$file"; } 2>/dev/null || continue
        case "${words[*]}" in
        *"$1"*) echo "${file//[!0-9]/}" ;;
        esac
    done
}

end_agents() {
    local socket pid
    find "$scratch" -name api.sock -type s | while read -r socket; do
        peal stop --data "${socket%/*}" >/dev/null 2>&1 </dev/null
    done
    for pid in $(processes_with "--dir $scratch/"); do # spawners outlive their agents by design
        kill "$pid" 2>/dev/null
    done
}

# The frame around the shipped file for nginx, $1/peal.conf, in FILE: a server that keeps to FOLDER.
nginx_frame() { # FOLDER FILE
    local user=
    [ "$(id -u)" -ne 0 ] || user='user root;'
    cat >"$2" <<END
daemon off; worker_processes 1; pid $1/pid; error_log $1/error.log; $user
events { worker_connections 64; }
http { access_log off; client_body_temp_path $1/b; proxy_temp_path $1/p;
  fastcgi_temp_path $1/f; uwsgi_temp_path $1/u; scgi_temp_path $1/s;
  include $1/peal.conf; }
END
}

# An etcd of the test's own on loopback ports that were free, at $etcd_endpoint; $etcd_url is its
# store's URL without a prefix. Tests that need one are skipped where there is none.
etcd_pid=
etcd_endpoint=
etcd_peer=
etcd_start() {
    local try ports
    for try in 1 2 3 4 5; do
        mapfile -t ports < <(free_ports)
        etcd_endpoint=127.0.0.1:${ports[0]}
        etcd_peer=http://127.0.0.1:${ports[1]}
        export etcd_url=etcd://$etcd_endpoint
        etcd_serve "$scratch/etcd.$try" && return
    done
    echo 'no free ports for etcd'
    exit 1
}

# The same once more, with the data of FOLDER. Fails, and says what etcd said, when it does not serve:
# somebody else may have its ports.
etcd_serve() { # FOLDER
    local program log=$scratch/etcd.log
    program=${PEAL_ETCD:-$(PATH=$PATH:/usr/local/bin command -v etcd)} || {
        echo 'etcd is not installed'
        exit 77
    }
    "$program" --data-dir "$1" --unsafe-no-fsync --logger zap \
        --listen-client-urls "http://$etcd_endpoint" \
        --advertise-client-urls "http://$etcd_endpoint" \
        --listen-peer-urls "$etcd_peer" --initial-advertise-peer-urls "$etcd_peer" \
        --initial-cluster "default=$etcd_peer" >"$log" 2>&1 &
    etcd_pid=$!
    wait_until etcd_has_begun "$log"
    grep -q 'serving client traffic' "$log" && return
    tail -n 5 "$log"
    etcd_stop
    return 1
}

# It serves, or it has ended.
etcd_has_begun() { # LOG
    grep -q 'serving client traffic' "$1" || ! kill -0 "$etcd_pid"
}

etcd_stop() {
    [ -z "$etcd_pid" ] || { kill -9 "$etcd_pid" && wait "$etcd_pid"; } 2>/dev/null
    etcd_pid=
}

# Two ports that nobody listens on just now.
free_ports() {
    local port count=0
    while [ $count -lt 2 ]; do
        port=$((20000 + (RANDOM << 15 | RANDOM) % 12000))
        if ! (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            count=$((count + 1))
        fi
    done
}

# The pause before something is asked again that was asked at this time: three times as long as the
# answer took, so that who waits leaves the processor to what is waited for.
rest_since() { # MICROSECONDS, of EPOCHREALTIME
    local pause=$(((${EPOCHREALTIME/./} - $1) * 3)) seconds
    pause=$((pause < 50000 ? 50000 : pause > 500000 ? 500000 : pause))
    printf -v seconds '0.%06d' $pause
    read -r -t "$seconds" <> <(:) # a pause, not a wait for anything
}

# Asks again until the command succeeds; the patience only ends a hang.
patience=60
wait_until() { # COMMAND...
    local deadline=$((SECONDS + patience)) asked=${EPOCHREALTIME/./}
    until "$@" >/dev/null 2>&1; do
        if [ $SECONDS -ge $deadline ]; then
            ran="$*"
            mismatch "did not happen within $patience seconds"
            return
        fi
        rest_since "$asked"
        asked=${EPOCHREALTIME/./}
    done
}

# Whether the newest run of a job is in this state.
newest_is() { # JOB STATE
    [ "$(peal runs "$1" -n 1 -o json | jq -r '.[0].state')" = "$2" ]
}

# What an agent says when it dies of a memory error is in its log.
look_into_logs() {
    find "$scratch" -name peal.log -exec grep -h -A 20 -e 'Sanitizer' -e 'runtime error:' {} + \
        >"$scratch/out"
    [ -s "$scratch/out" ] || return
    ran='the logs of the agents'
    : >"$scratch/err"
    mismatch 'a sanitizer complained'
}

finish() {
    look_into_logs
    echo "$checks checks, $failures failed"
    [ "$checks" -gt 0 ] && [ "$failures" -eq 0 ]
    exit
}
