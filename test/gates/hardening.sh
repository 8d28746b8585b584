#!/bin/bash
# hardening.sh COMPILER COMPILE-OPTIONS LINK-OPTIONS
# tools/hardening.sh passes what is compiled as a release is, and refuses it without any one of its
# protections. The options themselves are looked at where a binary does not show them.
set -u

compiler=$1
read -r -a compile <<<"$2"
read -r -a link <<<"$3"
check=${PEAL_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}/tools/hardening.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0

cat >"$scratch/program.c" <<'END'
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char name[16];
    strcpy(name, argv[0]);
    return puts(name) + argc;
}
END

fail()
{
    echo "hardening.sh: $*"
    failures=$((failures + 1))
}

# Builds the program with the options of a release and OTHERS, which go last and so have the last word.
build() # OTHERS...
{
    "$compiler" -O2 -fPIE "${compile[@]}" -pie "${link[@]}" "$@" "$scratch/program.c" \
        -o "$scratch/program" 2>"$scratch/log" || fail "$* does not build: $(cat "$scratch/log")"
}

expect_refused() # COMPLAINT OTHERS...
{
    local complaint=$1
    shift
    build "$@"
    if "$check" "$scratch/program" 2>"$scratch/log"; then
        fail "passed with $*"
    fi
    grep -qF -e "$complaint" "$scratch/log" || fail "$*: no word of \"$complaint\": $(cat "$scratch/log")"
}

build
"$check" "$scratch/program" || fail 'refused what a release is compiled like'
expect_refused 'is no PIE' -fno-pie -no-pie
expect_refused 'no RELRO' -Wl,-z,norelro
expect_refused 'binds lazily' -Wl,-z,lazy
expect_refused 'can be executed' -Wl,-z,execstack
expect_refused 'folders for its libraries' -Wl,-rpath,/tmp
expect_refused 'stack protector' -fno-stack-protector
expect_refused 'checked functions' -U_FORTIFY_SOURCE
"$check" "$scratch/none" 2>/dev/null && fail 'passed a file that is not there'

case $("$compiler" -dumpmachine) in
x86_64*)
    wanted='-fcf-protection=full -fstack-clash-protection -D_FORTIFY_SOURCE=3'
    link=("${link[0]}") # without the word that it is marked
    expect_refused 'shadow stack' -fcf-protection=none
    ;;
aarch64*) wanted='-mbranch-protection=standard -D_FORTIFY_SOURCE=3' ;;
*) wanted=-D_FORTIFY_SOURCE=3 ;;
esac
for option in $wanted; do
    [[ " ${compile[*]} " = *" $option "* ]] || fail "$option is not among the options of a release"
done

[ $failures -eq 0 ]
