#!/bin/bash
# The drawing of layers in docs/ARCHITECTURE.md, its walks and the READMEs are of the code as it is;
# and tools/house.sh sees when they are not.
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

run "$PEAL_SOURCE/tools/house.sh" --check
expect_status 0
expect_stderr ''

mkdir "$scratch/clean"
cp -r "$source_dir/src" "$source_dir/bin" "$source_dir/docs" "$source_dir/tools" "$scratch/clean"

# planted WHY COMMAND...: a copy of the tree in which COMMAND was done is refused with WHY.
# Its files are links, so COMMAND may replace one but not write into it.
planted()
{
    local why=$1
    shift
    rm -rf "$scratch/tree"
    cp -rl "$scratch/clean" "$scratch/tree"
    (cd "$scratch/tree" && "$@") || mismatch "$why: could not be planted"
    run "$scratch/tree/tools/house.sh" --check
    expect_status 1
    expect_stderr_has "$why"
}

planted 'includes itself by way of others' sed -i '1i #include "engine.h"' src/job/run.c
planted 'does not show the layers' sed -i '1i #include "feed.h"' src/notify/notice.c
planted 'src/base has no README.md' rm src/base/README.md
planted 'src/engine/engine.c engine_step() is not there' \
    sed -i 's/engine_step(/engine_turn(/' src/engine/engine.c
planted 'there is no rules_run.c' mv src/store/rules/rules_run.c src/store/rules/other.c
planted 'src/loop has 26 files' touch src/loop/{a..x}.c
finish
