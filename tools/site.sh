#!/bin/sh
# tools/site.sh [OUT]
# Makes a static site of the documents, into build/site or OUT.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
"$root/tools/npm_install.sh" "$root/site"
node "$root/site/build.mjs" "$root" "${1:-$root/build/site}"
