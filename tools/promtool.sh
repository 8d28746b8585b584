#!/bin/sh
# tools/promtool.sh
# Says where promtool is, which checks rules of Prometheus. Where it is not installed, it is taken out of Debian's package,
# into the user's cache: the package itself would start a server. Status 77: it can't be had here.
set -eu

none()
{
    echo "promtool: not here: $*" >&2
    exit 77
}

if command -v promtool; then
    exit 0
fi
tool=${XDG_CACHE_HOME:-$HOME/.cache}/peal/promtool
if ! [ -x "$tool" ]; then
    command -v dpkg-deb >/dev/null || none 'install it, to check the rules'
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    chmod 755 "$work"
    (cd "$work" && apt-get -qq download prometheus) >"$work/log" 2>&1 || none "$(tail -n 1 "$work/log")"
    dpkg-deb -x "$work"/prometheus_*.deb "$work/root"
    mkdir -p "${tool%/*}"
    mv "$work/root/usr/bin/promtool" "$tool"
fi
echo "$tool"
