#!/bin/bash
# What is installed for systemd: the service starts, and has the user that its jobs run as.
# shellcheck disable=SC2016 # the unit has it so
. "$(dirname "$0")/lib.sh"

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

finish
