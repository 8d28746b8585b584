#!/bin/sh
# packaging/stage.sh ROOT UNITS
# What `cmake --install` has put below ROOT goes where a distribution has it: the unit below UNITS, the configuration below /etc, with the
# documents and the completion. debian/rules and rpm/peal.spec call it, in the folder of the sources.
set -eu

root=$1
units=$root/${2#/}

mkdir -p "$units"
[ "$units" = "$root/usr/lib/systemd/system" ] || {
    mv "$root"/usr/lib/systemd/system/* "$units/"
    rm -r "$root/usr/lib/systemd"
}
mkdir -p "$root/etc/default" "$root/etc/peal/conf.d"
cp packaging/peal.default "$root/etc/default/peal"
mv "$root/usr/share/doc/peal/peal.yaml" "$root/etc/peal/"
rm "$root/usr/share/doc/peal/LICENSE" # which packages have in a place of its own
cp docs/*.md CHANGELOG.md "$root/usr/share/doc/peal/"
cp -r docs/zh "$root/usr/share/doc/peal/"
mkdir -p "$root/usr/share/bash-completion/completions"
"$root/usr/bin/peal" completion bash >"$root/usr/share/bash-completion/completions/peal"
