#!/bin/bash
# examples/coordination/{lock,elect,select}.c, as people build them: with the header and libpeal.so, as C11 without
# a warning, and the header as C++17, too. On this machine, and with etcd where there is one.
# examples_test.sh LIBRARY [COMPILER OPTION]...: what libpeal.so was built with, sanitizers above all
# shellcheck source=test/integration/lib.sh
. "$(dirname "$0")/../integration/lib.sh"
library=$1
shift
folder=$(dirname "$library")

for name in lock elect select; do
    run "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "$@" -I "$source_dir/include" \
        "$source_dir/examples/coordination/$name.c" -o "$scratch/$name" -L "$folder" -lpeal -Wl,-rpath,"$folder"
    expect_status 0
done
cat >"$scratch/plus.cc" <<'END'
#include <peal.h>
int main()
{
    peal_held *held = nullptr;
    peal_claim claim{};
    claim.id = "plus";
    if (peal_lock(nullptr, &held, "plus", 0, claim) != PEAL_OK || peal_fence(held) != 1)
        return 1;
    return peal_release(held) == PEAL_OK && peal_elect(nullptr, &held, "plus") == PEAL_OK &&
            peal_release(held) == PEAL_OK && peal_select(nullptr, "plus", "p", 60000, nullptr) == 1
        ? 0 : 2;
}
END
run "${CXX:-c++}" -std=c++17 -Wall -Wextra -Wpedantic -Werror "$@" -I "$source_dir/include" \
    "$scratch/plus.cc" -o "$scratch/plus" -L "$folder" -lpeal -Wl,-rpath,"$folder"
expect_status 0

# shellcheck disable=SC2317 # wait_until calls it
has_line() { grep -qxF -e "$2" "$1"; } # FILE LINE

try_examples() {
    run "$scratch/lock"
    expect_status 0
    expect_stdout 'part 1, fence 1
part 2, fence 1
part 3, fence 1'
    # It is the lock of `peal lock`, and the same queue.
    mkfifo "$scratch/go"
    peal lock backup --id shell -- sh -c "echo held >$scratch/held; read -r x <$scratch/go" &
    holder=$!
    wait_until test -s "$scratch/held"
    run "$scratch/lock"
    expect_status 1
    expect_stderr_has 'no backup: backup is held by shell on '
    echo go >"$scratch/go"
    wait $holder
    rm "$scratch/go" "$scratch/held"
    run "$scratch/lock"
    expect_status 0
    expect_stdout_has 'fence 3'

    # Two candidates, each until its input ends; `peal elect` sees them.
    mkfifo "$scratch/one.in" "$scratch/two.in"
    "$scratch/elect" one <"$scratch/one.in" >"$scratch/one.out" 2>&1 &
    one=$!
    exec 7>"$scratch/one.in"
    wait_until has_line "$scratch/one.out" 'one leads'
    "$scratch/elect" two <"$scratch/two.in" >"$scratch/two.out" 2>&1 7>&- &
    two=$!
    exec 8>"$scratch/two.in"
    wait_until has_line "$scratch/two.out" 'one leads'
    run peal elect mailer --who
    expect_stdout one
    exec 7>&-
    wait $one
    wait_until has_line "$scratch/two.out" 'I send mail now, fence 2'
    wait_until has_line "$scratch/two.out" 'two leads'
    exec 8>&-
    status=0
    wait $two || status=$?
    ran='the second candidate'
    expect_status 0
    rm "$scratch"/*.in "$scratch"/*.out

    run "$scratch/select" web-1
    expect_stdout 'I make the report'
    run "$scratch/select" web-2
    expect_stdout 'web-1 makes the report'
    run peal select report --hold 1m --id web-3
    expect_status 11
    expect_stdout web-1
    run "$scratch/plus"
    expect_status 0
    # Nobody has become a node for that.
    run test -e "$PEAL_DATA/programs"
    expect_status 1
}

export PEAL_DATA=$scratch/data
try_examples
if command -v etcd >/dev/null; then
    etcd_start
    export PEAL_STORE=$etcd_url/examples PEAL_DATA=$scratch/other
    try_examples
    etcd_stop
fi
finish
