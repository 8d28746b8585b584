#!/bin/sh
# run.sh NODE unit|SCREEN SCREENSHOTS
# Runs the tests of the console: of its logic, or of one screen. Pictures go to SCREENSHOTS.
set -eu

node=$1
what=$2
export PEAL_SCREENSHOTS="$3"

cd "$(dirname "$0")"
[ "$what" = unit ] || what=screens/$what.test.mjs
if [ "$what" != unit ] && [ ! -x "${PEAL_CHROMIUM:-/usr/bin/chromium}" ]; then
    echo "no browser here: install chromium, or name one in PEAL_CHROMIUM"
    exit 77
fi
exec "$node" node_modules/vitest/vitest.mjs run "$what"
