#!/bin/sh
# web/install.sh NPM [FOLDER]
# Brings node_modules of a folder (this one unless told) to what package-lock.json says. Builds that
# run at the same time wait for each other; scripts of packages are not run.
set -eu

npm=$1
cd "$(dirname "$0")"
cd "${2:-.}"
exec 9<package-lock.json
flock 9
if [ -e node_modules/.installed ] && [ ! package-lock.json -nt node_modules/.installed ] &&
    [ ! package.json -nt node_modules/.installed ]; then
    touch node_modules/.installed
    exit 0
fi
"$npm" ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
touch node_modules/.installed
