#!/bin/bash
# container_test.sh [docker|podman]
# Jobs in containers, through packaging/peal-container: whatever ends a run ends its container. With
# a stand-in for docker, container/docker, or with the real one that is named, where that works.
. "$(dirname "$0")/lib.sh"

wrapper=$source_dir/packaging/peal-container
mark=peal-test-$$
image=$mark:latest
options=
kind=${1:-stand-in}
engine=$kind

skip() { # REASON...
    echo "$*"
    exit 77
}

# A root file system of this machine's shell and some programs.
make_root() { # FOLDER
    local file
    mkdir -p "$1/bin"
    for file in sh sleep cat env; do
        cp -L "$(command -v $file)" "$1/bin/$file"
        ldd "$1/bin/$file" | grep -o '/[^ ]*' | while read -r file; do
            mkdir -p "$1${file%/*}"
            cp -L "$file" "$1$file"
        done
    done
}

prepare_stand_in() {
    engine=$source_dir/test/integration/container/docker
    export STAND_IN=$scratch/stand-in
    mkdir "$STAND_IN"
    "$engine" serve >/dev/null 2>&1 &
    daemon=$!
    wait_until test -p "$STAND_IN/requests"
}

# Podman has its containers and images in the test's own folder.
prepare_podman() {
    engine=$scratch/podman
    printf '#!/bin/sh\nexec podman --root %s --runroot %s --storage-driver vfs --cgroup-manager %s "$@"\n' \
        "$scratch/images" "$scratch/containers" cgroupfs >"$engine"
    chmod +x "$engine"
}

prepare_real() {
    command -v "$kind" >/dev/null || skip "$kind is not installed"
    [ "$kind" = docker ] || prepare_podman
    make_root "$scratch/root"
    # A container needs no more, and a test's machine may not be able to grant the usual limits.
    options='--network=none --ulimit nofile=1024:1024 --ulimit nproc=4096:4096'
    tar -C "$scratch/root" -c . | "$engine" import - "$image" >"$scratch/out" 2>&1 ||
        skip "$kind can't import an image here: $(tail -n 1 "$scratch/out")"
    # shellcheck disable=SC2086 # words
    "$engine" run --rm $options "$image" sh -c : >"$scratch/out" 2>&1 ||
        skip "$kind can't run a container here: $(tail -n 1 "$scratch/out")"
}

daemon=
# shellcheck disable=SC2317 # the trap calls it
end_containers() {
    local pid
    for pid in $(processes_with "$mark."); do
        kill -9 "$pid" 2>/dev/null
    done
    [ -z "$daemon" ] || { kill "$daemon" && wait "$daemon"; } 2>/dev/null
    if [ "$kind" != stand-in ] && command -v "$kind" >/dev/null; then
        "$engine" ps --all --quiet --filter "ancestor=$image" | xargs -r "$engine" rm --force
        "$engine" rmi --force "$image"
    fi >/dev/null 2>&1
}
trap 'end_agents; end_containers; rm -rf "$scratch"' EXIT

case $kind in
stand-in) prepare_stand_in ;;
*) prepare_real ;;
esac

# ---- what the jobs are ----

# A job whose container executes a script. All its processes have the mark in their command line.
put() { # NAME FIELDS SCRIPT [PREFIX]
    local prefix=${4-$wrapper} word command=
    # shellcheck disable=SC2086 # words
    for word in $prefix "$engine" run --interactive $options "$image" sh -c; do
        command+="\"$word\", "
    done
    echo "{name: $1, schedule: \"@manual\", command: [$command'$3', $mark.$1.], ${2:+$2,}" \
        "env: {STAND_IN: \"${STAND_IN-}\", DOCKER_HOST: \"${DOCKER_HOST-unix:///var/run/docker.sock}\"," \
        "CONTAINERS_CONF: \"${CONTAINERS_CONF-}\"}}" >"$scratch/job.yaml"
    run peal apply -f "$scratch/job.yaml"
    expect_status 0
}

# shellcheck disable=SC2317 # wait_until calls these
{
    says() { peal logs "$1" | grep -qx -e "$2"; } # JOB LINE
    is_gone() { [ -z "$(processes_with "$mark.$1.")" ]; } # JOB
    spawner_is_not() { [ "$(peal state -o json | jq '.spawner.pid // 0')" -gt 0 ] && ! spawner_is "$1"; } # PID
    spawner_is() { [ "$(peal state -o json | jq .spawner.pid)" = "$1" ]; } # PID
}

begin() { # JOB
    run peal run "$1"
    expect_status 0
    wait_until says "$1" up
}

expect_end() { # JOB STATE REASON
    wait_until newest_is "$1" "$2"
    run peal runs "$1" -n 1 -o json
    expect_json '.[0] | [.state, .reason]' "[\"$2\",\"$3\"]"
}

# When the run is over, so is all that it had.
expect_gone() { # JOB
    ran="the container of $1"
    processes_with "$mark.$1." >"$scratch/out"
    checks=$((checks + 1))
    is_gone "$1" || mismatch 'expected it to be gone'
}

expect_left() { # JOB
    ran="the container of $1"
    checks=$((checks + 1))
    ! is_gone "$1" || mismatch 'expected it to be there still'
}

expect_lines() { # COUNT
    checks=$((checks + 1))
    [ "$(wc -l <"$scratch/out")" -eq "$1" ] || mismatch "expected $1 lines"
}

stubborn='trap "" TERM; echo up; while :; do sleep 0.1; done'
polite='trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.1; done'

start_agent one --listen none

# ---- a container is the run's process: input, output, exit code, variables ----

put plain 'stdin: hello, grace: 77s' 'cat; echo; echo wrong >&2; env; exit 7'
run peal run plain --follow
expect_status 10
expect_stdout_has hello
expect_stderr_has wrong
for name in PEAL_JOB=plain PEAL_RUN_ID= PEAL_TICK=20 PEAL_ATTEMPT=1 PEAL_FENCE= PEAL_NODE= PEAL_GRACE=77; do
    expect_stdout_has "$name"
done
expect_stdout_lacks PEAL_AFTER_JOB
run peal runs plain -n 1 -o json
expect_json '.[0] | [.state, .reason, .exit_code]' '["failed","exit_code",7]'
expect_gone plain

# ---- kill, timeout, replacement ----

put polite 'grace: 1h' "$polite"
begin polite
run peal kill polite
expect_end polite killed user
expect_gone polite
run peal runs polite -n 1 -o json
expect_json '.[0].exit_code' 3
run peal logs polite
expect_stdout_has bye

# Without the wrapper this container would stay: so it does with the client alone.
put bare 'grace: 1s' "$stubborn" ''
put stubborn 'grace: 6s' "$stubborn"
put slow 'grace: 6s, timeout: 1s' "$stubborn"
put replaced 'grace: 6s, overlap: replace' "$stubborn"
run peal run slow
for job in bare stubborn replaced; do
    begin $job
done
run peal kill bare
run peal kill stubborn
first=$(peal runs replaced -n 1 -o json | jq -r '.[0].run_id')
run peal run replaced
expect_status 0
expect_end bare killed user
expect_left bare
expect_end stubborn killed user
expect_gone stubborn
expect_end slow timed_out timeout
expect_gone slow
wait_until newest_is replaced running
wait_until says replaced up
run "$engine" ps --quiet --filter label=peal.job=replaced
expect_lines 1
run peal runs replaced -o json
expect_json "map(select(.run_id == \"$first\"))[0] | [.state, .reason]" '["killed","replaced"]'

# ---- the agent and the spawner are killed, the kill still reaches it ----

kill -9 "$(cat "$PEAL_DATA/peal.pid")"
start_agent one --listen none
spawner=$(peal state -o json | jq .spawner.pid)
kill -9 "$spawner"
wait_until spawner_is_not "$spawner"
expect_left replaced
run peal kill replaced
expect_end replaced killed user
expect_gone replaced

# ---- SIGKILL at once: the container stays, until the next one starts ----

put shot 'grace: 0s' "$stubborn"
put other 'grace: 6s' "$polite"
begin other
begin shot
run peal kill shot
expect_end shot killed user
expect_left shot
run peal run plain --follow
expect_status 10
expect_stderr_has 'which a killed run had left'
wait_until is_gone shot
expect_left other
expect_left bare # it is nobody's
run peal kill other
expect_end other killed user
expect_gone other

# ---- what it says by itself ----

for words in '' 'docker' 'docker run' 'docker ps x'; do
    # shellcheck disable=SC2086 # words
    run "$wrapper" $words
    expect_status 125
    expect_stderr_has 'usage: peal-container docker|podman run'
done
run "$wrapper" no-such-engine run "$image"
expect_status 125
expect_stderr_has 'no-such-engine does not answer'

finish
