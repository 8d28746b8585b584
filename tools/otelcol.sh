#!/bin/sh
# tools/otelcol.sh [--there]
# Says where the collector of OpenTelemetry is that test/integration/otlp/collector builds with Go, into the user's cache, which takes some
# minutes; with --there only if that was done. Status 77: it is not here.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
source=$here/test/integration/otlp/collector

none()
{
    echo "otelcol: not here: $*" >&2
    exit 77
}

# Another one for other modules.
version=$(cat "$source/go.mod" "$source/main.go" | sha256sum | cut -c 1-12)
program=${XDG_CACHE_HOME:-$HOME/.cache}/peal/otelcol-$version
if ! [ -x "$program" ]; then
    [ "${1-}" != --there ] || none 'make collector builds it'
    command -v go >/dev/null || none 'install Go'
    (cd "$source" && go build -o "$program" .) >&2 || none 'Go could not build it; it wants Go 1.26'
fi
echo "$program"
