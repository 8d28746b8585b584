#!/bin/sh
# tools/etcd.sh VERSION
# Builds that version of etcd with Go, once, into the user's cache: Debian has 3.4 alone. Says in
# which folder its programs are: etcd, etcdutl, and an etcdctl that is Debian's, but for restoring,
# which only a server's own tool does right.
set -eu

version=$1
module=go.etcd.io/etcd
cache=${XDG_CACHE_HOME:-$HOME/.cache}/peal
folder=$cache/etcd-$version
if ! [ -d "$folder" ]; then
    command -v go >/dev/null || {
        echo "etcd: go is needed to build etcd $version" >&2
        exit 1
    }
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    echo "etcd: building etcd $version, once; this takes minutes" >&2
    cd "$work"
    mkdir programs
    if ! { go mod init compat && go get "$module/server/v3@$version" "$module/etcdutl/v3@$version" &&
        go build -trimpath -p 2 -o programs/etcd "$module/server/v3" &&
        go build -trimpath -p 2 -o programs/etcdutl "$module/etcdutl/v3"; } >log 2>&1; then
        tail -n 3 log >&2
        exit 1
    fi
    cat >programs/etcdctl <<'END'
#!/bin/sh
case "$1 ${2-}" in
'snapshot restore') exec "${0%/*}/etcdutl" "$@" ;;
esac
PATH=$(echo "$PATH" | sed "s#${0%/*}:##") exec etcdctl "$@"
END
    chmod +x programs/etcdctl
    mkdir -p "$cache"
    mv programs "$folder"
fi
echo "$folder"
