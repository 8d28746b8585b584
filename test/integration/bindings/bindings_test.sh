#!/bin/bash
# A binding against an installed libpeal: the example of its README, and a program with the same
# functions in each language, three processes of which share a store, one of them killed: each tick is
# called once; runs with parameters, failures and their words, cancelled runs.
# Usage: bindings_test.sh python|go|rust BUILD
# shellcheck disable=SC2317 # wait_until calls what seems unreachable
. "$(dirname "$0")/../lib.sh"
language=$1
build=${2:-$source_dir/build/asan}
here=$source_dir/test/integration/bindings
binding=$scratch/binding
notes=$scratch/notes
declare -A pid
trap 'kill -9 "${pid[@]}" 2>/dev/null; end_agents; rm -rf "$scratch"' EXIT

skip() { # REASON...
    echo "skipped: $*"
    exit 77
}

# ---- an installed libpeal ----

# A library with a sanitizer needs it from the first instruction; what an interpreter leaves behind at its
# end is its own affair.
beneath=()
prepare_sanitizer() { # LIBRARY
    local name path list=
    for name in asan ubsan; do
        readelf -d "$1" | grep -q "NEEDED.*lib$name" || continue
        path=$(gcc -print-file-name=lib$name.so)
        list=$list:$path
    done
    if [ -n "$list" ]; then
        beneath=(env "LD_PRELOAD=${list#:}" ASAN_OPTIONS=detect_leaks=0)
    elif readelf -sW --dyn-syms "$1" | grep -q 'UND __asan_init'; then
        skip "another compiler's sanitizer is in $1"
    fi
}

install_library() {
    local library=$build/src/lib
    prefix=$scratch/prefix
    [ -e "$library/libpeal.so" ] || skip "$library/libpeal.so is not built"
    prepare_sanitizer "$library/libpeal.so"
    run cmake --install "$build" --prefix "$prefix" --component library
    expect_status 0
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name peal.pc)")
    LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/*}
    export PKG_CONFIG_PATH LD_LIBRARY_PATH
}

# ---- the programs: app from this folder, billing from the README ----

example() { # LANGUAGE: the first one of the README
    awk -v mark="\`\`\`$1" '$0 == mark { inside = !seen++; next } /^```/ { inside = 0 } inside' \
        "$source_dir/bindings/$language/README.md"
}

make_python() {
    local candidate python=
    for candidate in python3 /usr/bin/python3; do
        "$candidate" -c 'import cffi, setuptools, wheel, pip, sysconfig, os
assert os.path.exists(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null &&
            python=$candidate && break
    done
    [ -n "$python" ] || skip 'no Python has cffi, pip, setuptools, wheel and its headers'
    export PYTHONPATH=$scratch/packages PYTHONDONTWRITEBYTECODE=1 # of what pip has not installed
    run "$python" -m pip install --quiet --no-build-isolation --no-deps --no-index \
        --disable-pip-version-check --root-user-action ignore --target "$PYTHONPATH" "$binding"
    expect_status 0
    cp "$here/app.py" "$scratch"
    example python >"$scratch/billing.py"
    app=("${beneath[@]}" "$python" "$scratch/app.py")
    billing=("${beneath[@]}" "$python" "$scratch/billing.py")
    if command -v mypy >/dev/null; then
        run sh -c "cd '$binding' && mypy --cache-dir=/dev/null --strict peal"
        expect_status 0
    fi
    # Without the library it says what is missing.
    run env PKG_CONFIG_PATH="$scratch" "$python" "$binding/build_peal.py"
    if [ ! -e /usr/include/peal.h ] && [ ! -e /usr/local/include/peal.h ]; then
        expect_status 1
        expect_stderr_has 'peal.h was not found'
        expect_stderr_has 'PKG_CONFIG_PATH=PREFIX/lib/pkgconfig'
    fi
}

make_go() {
    local name
    command -v go >/dev/null || skip 'go is not installed'
    export GOFLAGS=-mod=mod GOPROXY=off GOSUMDB=off GOTOOLCHAIN=local CGO_ENABLED=1
    export GOCACHE=${GOCACHE:-$build/go} HOME=${HOME:-$scratch}
    run sh -c "cd '$binding' && gofmt -l . '$here' && go vet ."
    expect_status 0
    expect_stdout ''
    for name in app billing; do
        mkdir "$scratch/$name.d"
        printf 'module %s\n\ngo 1.18\n\nrequire peal/bindings/go v0.1.0\n\nreplace %s => %s\n' \
            $name peal/bindings/go "$binding" >"$scratch/$name.d/go.mod"
    done
    cp "$here/app.go" "$scratch/app.d"
    example go >"$scratch/billing.d/main.go"
    for name in app billing; do
        run sh -c "cd '$scratch/$name.d' && go vet . && go build -o '$scratch/$name' ."
        expect_status 0
    done
    app=("${beneath[@]}" "$scratch/app")
    billing=("${beneath[@]}" "$scratch/billing")
}

make_rust() {
    command -v cargo >/dev/null || skip 'cargo is not installed'
    export CARGO_TARGET_DIR=$scratch/target CARGO_NET_OFFLINE=true
    mkdir -p "$binding/examples"
    cp "$here/app.rs" "$binding/examples"
    example rust >"$binding/examples/billing.rs"
    run sh -c "cd '$binding' && cargo build --quiet --examples"
    expect_status 0
    if cargo clippy --version >/dev/null 2>&1; then
        run sh -c "cd '$binding' && cargo clippy --quiet --all-targets -- -D warnings"
        expect_status 0
    fi
    app=("${beneath[@]}" "$CARGO_TARGET_DIR/debug/examples/app")
    billing=("${beneath[@]}" "$CARGO_TARGET_DIR/debug/examples/billing")
}

install_library
cp -r "$source_dir/bindings/$language" "$binding"
case $language in
python) make_python ;;
go) make_go ;;
rust) make_rust ;;
esac
[ $failures -eq 0 ] || finish

# ---- what is wrong is said at once ----

export PEAL_STORE=sqlite://$scratch/shared
case $language in # where, and the classes of the language
python) words=('InvalidError'\ "$scratch/app.py:" 'ExistsError' 'unreachable' 'NotFoundError') ;;
go) words=("true peal: $scratch/app.d/app.go:" 'true' 'true' 'true') ;;
rust) words=('Invalid examples/app.rs:' 'Exists' 'Unreachable' 'NotFound') ;;
esac
run env PEAL_DATA="$scratch/programs" "${app[@]}" "$notes" bad
expect_status 0
expect_stdout_has "${words[0]}"
expect_stdout_has 'minute 75 is out of range'
for i in 1 2 3; do
    expect_stdout_has "${words[i]} "
done
expect_stdout_has 'there is a function "tick" already'
expect_stdout_has '127.0.0.1:1'
[ "$language" != python ] || expect_stdout_has "InvalidError overlap: 'maybe' is none of skip, allow"
expect_stdout_lacks false

# ---- locks, elections, one of many ----

run env PEAL_DATA="$scratch/programs" "${app[@]}" "$notes" coordinate
expect_status 0
sed -i 's/True/true/g; s/False/false/g; s/nobody None/nobody true/' "$scratch/out" # Python's
for line in 'held true true' busy 'grows true' 'leads true one' 'nobody true' 'true one false one'; do
    expect_stdout_has "$line"
done
expect_stdout_lacks 'busy false'

# ---- three processes, of which one is killed ----

start_app() { # NUMBER [MODE]
    PEAL_DATA=$scratch/programs "${app[@]}" "$notes" "${@:2}" >"$scratch/app$1.out" 2>&1 &
    pid[$1]=$!
}
end_app() { # NUMBER [SIGNAL]: it ends well
    ran="process $1 ends"
    kill "-${2:-TERM}" "${pid[$1]}"
    wait "${pid[$1]}"
    status=$?
    cp "$scratch/app$1.out" "$scratch/out"
    : >"$scratch/err"
    unset "pid[$1]"
    expect_status 0
}
has_lines() { # WHAT COUNT, at least
    [ -e "$notes.$1" ] && [ "$(wc -l <"$notes.$1")" -ge "$2" ]
}
more_ticks() { # COUNT
    wait_until has_lines ticks $(($(sed -n "$=" "$notes.ticks" 2>/dev/null || echo 0) + $1))
}
start_agent a --node-id a --store "$PEAL_STORE"
for i in 1 2 3; do
    start_app $i
done
programs_are() { # COUNT
    [ "$(peal nodes -o json | jq '[.[] | select(.program == "app" and .state == "ready")] | length')" = "$1" ]
}
wait_until programs_are 3
more_ticks 3
kill -9 "${pid[2]}"
wait "${pid[2]}" 2>/dev/null
more_ticks 3
start_app 2
wait_until programs_are 3
more_ticks 2

# ---- on request, from a process and from an agent ----

run env PEAL_DATA="$scratch/programs" "${app[@]}" "$notes" trigger greet who=world
expect_status 0
greeted=$(cut -c -26 "$scratch/out")
wait_until grep -qx "world greet 1 $greeted" "$notes.greeted"
run_has() { # RUN FILTER TEXT
    [ "$(peal runs "$1" -o json | jq -r ".[0] | $2")" = "$3" ]
}
has_log() { # RUN TEXT
    peal logs "$1" | grep -qF -e "$2"
}
wait_until has_log "$greeted" 'hello world'
run peal run greet
expect_status 0
wait_until has_log "$(cat "$scratch/out")" 'hello nobody'

# ---- what fails, says so ----

case $language in # the words of fails, the code and the words of panics
python) words=('ValueError: no luck today' 101 '') ;;
go) words=('no luck today' 2 'panic: out of luck') ;;
rust) words=('no luck today' 101 'panicked: out of luck') ;;
esac
run peal run fails
expect_status 0
failed=$(cat "$scratch/out")
wait_until run_has "$failed" '"\(.state) \(.exit_code)"' 'failed 1'
wait_until has_log "$failed" "${words[0]}"
[ "$language" != python ] || wait_until has_log "$failed" "app.py\", line"
run peal run panics
expect_status 0
failed=$(cat "$scratch/out")
wait_until run_has "$failed" '"\(.state) \(.exit_code)"' "failed ${words[1]}"
[ -z "${words[2]}" ] || wait_until has_log "$failed" "${words[2]}"

# ---- killed ----

run peal run slow
expect_status 0
slow=$(cat "$scratch/out")
wait_until grep -qx "$slow" "$notes.slow"
run peal kill "$slow"
expect_status 0
wait_until run_has "$slow" .state killed
wait_until has_log "$slow" 'told to stop'

# ---- each tick once ----

for i in 1 2 3; do
    end_app $i
done
if [ "$language" = python ]; then
    . "$here/python_loops.sh"
fi
run sh -c "sort '$notes.ticks' | uniq -d"
expect_stdout ''
# One that was not called was begun by the process that was killed, or while none was there.
seq "$(sort -n "$notes.ticks" | head -n 1)" "$(sort -n "$notes.ticks" | tail -n 1)" |
    comm -23 - <(sort "$notes.ticks") >"$scratch/missing"
while read -r tick; do
    tick=$(date -u -d "@$tick" +%Y-%m-%dT%H:%M:%S.000Z)
    run sh -c "{ peal runs tick -n 1000 -o json; peal runs tick -n 1000 --ledger -o json; } | jq -s add"
    expect_json "[.[] | select((.tick == \"$tick\" and .state != \"ok\") or
        ((.from // \"\") <= \"$tick\" and (.to // \"\") >= \"$tick\"))] | length > 0" true
done <"$scratch/missing"

# ---- the README's ----

PEAL_DATA=$scratch/programs "${billing[@]}" >"$scratch/billing.out" 2>&1 &
pid[4]=$!
asks() {
    peal run cleanup >"$scratch/asked"
}
wait_until asks
wait_until has_log "$(cat "$scratch/asked")" swept
kill -TERM "${pid[4]}"
wait "${pid[4]}"
status=$?
run cat "$scratch/billing.out"
expect_status 0
expect_stdout ''

finish
