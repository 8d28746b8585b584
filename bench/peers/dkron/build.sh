#!/bin/sh
# build.sh OUT: makes OUT/dkron, which takes the work as all peers do, and prints its version. The program is $PEAL_DKRON, else the one
# on the PATH.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$(command -v "${PEAL_DKRON:-dkron}") || { echo "${PEAL_DKRON:-dkron} is not on the PATH" >&2 && exit 1; }
command -v curl >/dev/null || { echo 'curl, which gives it its jobs, is not here' >&2 && exit 1; }
ln -sf "$program" "$1/dkron-program"
cp "$here/start.sh" "$1/dkron"
"$program" version 2>/dev/null | sed -n 's/^Version: *//p'
