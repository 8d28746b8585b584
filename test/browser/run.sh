#!/bin/sh
# run.sh NODE unit|SCREEN SCREENSHOTS
# Runs the tests of the console: of its logic, or of one screen. Pictures go to SCREENSHOTS.
set -eu

node=$1
what=$2
export PEAL_SCREENSHOTS="$3"

cd "$(dirname "$0")"
[ "$what" = unit ] || what=screens/$what.test.mjs
# Without the windows that nobody sees it does with half the processor time.
for browser in ${PEAL_CHROMIUM:-/usr/lib/chromium/chromium-headless-shell /usr/bin/chromium}; do
    [ ! -x "$browser" ] || break
done
if [ "$what" != unit ] && [ ! -x "$browser" ]; then
    echo "no browser here: install chromium-headless-shell or chromium, or name one in PEAL_CHROMIUM"
    exit 77
fi
export PEAL_CHROMIUM="$browser"
exec "$node" node_modules/vitest/vitest.mjs run "$what"
