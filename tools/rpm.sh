#!/bin/sh
# tools/rpm.sh [COMMIT]
# Builds the packages of rpm from a commit (HEAD), by packaging/rpm/peal.spec, into build/rpm: for machines with the libraries of this
# one, and the source package, from which `rpmbuild --rebuild` makes those of another. The same commit gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=tools/package.sh
. tools/package.sh
package_of "${1-}"

out=$PWD/build/rpm
rm -rf "$out"
package_sources "$out/SOURCES/peal-$version"
cp "$out/SOURCES/peal-$version/packaging/rpm/peal.spec" "$out/"
tar -C "$out/SOURCES" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "peal-$version" |
    gzip -n9 >"$out/SOURCES/peal-$version.tar.gz"
rm -r "$out/SOURCES/peal-$version"

# What is written into the packages is the commit's, not this machine's. Dependencies are those of the programs: what this
# machine has was not installed by rpm.
log=$out/build.log
if ! rpmbuild -ba --nodeps --define "_topdir $out" --define "peal_version $version" --define "peal_revision $revision" \
    --define '_libdir /usr/lib64' --define '_buildhost peal' --define 'use_source_date_epoch_as_buildtime 1' \
    --define 'clamp_mtime_to_source_date_epoch 1' --define '_build_id_links none' \
    "$out/peal.spec" >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "rpm: the build failed; all of its output is in $log" >&2
    exit 1
fi
mv "$out"/RPMS/*/*.rpm "$out"/SRPMS/*.rpm "$out/"
rm -rf "$out/BUILD" "$out/BUILDROOT" "$out/RPMS" "$out/SRPMS" "$out/SOURCES"
cd "$out"
ls -- *.rpm
