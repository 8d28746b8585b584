#!/bin/bash
# What is installed for systemd: the service starts, has the user that its jobs run as, and leaves them
# no more of the machine than was decided.
# shellcheck disable=SC2016 # the unit has it so
. "$(dirname "$0")/lib.sh"

# Each module is in a package of Debian, without which none is built.
find "$source_dir/src" \( -name CMakeLists.txt -o -name '*.cmake' \) -exec sed -n 's/^ *peal_module(\([a-z]*\) .*/\1/p' {} + >"$scratch/modules"
run grep -c . "$scratch/modules"
expect_stdout 3
while read -r module; do
    run cat "$source_dir/packaging/debian/peal-$module.install"
    expect_stdout "usr/lib/peal/peal-$module.so"
    run grep -c "^Package: peal-$module$" "$source_dir/packaging/debian/control"
    expect_stdout 1
done <"$scratch/modules"

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
    run systemd-analyze verify --man=no "$scratch/units/peal.service"
    expect_status 0
    expect_stderr ''
    expect_exposure 79 "$scratch/units/peal.service"
    cat "$unit" "$strict" | sed 's|/usr/bin/peal |/bin/true |' >"$scratch/units/peal-strict.service"
    run systemd-analyze verify --man=no "$scratch/units/peal-strict.service"
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
