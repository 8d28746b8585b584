#!/bin/bash
# A client of the API, installed as people do, on an agent: the example of its README, and app.py or its like, over the
# UNIX socket and over TCP with a token; a stream of events goes on after a restart of the agent.
# Usage: clients_test.sh python|typescript|go
# shellcheck disable=SC2317 # called by wait_until
. "$(dirname "$0")/../lib.sh"
language=$1
here=$source_dir/test/integration/clients
client=$scratch/client
export TRACE=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01

skip() { # REASON...
    echo "skipped: $*"
    exit 77
}

example() { # LANGUAGE: that of the README
    awk -v mark="\`\`\`$1" '$0 == mark { inside = !seen++; next } /^```/ { inside = 0 } inside' "$client/README.md"
}

make_python() {
    local candidate python=
    for candidate in python3 /usr/bin/python3; do
        "$candidate" -c 'import setuptools, wheel, pip' 2>/dev/null && python=$candidate && break
    done
    [ -n "$python" ] || skip 'no Python has pip, setuptools and wheel'
    export PYTHONPATH=$scratch/packages PYTHONDONTWRITEBYTECODE=1 # of what pip has not installed
    run "$python" -m pip install --quiet --no-build-isolation --no-deps --no-index --disable-pip-version-check \
        --root-user-action ignore --target "$PYTHONPATH" "$client"
    expect_status 0
    if command -v mypy >/dev/null; then
        run sh -c "cd '$client' && mypy --cache-dir=/dev/null --strict peal_client"
        expect_status 0
    fi
    example python >"$scratch/example.py"
    app=("$python" "$here/app.py")
    shown=("$python" "$scratch/example.py")
}

make_typescript() {
    command -v node >/dev/null || skip 'node is not installed'
    "$source_dir/tools/npm_install.sh" "$source_dir/web" >"$scratch/out" 2>&1 || skip "$(tail -n 1 "$scratch/out")"
    PATH=$source_dir/web/node_modules/.bin:$PATH
    run sh -c "cd '$client' && '$source_dir/tools/npm.sh' pack --silent --pack-destination '$scratch'"
    expect_status 0
    expect_stdout peal-client-0.1.0.tgz
    mkdir "$scratch/app"
    cp "$here/app.ts" "$scratch/app"
    example typescript >"$scratch/app/example.ts"
    echo '{"type": "module", "private": true}' >"$scratch/app/package.json"
    run sh -c "cd '$scratch/app' && '$source_dir/tools/npm.sh' install --silent --offline --no-audit --no-fund '$scratch/peal-client-0.1.0.tgz' &&
        tsc --strict --target es2022 --module nodenext --lib es2022,dom,dom.asynciterable app.ts example.ts"
    expect_status 0
    app=(node "$scratch/app/app.js")
    shown=(node "$scratch/app/example.js")
}

make_go() {
    local name
    command -v go >/dev/null || skip 'go is not installed'
    export GOFLAGS=-mod=mod GOPROXY=off GOSUMDB=off GOTOOLCHAIN=local HOME=${HOME:-$scratch}
    run sh -c "cd '$client' && gofmt -l . '$here' && go vet ."
    expect_status 0
    expect_stdout ''
    for name in app example; do
        mkdir "$scratch/$name.d"
        printf 'module %s\n\ngo 1.18\n\nrequire peal/clients/go v0.1.0\n\nreplace peal/clients/go => %s\n' \
            $name "$client" >"$scratch/$name.d/go.mod"
    done
    cp "$here/app.go" "$scratch/app.d"
    example go >"$scratch/example.d/main.go"
    for name in app example; do
        run sh -c "cd '$scratch/$name.d' && go vet . && go build -o '$scratch/$name' ."
        expect_status 0
    done
    app=("$scratch/app")
    shown=("$scratch/example")
}

cp -r "$source_dir/clients/$language" "$client"
case $language in
python) make_python ;;
typescript) make_typescript ;;
go) make_go ;;
esac
[ $failures -eq 0 ] || finish

# ---- the example of the README ----

mapfile -t ports < <(free_ports)
start_agent node --listen "127.0.0.1:${ports[0]}"
peal add db @hourly --label team=db -- true 2>/dev/null
socket=$PEAL_DATA/api.sock
run "${shown[@]}"
expect_status 0
expect_stdout_has 'ok hello'
expect_stdout_has 'db'
expect_stdout_has '/schedule 3 '
expect_stdout_has 'hour 25 is out of range'
expect_stdout_has 'hello '
peal delete db --yes >/dev/null 2>&1

# ---- all that it can ----

token=$(peal token create robot --role admin)
args=("http://127.0.0.1:${ports[0]}" "$token" "$socket")
run "${app[@]}" "${args[@]}"
expect_status 0
expect_stdout "me robot socket
without 401
made team/one 1 None
late 412
wrong 422 /schedule 3 True
unknown 404
pages page/0 page/1 page/2 page/3 page/4 page/5 page/6
once True
chunk stdout eins zwei
run ok 0 True
raw 10
killed killed
metrics True
batch [] True"

# ---- events, over a restart of the agent ----

printed() { # LINE, so often
    [ "$(grep -cxF "$1" "$scratch/watched")" -ge "${2:-1}" ]
}
for name in first last; do
    peal add $name @manual -- true 2>/dev/null
done
"${app[@]}" "${args[@]}" watch >"$scratch/watched" 2>"$scratch/watched.err" &
watching=$!
wait_until printed listening
run peal run first --wait
wait_until printed 'event first ok'
run peal restart
expect_status 0
wait_until printed listening 2
run peal run last --wait
wait_until printed 'event last ok'
wait $watching
status=$?
cp "$scratch/watched.err" "$scratch/err"
expect_status 0
expect_stderr ''
finish
