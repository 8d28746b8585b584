#!/bin/sh
# tools/library.sh
# Proves libpeal as it is released: what test/library looks at, without sanitizers and with all that is
# hardened; then the same programs under valgrind and under ThreadSanitizer.
set -eu

cd "$(dirname "$0")/.."
tools/build.sh release --target libpeal libpeal_static peal_pages
tools/build.sh tsan --target libpeal libpeal_static peal_pages
status=0

prove() # NAME BUILD
{
    echo "== $1 ($2${LIBRARY_UNDER:+, $LIBRARY_UNDER})"
    "test/library/$1_test.sh" "$PWD/build/$2" || status=1
}

for name in install abi header examples hygiene; do
    prove "$name" release
done

export LIBRARY_UNDER="valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,indirect
    --show-leak-kinds=definite,indirect --fair-sched=yes --suppressions=test/library/valgrind.supp"
prove hygiene release
unset LIBRARY_UNDER

export LIBRARY_FLAGS=-fsanitize=thread TSAN_OPTIONS=halt_on_error=1
prove examples tsan
prove hygiene tsan
exit $status
