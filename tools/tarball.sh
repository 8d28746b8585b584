#!/bin/sh
# tools/tarball.sh
# Builds a folder that runs from anywhere, as build/tarball/peal-VERSION-linux-MACHINE.tar.gz. What is not of the C library
# or of OpenSSL is in it: those two, and their updates, are the machine's own.
set -eu
cd "$(dirname "$0")/.."

# The libraries of the machine that is installed on.
is_of_system() { # NAME
    case $1 in
    linux-vdso.so.* | ld-linux* | libc.so.* | libm.so.* | libresolv.so.* | libpthread.so.* | libdl.so.* | librt.so.*) ;;
    libgcc_s.so.* | libssl.so.* | libcrypto.so.*) ;;
    *) return 1 ;;
    esac
}

version=$(build/bin/peal version | sed 's/^peal //; s/ (\(.*\))$/+\1/')
name=peal-$version-linux-$(uname -m)
out=$PWD/build/tarball
rm -rf "$out"
mkdir -p "$out/$name"
DESTDIR=$out/installed cmake --install build/release --prefix /peal --component Unspecified --strip >/dev/null
cd "$out"
# The module of MongoDB would bring as much again; a unit names the place that it was installed to.
rm -rf installed/peal/lib installed/peal/share/doc/peal/systemd
mv installed/peal/* "$name/"
rm -r installed
mkdir -p "$name/lib/peal" "$name/share/bash-completion/completions"
"$name/bin/peal" completion bash >"$name/share/bash-completion/completions/peal"
cp ../../docs/*.md ../../CHANGELOG.md "$name/share/doc/peal/"
cp -r ../../docs/zh "$name/share/doc/peal/"

# ---- libraries ----

programs="$name/bin/peal $name/bin/peal-spawn $name/bin/peal-call"
# shellcheck disable=SC2086 # a list of words
ldd $programs | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }' | sort -u | while read -r library path; do
    is_of_system "$library" || cp -L "$path" "$name/lib/peal/$library"
done
for program in $programs; do
    patchelf --set-rpath "\$ORIGIN/../lib/peal" "$program"
done
for library in "$name"/lib/peal/*; do
    chmod 644 "$library"
    patchelf --set-rpath "\$ORIGIN" "$library"
done

# What the machine has to have, by the programs' own words.
newest=$(for file in $programs "$name"/lib/peal/*; do objdump -T "$file"; done |
    grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
{
    echo "peal $version for Linux on $(uname -m): bin/peal runs from wherever this folder is."
    echo "It needs glibc ${newest#GLIBC_} or later and OpenSSL 3, which are the machine's own. Its other libraries are in lib/peal:"
    (cd "$name/lib/peal" && ls) | paste -s -d ' ' | fold -s -w 100
    echo
    echo 'To begin: bin/peal start -d. As a service: sudo bin/peal service install. The documents are in share/doc/peal.'
} >"$name/README"
cp ../../LICENSE "$name/"

tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git -C ../.. show -s --format=%ct)" -cf - "$name" |
    gzip -n9 >"$name.tar.gz"
rm -rf "$name"
ls -- *.tar.gz
