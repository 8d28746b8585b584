#!/bin/sh
# tools/deb.sh [--suite SUITE] [COMMIT]
# Builds the packages of Debian from a commit (HEAD), into build/deb; with --suite those of that release of Debian, in a folder of debootstrap,
# as root, into build/deb-SUITE. The same commit gives the same bytes: the sources are those of git, and all dates are the commit's.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/package.sh
. tools/package.sh

suite=
if [ "${1-}" = --suite ]; then
    suite=$2
    shift 2
fi
package_of "${1-}"

out=$PWD/build/deb${suite:+-$suite}
rm -rf "$out"
package_sources "$out/peal-$version"
cp -r "$out/peal-$version/packaging/debian" "$out/peal-$version/debian"
cat >"$out/peal-$version/debian/changelog" <<END
peal ($version) unstable; urgency=medium

  * See CHANGELOG.md.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(date -u -d "@$SOURCE_DATE_EPOCH" -R)
END

# The folder of the sources and what is built is at the same place inside and outside.
build_in_suite()
{
    # shellcheck source=test/packages/root.sh
    . test/packages/root.sh
    inside=$PWD/build/roots/build-$suite$out
    umount -l "$inside" 2>/dev/null || : # of a build that was cut short
    trap 'umount -l "$inside" 2>/dev/null || :; root_leave' EXIT
    root_make "$suite" "$PWD/build/roots/build-$suite" &&
        mkdir -p "$inside" && mount --bind "$out" "$inside" &&
        in_root apt-get -qq install -y --no-install-recommends build-essential lintian &&
        in_root apt-get -qq build-dep -y --no-install-recommends "$out/peal-$version" &&
        in_root SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" TZ=UTC PEAL_REVISION="$revision" \
            sh -c "cd '$out/peal-$version' && dpkg-buildpackage -b -us -uc -ui" || return
    # By that release's rules; test/packages/deb.sh reads it.
    in_root sh -c "cd '$out' && lintian --info --display-info --allow-root ./*.changes" >"$out/lintian.log" 2>&1 || :
}

# -d: node, for one, may be here without its package; tools/deps.sh has looked.
build_here()
{
    cd "$out/peal-$version"
    PEAL_REVISION=$revision dpkg-buildpackage -b -d -us -uc -ui
}

log=$out/build.log
if ! (if [ "$suite" ]; then build_in_suite; else build_here; fi) >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "deb: the build failed; all of its output is in $log" >&2
    exit 1
fi
cd "$out"
rm -rf "peal-$version"
ls -- *.deb
