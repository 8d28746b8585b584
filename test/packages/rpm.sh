#!/bin/bash
# test/packages/rpm.sh
# Proves the packages of rpm as they are built from the last commit: rpmlint finds nothing, a second build gives the same bytes, and they have
# the files that those of Debian have; rpm installs them into a root, whose shell runs their scripts, where they
# run jobs, are replaced while a job runs, and removed. The root is a Debian, since it has the libraries of this machine: what is
# left out is who resolves dependencies. As root, for chroot and mounts.
# shellcheck disable=SC2317 # check calls functions
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/packages/root.sh
. test/packages/root.sh
# shellcheck source=test/packages/life.sh
. test/packages/life.sh

out=$PWD/build/rpm
root=$PWD/build/roots/rpm
[ "$(id -u)" -eq 0 ] || { echo 'rpm: root is needed, for chroot and mounts' >&2; exit 1; }

# ---- what is built ----

commit=$(git rev-parse HEAD)
tools/rpm.sh "$commit" >/dev/null
first=$(cd "$out" && sha256sum -- *.rpm)
tools/rpm.sh "$commit" >/dev/null
check 'two builds of a commit have the same bytes' test "$(cd "$out" && sha256sum -- *.rpm)" = "$first"
quiet() { ! "$@" 2>&1 | grep -E ': [EW]: '; }
check 'rpmlint finds nothing' quiet rpmlint -c packaging/rpm/rpmlint.toml "$out"/*.rpm

package() { # NAME
    find "$out" -maxdepth 1 -name "$1-[0-9]*.rpm" ! -name '*.src.rpm'
}
names=(peal peal-mongo libpeal libpeal-devel peal-postgres peal-redis)
packages=()
for name in "${names[@]}"; do
    packages+=("$(package "$name")")
done

# ---- the same files as in Debian ----

# Without what each kind has of its own: where libraries, units and licences are, and the pages' compression.
alike() {
    sed -E -e 's|^\./|/|' -e 's|^(/usr)?/lib/systemd/|/usr/lib/systemd/|' -e 's|/lib/[^/]*-linux-gnu[^/]*/|/lib64/|' -e 's/\.gz$//' |
        grep -vE -e '^/usr/share/(doc-base|lintian|licenses)(/|$)' -e '^/usr/share/doc/.*/(changelog.*|copyright|.*\.Debian)$' | LC_ALL=C sort -u
}
files_of_debs() {
    local each
    for each in build/deb/*.deb; do
        dpkg-deb --fsys-tarfile "$each" | tar -t | grep -v '/$'
    done | alike
}
files_of_rpms() {
    local each
    for each in "${packages[@]}"; do
        rpm -qpl --dump "$each" | awk '$5 !~ /^04/ { print $1 }'
    done | alike
}
if ls build/deb/*.deb >/dev/null 2>&1; then
    same_files() { diff <(files_of_debs) <(files_of_rpms); }
    check 'their files are those of the packages of Debian' same_files
else
    echo 'skipped: there is no build/deb to compare with'
fi

# ---- a root of its own, with the libraries that the programs say they need ----

into_root() { rpm --root "$root" --force-debian --nodeps "$@"; }
leave() {
    in_root peal stop --data /var/lib/peal >/dev/null 2>&1 || :
    root_leave
}
trap leave EXIT
root_make bookworm "$root"
needed() { for each in "${packages[@]}"; do rpm -qp --requires "$each"; done | sed -n 's/^\(lib[^(]*\.so[^(]*\)(.*/\1/p' | sort -u; }
owners() {
    local library
    needed | grep -v '^libpeal\.so' | while read -r library; do
        dpkg -S "$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')" 2>/dev/null ||
            dpkg -S "/usr$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')"
    done | cut -d : -f 1 | sort -u
}
mapfile -t libraries < <(owners)
in_root apt-get -qq install -y --no-install-recommends "${libraries[@]}" tzdata systemd-standalone-sysusers >/dev/null 2>&1

check 'rpm installs them' into_root -i "${packages[@]}"
is_complete() { [ -z "$(comm -13 <(in_root ldconfig -p | awk '{ print $1 }' | sort -u) <(needed))" ]; }
check 'what they say they need is what there is' is_complete
check 'rpm finds them as they were installed' into_root -V "${names[@]}"
check 'the unit is where systemd looks' in_root test -e /usr/lib/systemd/system/peal.service
check_start
check_upgrade into_root -U --force "${packages[@]}"
in_root peal stop --data /var/lib/peal >/dev/null
echo '# mine' >>"$root/etc/peal/peal.yaml"
check 'rpm removes them' into_root -e "${names[@]}"
check 'the data is kept' in_root test -d /var/lib/peal
check 'a configuration that was changed is kept' in_root grep -qx '# mine' /etc/peal/peal.yaml.rpmsave
check 'no program is left' sh -c "! find '$root/usr' -name '*peal*' -print | grep ."
check_end
