#!/bin/sh
# warnings.sh COMPILER FLAGS
# The flags that the code is built with refuse a file with a warning, and take it without.
set -eu

compiler=$1
flags=$2

compiles()
{
    # shellcheck disable=SC2086 # a list of options
    echo "$1" | "$compiler" $flags -std=gnu11 -fsyntax-only -x c - 2>&1
}

if ! compiles 'int half(int n); int half(int n) { return n / 2; }'; then
    echo "clean code is refused"
    exit 1
fi
for code in \
    'int half(int n) { return n / 2; }' \
    'int half(long n); int half(long n) { return n / 2; }' \
    'int half(int n); int half(int n) { int unused; return n / 2; }'; do
    if compiles "$code" >/dev/null; then
        echo "compiles in spite of its warning: $code"
        exit 1
    fi
done
