#!/bin/sh
# build.sh OUT: makes OUT/supercronic, which takes the work as all peers do, and prints its version.
set -eu

version=0.2.48
here=$(cd "$(dirname "$0")" && pwd)
GOBIN=$1/supercronic-bin go install "github.com/aptible/supercronic@v$version"
cp "$here/start.sh" "$1/supercronic"
echo $version
