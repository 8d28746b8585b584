#!/bin/sh
# build.sh OUT: makes OUT/apscheduler, which takes the work as all peers do, and prints its version.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
[ -x "$1/venv/bin/python" ] || python3 -m venv "$1/venv"
timeout 120 "$1/venv/bin/python" -m pip install -q -r "$here/requirements.txt" >&2
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$1/venv/bin/python" "$here/main.py" >"$1/apscheduler"
chmod +x "$1/apscheduler"
sed -n 's/^APScheduler==//p' "$here/requirements.txt"
