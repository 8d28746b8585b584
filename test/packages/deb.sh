#!/bin/bash
# test/packages/deb.sh [SUITE]
# Proves the packages of Debian as they are built from the last commit: lintian finds nothing, a second build gives the
# same bytes; in a Debian of its own (a folder of debootstrap, by default of this machine's release) they are installed,
# run jobs, are upgraded while a job runs, removed and purged. As root, for chroot and mounts.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/packages/root.sh
. test/packages/root.sh
# shellcheck source=test/packages/life.sh
. test/packages/life.sh

own=$(. /etc/os-release && echo "$VERSION_CODENAME")
suite=${1:-$own}
root=$PWD/build/roots/$suite
[ "$(id -u)" -eq 0 ] || { echo 'packages: root is needed, for chroot and mounts' >&2; exit 1; }

# ---- what is built ----

commit=$(git rev-parse HEAD)

if [ "$suite" = "$own" ]; then
    out=$PWD/build/deb
    build() { tools/deb.sh "$commit" >/dev/null; }
    lint() { lintian --info --display-info --allow-root "$out"/*.changes; }
else
    out=$PWD/build/deb-$suite
    build() { tools/deb.sh --suite "$suite" "$commit" >/dev/null; }
    lint() { cat "$out/lintian.log"; } # of that release's lintian
fi
build
if [ "$suite" = "$own" ]; then # the recipe of another release is the same
    first=$(cd "$out" && sha256sum -- *.deb)
    build
    check 'two builds of a commit have the same bytes' test "$(cd "$out" && sha256sum -- *.deb)" = "$first"
fi
quiet() { ! "$@" 2>&1 | grep '^[EWI]:'; }
check 'lintian finds nothing' quiet lint

package() { # NAME
    echo "$out/$1"_*.deb
}

# The same package with the next version, for the upgrade.
next=$out/next
mkdir "$next"
for name in peal peal-mongo; do
    dpkg-deb -R "$(package $name)" "$next/$name"
    version=$(dpkg-deb -f "$(package $name)" Version)
    sed -i "s/$version/$version+next/" "$next/$name/DEBIAN/control"
    dpkg-deb --root-owner-group -b "$next/$name" "$next" >/dev/null
done

# ---- a Debian of its own ----

leave() {
    in_root peal stop --data /var/lib/peal >/dev/null 2>&1 || :
    root_leave
}
trap leave EXIT
root_make "$suite" "$root"
mkdir "$root/packages"
cp "$out"/*.deb "$next"/*.deb "$root/packages/"

# As the root sees them.
there() { find "$root/packages" -name "$1_*.deb" ! -name '*+next*' -printf '/packages/%f\n'; } # NAME
newer() { find "$root/packages" -name "$1_*+next*.deb" -printf '/packages/%f\n'; }             # NAME

# ---- installed, upgraded while a job runs, removed and purged ----

check 'apt installs peal and peal-mongo' in_root apt-get -qq install -y --no-install-recommends "$(there peal)" "$(there peal-mongo)"
check 'the unit is where systemd looks' in_root test -e /lib/systemd/system/peal.service
check_start
check_upgrade in_root dpkg -i "$(newer peal)" "$(newer peal-mongo)"
in_root peal stop --data /var/lib/peal >/dev/null
check 'apt removes them' in_root apt-get -qq remove -y peal peal-mongo
check 'the data is kept' in_root test -d /var/lib/peal
check 'apt purges them' in_root apt-get -qq purge -y peal peal-mongo
check 'nothing is left' sh -c "! find '$root' -xdev \( -path '$root/packages' -o -path '$root/proc' -o -path '$root/dev' -o -path '$root/tmp' \) -prune -o -name '*peal*' -print | grep ."

# ---- for programs ----

check 'apt installs libpeal-dev and the modules' in_root apt-get -qq install -y --no-install-recommends "$(there libpeal1)" "$(there libpeal-dev)" "$(there peal-postgres)" "$(there peal-redis)"
check 'a program finds libpeal' in_root sh -c '! ldd /usr/lib/*/libpeal.so.1 /usr/lib/peal/peal-postgres.so /usr/lib/peal/peal-redis.so | grep "not found"'
check_end
