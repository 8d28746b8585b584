#!/bin/sh
# tools/deb.sh [COMMIT]
# Builds the packages of Debian from a commit (HEAD), into build/deb. The same commit gives the same bytes:
# the sources are those of git, and all dates are the commit's. A commit that has no tag of a
# version is a version between the last and the next one: 0.1.0~20261119.abcdef12.
set -eu
cd "$(dirname "$0")/.."

commit=$(git rev-parse --verify "${1:-HEAD}^{commit}")
short=$(git rev-parse --short=8 "$commit")
SOURCE_DATE_EPOCH=$(git show -s --format=%ct "$commit")
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC

version=$(git show "$commit:CMakeLists.txt" | sed -n 's/^project(peal VERSION \([0-9.]*\).*/\1/p')
revision=
if [ "$(git describe --tags --exact-match "$commit" 2>/dev/null)" != "v$version" ]; then
    version=$version~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d%H%M).$short
    revision=$short
fi

out=$PWD/build/deb
rm -rf "$out"
mkdir -p "$out/peal-$version"
git archive "$commit" | tar -C "$out/peal-$version" -x
cd "$out/peal-$version"
cp -r packaging/debian debian
cat >debian/changelog <<EOF
peal ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(date -u -d "@$SOURCE_DATE_EPOCH" -R)
EOF

# What was built before here need not be fetched again.
modules=$(cd ../../.. && pwd)/web/node_modules
[ ! -d "$modules" ] || cp -r "$modules" web/

log=$out/build.log
# -d: node, for one, may be here without its package; tools/deps.sh has looked.
if ! PEAL_REVISION=$revision dpkg-buildpackage -b -d -us -uc -ui >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "deb: the build failed; all of its output is in $log" >&2
    exit 1
fi
cd ..
rm -rf "peal-$version"
ls -- *.deb
