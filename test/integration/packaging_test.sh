#!/bin/bash
# What is installed for systemd: the service starts, has the user that its jobs run as, and leaves them
# no more of the machine than was decided.
# shellcheck disable=SC2016 # the unit has it so
. "$(dirname "$0")/lib.sh"

packaging=$source_dir/packaging
# Each module is in a package, for Debian and for rpm, without which none is built.
find "$source_dir/src" \( -name CMakeLists.txt -o -name '*.cmake' \) -exec sed -n 's/^ *peal_module(\([a-z]*\) .*/\1/p' {} + >"$scratch/modules"
run grep -c . "$scratch/modules"
expect_stdout 3
while read -r module; do
    run awk -v path="usr/lib/peal/peal-$module.so" '$3 == path { print $1, $2 }' "$packaging/packages.txt"
    expect_stdout "peal-$module peal-$module"
done <"$scratch/modules"

# The packages of that table are those of both.
names_of() { # COLUMN
    awk -v column="$1" '!/^#/ { print $column }' "$packaging/packages.txt" | sort -u
}
names_of 1 >"$scratch/names"
run diff <(sed -n 's/^Package: //p' "$packaging/debian/control" | sort) "$scratch/names"
expect_status 0
names_of 2 >"$scratch/names"
run diff <(sed -n -e 's/^%package -n //p' -e 's/^%package \([^-]\)/peal-\1/p' -e 's/^Name: *//p' "$packaging/rpm/peal.spec" | sort) "$scratch/names"
expect_status 0
run diff <(sed -n -e 's/^%files -n \(.*\) -f .*/\1/p' -e 's/^%files \([^-].*\) -f .*/peal-\1/p' -e 's/^%files -f \(.*\)\.files/\1/p' "$packaging/rpm/peal.spec" | sort) "$scratch/names"
expect_status 0

# Its lists: each file in one package, a folder only if it is peal's own, pages as they are compressed, the operator's files marked.
mkdir -p "$scratch/debian" "$scratch/lists" "$scratch/built/etc/peal/conf.d"
awk '!/^#/ { sub("@libdir@", "usr/lib64", $3); sub("@units@", "usr/lib/systemd/system", $3); sub("[*]", "1", $3); print $3 }' "$packaging/packages.txt" |
    sed -e 's|^usr/bin$|&/peal|' -e 's|^usr/share/man/man\([15]\)$|&/peal.\1|' -e 's|^etc/peal$|&/peal.yaml|' >"$scratch/paths"
while read -r path; do
    mkdir -p "$scratch/built/${path%/*}"
    touch "$scratch/built/$path"
done <"$scratch/paths"
rm "$scratch/built/usr/include/peal.h"
run "$packaging/file_lists.sh" rpm /usr/lib/systemd/system "$scratch/lists" "$scratch/built" /usr/lib64
expect_status 1
expect_stderr_has 'there is no usr/include/peal.h below'
touch "$scratch/built/usr/include/peal.h"
run "$packaging/file_lists.sh" rpm /usr/lib/systemd/system "$scratch/lists" "$scratch/built" /usr/lib64
expect_status 0
run cat "$scratch/lists/peal.files" "$scratch/lists/peal-mongo.files"
expect_stdout '/usr/lib/systemd/system/peal.service
%config(noreplace) /etc/default/peal
%dir /etc/peal
%dir /etc/peal/conf.d
%config(noreplace) /etc/peal/peal.yaml
/usr/bin/peal
/usr/lib/sysusers.d
/usr/share/bash-completion
/usr/share/doc/peal
/usr/share/man/man1/peal.1*
/usr/share/man/man5/peal.5*
%dir /usr/lib/peal
/usr/lib/peal/peal-mongo.so'
run "$packaging/file_lists.sh" debian /lib/systemd/system "$scratch/debian"
expect_status 0
run sh -c "cd '$scratch/debian' && cat peal.install libpeal1.install"
expect_stdout_has 'lib/systemd/system/peal.service'
expect_stdout_has 'usr/lib/*/libpeal.so.*'

run env DESTDIR="$scratch" cmake -DCMAKE_INSTALL_PREFIX=/usr \
    -P "${PEAL_BIN:-$source_dir/build/asan/bin}/../packaging/cmake_install.cmake"
expect_status 0
unit=$scratch/usr/lib/systemd/system/peal.service
users=$scratch/usr/lib/sysusers.d/peal.conf

run cat "$unit"
expect_stdout_has 'ExecStart=/usr/bin/peal start --data /var/lib/peal $PEAL_OPTIONS'
expect_stdout_has 'ExecStartPre=-/usr/bin/systemd-sysusers /usr/lib/sysusers.d/peal.conf'
expect_stdout_has 'Environment=PEAL_DEFAULT_USER=peal-job'
before=$(grep -n '^Environment=' "$unit" | cut -d: -f1)
after=$(grep -n '^EnvironmentFile=' "$unit" | cut -d: -f1)
checks=$((checks + 1))
[ "$before" -lt "$after" ] || mismatch 'expected the operator to have the last word'

run "$scratch/usr/bin/peal-container"
expect_status 125
expect_stderr_has usage

if command -v systemd-sysusers >/dev/null; then
    mkdir -p "$scratch/root/etc"
    for _ in first second; do
        run systemd-sysusers --root="$scratch/root" "$users"
        expect_status 0
    done
    run grep '^peal-job:' "$scratch/root/etc/passwd"
    expect_stdout_has ':/:/' # its home is nobody's, and so is its shell
    expect_stdout_has nologin
else
    echo 'skipped: there is no systemd-sysusers to make the user'
fi

# ---- how much of the machine it has, by systemd's own count ----

# These figures are Debian 12's; later versions count more things.
strict=$scratch/usr/share/doc/peal/systemd/strict.conf
slack=3
[ "$(systemd-analyze --version 2>/dev/null | sed -n '1s/systemd \([0-9]*\).*/\1/p')" != 252 ] || slack=0
expect_exposure() { # MOST UNIT
    run systemd-analyze security --no-pager --offline=true --threshold=$(($1 + slack)) "$2"
    sed -i '$!d' "$scratch/out" # the sum alone
    expect_status 0
}
if command -v systemd-analyze >/dev/null; then
    mkdir "$scratch/units"
    sed 's|/usr/bin/peal |/bin/true |' "$unit" >"$scratch/units/peal.service"
    run verify_unit "$scratch/units/peal.service"
    expect_status 0
    expect_stderr ''
    expect_exposure 79 "$scratch/units/peal.service"
    cat "$unit" "$strict" | sed 's|/usr/bin/peal |/bin/true |' >"$scratch/units/peal-strict.service"
    run verify_unit "$scratch/units/peal-strict.service"
    expect_status 0
    expect_stderr ''
    expect_exposure 38 "$scratch/units/peal-strict.service"
else
    echo 'skipped: there is no systemd-analyze to count'
fi

# ---- with no more capabilities than strict.conf leaves, it does its work ----

if [ "$(id -u)" -eq 0 ]; then
    kept=$(sed -n 's/^CapabilityBoundingSet=CAP_/+/p' "$strict" | sed 's/ CAP_/,+/g' | tr '[:upper:]' '[:lower:]')
    export PEAL_DATA=$scratch/strict
    run setpriv --bounding-set="-all,$kept" --no-new-privs \
        peal start -d --listen none --default-user nobody
    expect_status 0
    run peal add who @manual --shell 'id -un; grep NoNewPrivs /proc/self/status'
    expect_status 0
    run peal run who --follow
    expect_status 0
    expect_stdout_has nobody
    expect_stdout_has 'NoNewPrivs:	1'
    run peal add long @manual --shell 'sleep 100 & wait'
    run peal run long
    wait_until newest_is long running
    run peal kill long
    wait_until newest_is long killed
    run peal stop
    expect_status 0
fi

finish
