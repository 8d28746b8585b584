# Sourced by the tests of packages: a Debian of its own in a folder, from debootstrap, which is kept as an archive.
#   root_make SUITE FOLDER    as fresh as debootstrap leaves it, with /proc and /dev, and without services
#   in_root COMMAND...        runs there; FOLDER is $root
#   root_leave                ends its processes and mounts
# shellcheck shell=bash

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

root_leave() {
    for pid in /proc/[0-9]*; do
        [ "$(readlink "$pid/root")" != "$root" ] || kill "${pid#/proc/}" 2>/dev/null || :
    done
    for place in proc dev/pts dev; do
        umount -l "$root/$place" 2>/dev/null || :
    done
}

# The mirror that this machine has its packages from.
root_mirror() {
    sed -n 's/^URIs: *//p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\) .*/\2/p' /etc/apt/sources.list \
        /etc/apt/sources.list.d/* 2>/dev/null | grep -v security | head -n 1
}

root_make() { # SUITE FOLDER
    root=$2
    local base=$PWD/build/roots/$1.tar
    if ! [ -e "$base" ]; then
        mkdir -p "${base%/*}"
        rm -rf "$root"
        debootstrap --variant=minbase "$1" "$root" "$(root_mirror)" >"$base.log" 2>&1 ||
            { tail "$base.log" >&2; return 1; }
        tar -C "$root" -cf "$base" .
    fi
    rm -rf "$root"
    mkdir -p "$root"
    tar -C "$root" -xf "$base"
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
    # How this machine reaches its mirror; what packages have put there is theirs.
    local file
    for file in /etc/apt/apt.conf.d/*; do
        dpkg -S "$file" >/dev/null 2>&1 || cp "$file" "$root/etc/apt/apt.conf.d/"
    done
    # As in a container: packages start no services.
    printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
    chmod +x "$root/usr/sbin/policy-rc.d"
    in_root apt-get -qq update
}
