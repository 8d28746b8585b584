#!/bin/sh
# tools/helm.sh [--there]
# Says where helm is, which checks packaging/helm. Where it is not installed, it is built with Go, into the user's cache, which takes
# some minutes; with --there only if that was done. Status 77: it is not here.
set -eu

version=v3.9.4 # the last one that Debian 12's Go compiles

none()
{
    echo "helm: not here: $*" >&2
    exit 77
}

if command -v helm; then
    exit 0
fi
folder=${XDG_CACHE_HOME:-$HOME/.cache}/peal
if ! [ -x "$folder/helm" ]; then
    [ "${1-}" != --there ] || none 'tools/helm.sh builds it'
    command -v go >/dev/null || none 'install it, or Go'
    GOBIN=$folder go install "helm.sh/helm/v3/cmd/helm@$version" >&2 || none 'Go could not build it'
fi
echo "$folder/helm"
