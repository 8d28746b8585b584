#!/bin/sh
# tools/clients.sh [--write] [FOLDER]
# Whether clients/ is what tools/clients.py and tools/terraform.py make of the API's OpenAPI document as the built peal serves it ($PEAL_BIN
# has the programs; else build/asan/bin); --write makes it so. With a FOLDER the outcome is left there.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
command -v python3 >/dev/null || { echo "skipped: python3 is not here" && exit 77; }
write=
[ "${1:-}" != --write ] || { write=1 && shift; }
work=$(mktemp -d)
trap 'peal stop --data "$work/agent" >"$work/stop" 2>&1 || true; rm -rf "$work"' EXIT
PATH=${PEAL_BIN:-$here/build/asan/bin}:$PATH

peal start -d --data "$work/agent" --listen none --role api >"$work/start" 2>&1 || { cat "$work/start" >&2 && exit 1; }
curl -fsS --unix-socket "$work/agent/api.sock" http://peal/openapi.json >"$work/openapi.json"
out=${1:-$work/clients}
if [ -n "$write" ]; then
    out=$here/clients
fi
python3 "$here/tools/clients.py" "$work/openapi.json" "$out"
mkdir -p "$out/terraform"
python3 "$here/tools/terraform.py" "$work/openapi.json" "$out/terraform/job_fields.go"
if command -v gofmt >/dev/null; then
    gofmt -w "$out"/go/models.go "$out"/go/api.go "$out/terraform/job_fields.go"
fi
status=0
for file in python/peal_client/models.py python/peal_client/_api.py typescript/src/models.ts typescript/src/api.ts \
    go/models.go go/api.go terraform/job_fields.go; do
    case $file in
    go/* | terraform/*) command -v gofmt >/dev/null || continue ;;
    esac
    cmp -s "$out/$file" "$here/clients/$file" || {
        echo "clients/$file is not what tools/clients.py and tools/terraform.py make of the API: tools/clients.sh --write"
        status=1
    }
done
exit $status
