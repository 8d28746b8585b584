#!/bin/bash
# test/packages/deb.sh [SUITE]
# Proves the packages of Debian as they are built from the last commit: lintian finds nothing, a second build gives the
# same bytes; in a Debian of its own (a folder of debootstrap, by default of this machine's release) they are installed,
# run jobs, are upgraded while a job runs, removed and purged. As root, for chroot and mounts.
set -eu
cd "$(dirname "$0")/../.."

suite=${1:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
out=$PWD/build/deb
root=$PWD/build/roots/$suite
checks=0
failed=0

check() { # WHAT COMMAND...
    local what=$1
    shift
    checks=$((checks + 1))
    if "$@" >"$out/check.log" 2>&1; then
        echo "ok      $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $what: $*"
        sed 's/^/        /' "$out/check.log" | tail -n 20
    fi
}

[ "$(id -u)" -eq 0 ] || { echo 'packages: root is needed, for chroot and mounts' >&2; exit 1; }

# ---- what is built ----

tools/deb.sh >/dev/null
first=$(cd "$out" && sha256sum -- *.deb)
cp -r "$out" "$out.first"
tools/deb.sh >/dev/null
check 'two builds of a commit have the same bytes' test "$(cd "$out" && sha256sum -- *.deb)" = "$first"
rm -rf "$out.first"
quiet() { ! "$@" 2>&1 | grep '^[EWI]:'; }
check 'lintian finds nothing' quiet lintian --info --display-info --allow-root "$out"/*.changes

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

# shellcheck source=test/packages/root.sh
. test/packages/root.sh

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

# ---- installed ----

check 'apt installs peal and peal-mongo' in_root apt-get -qq install -y --no-install-recommends "$(there peal)" "$(there peal-mongo)"
check 'peal runs' in_root peal version
check 'there is the user of jobs' in_root id peal-job
check 'the unit is where systemd looks' in_root test -e /lib/systemd/system/peal.service
check 'the program finds every library' in_root sh -c '! ldd /usr/bin/peal /usr/bin/peal-spawn /usr/bin/peal-call /usr/lib/peal/peal-mongo.so | grep "not found"'
check 'the configuration is right' in_root peal config validate /etc/peal/peal.yaml
check 'completion and pages are there' in_root test -e /usr/share/bash-completion/completions/peal

agent() { in_root peal start -d --data /var/lib/peal --default-user peal-job; }
check 'the agent starts' agent
check 'a job runs as peal-job' in_root sh -c 'peal add who @manual -- id -un && peal run who --follow | grep -x peal-job'
mongo() {
    in_root peal start -d --data /tmp/mongo --listen none --history mongodb://127.0.0.1:1/ &&
        ! in_root grep -e 'peal-mongo.so' /tmp/mongo/peal.log
    in_root peal stop --data /tmp/mongo
}
check 'the module of MongoDB is loaded' mongo

# ---- upgraded while a job runs ----

lines=200
in_root peal add long @manual --shell "for i in \$(seq $lines); do echo line \$i; sleep 0.1; done" >/dev/null
in_root peal run long >/dev/null
check 'an upgrade under a running job' in_root dpkg -i "$(newer peal)" "$(newer peal-mongo)"
check 'the agent starts anew' in_root peal restart --data /var/lib/peal
in_root timeout 120 peal logs -f long >/dev/null || :
once() { test "$(in_root peal runs long -o json | jq -c 'map(.state)')" = '["ok"]'; }
check 'the job has run once, and ended well' once
check 'its output is whole' sh -c "[ \"\$(chroot '$root' peal logs long | grep -c '^line ')\" -eq $lines ]"
check 'jobs are kept' in_root sh -c 'peal list -o name | grep -x who'

# ---- removed and purged ----

in_root peal stop --data /var/lib/peal >/dev/null
check 'apt removes them' in_root apt-get -qq remove -y peal peal-mongo
check 'the data is kept' in_root test -d /var/lib/peal
check 'apt purges them' in_root apt-get -qq purge -y peal peal-mongo
check 'nothing is left' sh -c "! find '$root' -xdev \( -path '$root/packages' -o -path '$root/proc' -o -path '$root/dev' -o -path '$root/tmp' \) -prune -o -name '*peal*' -print | grep ."

check 'apt installs libpeal-dev' in_root apt-get -qq install -y --no-install-recommends "$(there libpeal1)" "$(there libpeal-dev)" "$(there peal-postgres)" "$(there peal-redis)"
check 'a program finds libpeal' in_root sh -c '! ldd /usr/lib/*/libpeal.so.1 /usr/lib/peal/peal-postgres.so /usr/lib/peal/peal-redis.so | grep "not found"'

echo "$((checks - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
