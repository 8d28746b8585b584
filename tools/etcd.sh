#!/bin/sh
# tools/etcd.sh VERSION
# Builds that version of the etcd server with Go, once, into the user's cache: Debian has 3.4 alone.
# Says where it is.
set -eu

version=$1
module=go.etcd.io/etcd/server/v3
cache=${XDG_CACHE_HOME:-$HOME/.cache}/peal
server=$cache/etcd-$version
if ! [ -x "$server" ]; then
    command -v go >/dev/null || {
        echo "etcd: go is needed to build etcd $version" >&2
        exit 1
    }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    echo "etcd: building etcd $version, once; this takes minutes" >&2
    cd "$work"
    if ! { go mod init compat && go get "$module@$version" &&
        go build -trimpath -p 2 -o etcd "$module"; } >log 2>&1; then
        tail -n 3 log >&2
        exit 1
    fi
    mkdir -p "$cache"
    mv etcd "$server"
fi
echo "$server"
