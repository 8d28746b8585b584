#!/bin/sh
# build.sh OUT: makes OUT/bree, which takes the work as all peers do, and prints its version.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/../../../tools/npm_install.sh" "$here" >&2
printf '#!/bin/sh\nexec node "%s/main.cjs" "$@"\n' "$here" >"$1/bree"
chmod +x "$1/bree"
sed -n 's/.*"bree": "\(.*\)".*/\1/p' "$here/package.json"
