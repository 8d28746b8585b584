#!/bin/sh
# tools/ferretdb.sh
# Builds FerretDB, a server with MongoDB's protocol, for the tests: Debian has no MongoDB. Once for
# each version, into the user's cache. Says where it is; or says why there is none and ends with
# status 77, and the tests that need a server are skipped. Nothing is built where there is a mongod.
set -eu

version=v1.24.2
module=github.com/FerretDB/FerretDB
cache=${XDG_CACHE_HOME:-$HOME/.cache}/peal
server=$cache/ferretdb-$version

none()
{
    echo "ferretdb: no MongoDB server for the tests: $*" >&2
    exit 77
}

if command -v mongod; then
    exit 0
fi
if ! [ -x "$server" ]; then
    command -v go >/dev/null || none "neither mongod nor go is here to build FerretDB with"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    echo "ferretdb: building FerretDB $version, once; this takes minutes" >&2
    source=$(cd "$work" && go mod download -json "$module@$version" 2>"$work/log" |
        sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p')
    [ -n "$source" ] || none "its source cannot be had: $(tail -n 1 "$work/log")"
    cp -r "$source" "$work/source"
    chmod -R u+w "$work/source"
    echo "$version" >"$work/source/build/version/version.txt"
    mkdir -p "$cache"
    (cd "$work/source" && timeout 1200 go build -trimpath -p 2 -o "$work/ferretdb" ./cmd/ferretdb) \
        >"$work/log" 2>&1 || none "it does not build: $(tail -n 1 "$work/log")"
    mv "$work/ferretdb" "$server"
fi
ln -sf "ferretdb-$version" "$cache/ferretdb"
echo "$server"
