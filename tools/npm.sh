#!/bin/sh
# tools/npm.sh [argument of npm]...
# Runs npm: the one on the PATH, else Debian's, unpacked below build/npm. As an installed package it
# would bring some 370 others along, which takes longer than all the rest of a first build, and
# leaves them on the machine of someone who wanted a look at peal.
set -eu

if command -v npm >/dev/null; then
    exec npm "$@"
fi

here=$(cd "$(dirname "$0")/.." && pwd)
root=$here/build/npm
fail()
{
    echo "npm: $*. Install npm (on Debian: apt-get install npm), then run again" >&2
    exit 1
}

# The packages that npm needs and this machine does not have.
unpack()
{
    command -v apt-get >/dev/null || fail "there is no npm on the PATH"
    work=$root.$$
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$work/packages" "$work/root"
    (
        cd "$work/packages"
        packages=$(apt-get -s install --no-install-recommends npm | awk '/^Inst/ { print $2 }')
        # shellcheck disable=SC2086 # a list of packages
        [ -n "$packages" ] && apt-get -qq download $packages
    ) >"$work/log" 2>&1 || fail "Debian's can't be downloaded: $(grep -m 1 '^E:' "$work/log" || echo failed)"
    for package in "$work"/packages/*.deb; do
        dpkg-deb -x "$package" "$work/root" || fail "$package can't be unpacked"
    done
    mv "$work/root" "$root"
}

mkdir -p "$here/build"
(
    flock 9
    [ -d "$root" ] || unpack
) 9>"$root.lock"

paths=
for path in "$root"/usr/share/nodejs "$root"/usr/lib/nodejs "$root"/usr/lib/*/nodejs; do
    [ -d "$path" ] && paths=$paths:$path
done
NODE_PATH=${paths#:} exec node "$root/usr/share/nodejs/npm/bin/npm-cli.js" "$@"
