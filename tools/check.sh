#!/bin/bash
# tools/check.sh
# What a change is seen by first, in about two minutes: all unit tests, the gates, the fuzzers' corpora,
# and of the other tests those that are near to what differs from the branch main. It builds only what
# these need, and looks at the format and the scripts of what differs. `make test` and `make lint` are
# the whole.
set -eu -o pipefail
cd "$(dirname "$0")/.."

base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
changed=$(git diff --name-only --diff-filter=d "$base" && git ls-files --others --exclude-standard)

# A folder, and the tests that are near to it, as CTest's -R takes them.
near='
src/job/       ^contract\.store_memory$
src/store/     ^contract\.store_(memory|sqlite|sqlite_files)$
src/history/   ^contract\.history_(memory|gather)$|^contract\.store_memory$
src/gather/    ^contract\.history_gather$
src/etcd/      ^integration\.etcd_(kv|txn)$
src/kv/        ^integration\.etcd_(kv|txn|lease)$
src/spawn/     ^integration\.spawner_(start|output)$
src/engine/    ^sim\.(sim_memory|chaos_finds_.*)$
src/http/      ^integration\.api_(jobs|http|guard)$
src/api/       ^integration\.api_(jobs|runs|nodes|why|after)$
src/notify/    ^integration\.(notify|mail)$
bin/peal/      ^integration\.(cli|cli_errors|jobs|files|completion)$
bin/peal-spawn ^integration\.spawner_(start|output)$
web/           ^browser\.unit$
test/memory/   ^contract\.history_memory$|^sim\.sim_memory$
docs/          ^integration\.(metrics|reasons|schedule_errors|threats)$
'

# Tests to run, as one expression: the quick kinds, what is near, and tests that differ themselves.
wanted()
{
    echo '^(unit|gate|fuzz)\.'
    while read -r folder tests; do
        if [ -n "$folder" ] && grep -q "^$folder" <<<"$changed"; then
            echo "$tests"
        fi
    done <<<"$near"
    sed -n 's,^test/\(contract\|integration\|security\|cluster\|fault\)/.*\<\([a-z_]*\)_test\.\(c\|sh\)$,\\.(.*_)?\2$,p' \
        <<<"$changed"
}

# What takes longer than half a minute is left to `make test`, also when it differs itself.
too_long=$(awk '/^(work|half|wait) / && $2 > 30 { print $3 }' test/costs.txt | paste -s -d '|')

# Programs of the build that these tests start, and the product.
targets()
{
    echo peal peal-spawn peal-call
    ctest --test-dir build/asan --show-only=json-v1 -R "$tests" -E "^($too_long)\$" |
        jq -r --arg build "$PWD/build/asan/" \
            '.tests[].command[]? | select(startswith($build)) | ltrimstr($build)' | sort -u
}

status=0
files=$(grep -E '\.[ch]$' <<<"$changed" || true)
[ -z "$files" ] || xargs clang-format --dry-run -Werror <<<"$files" ||
    { echo "check: the format differs; run: make format"; status=1; }
scripts=$(for file in $changed; do head -n 1 "$file" | grep -qE '^#!.*/(ba|da)?sh' && echo "$file"; done || true)
[ -z "$scripts" ] || xargs shellcheck <<<"$scripts" || status=1

cmake --preset asan >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
tests=$(wanted | sort -u | paste -s -d '|')
mapfile -t needed < <(targets | tr ' ' '\n')
tools/build.sh asan --target "${needed[@]}"
tools/test.sh build/asan -R "$tests" -E "^($too_long)\$" || status=1
exit $status
