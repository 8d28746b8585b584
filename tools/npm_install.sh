#!/bin/sh
# tools/npm_install.sh FOLDER
# Brings node_modules of a folder to what its package-lock.json says, and marks it as .installed.
# Builds that run at the same time wait for each other; scripts of packages are not run.
set -eu

npm=$(cd "$(dirname "$0")" && pwd)/npm.sh
cd "$1"
exec 9<package-lock.json
flock 9
mark=node_modules/.installed
if [ -e $mark ] && [ -z "$(find package.json package-lock.json .npmrc -newer $mark)" ]; then
    touch $mark
    exit 0
fi
"$npm" ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
touch $mark
