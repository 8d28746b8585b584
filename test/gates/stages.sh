#!/bin/sh
# stages.sh SOURCE-OF-THE-ENGINE
# No stage of the engine calls an earlier one: none includes an earlier one's header, and what the
# stages share includes no stage. Shown four planted violations, which must be found.
set -eu

engine=$1
order='planner boots claimer runner sweeper recorder follow'
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# place STAGE: where it is in the flow; 0: it is not a stage
place()
{
    n=0
    for stage in $order; do
        n=$((n + 1))
        case $1 in
        "$stage" | "$stage"_*) echo "$n" && return ;;
        esac
    done
    echo 0
}

# look FOLDER: prints what points to an earlier stage
look()
{
    (cd "$1" && grep -rH '^#include "stages/' stages state workflow) |
        sed 's|^\([a-z_]*\)/\([a-z_]*/\)*\([a-z_]*\)\.[ch]:#include "stages/\([a-z_]*/\)*\([a-z_]*\)\.h"|\1 \3 \5|' |
        while read -r folder file header; do
            from=$(place "$file")
            to=$(place "$header")
            if [ "$to" -ne 0 ] && { [ "$from" -eq 0 ] || [ "$to" -lt "$from" ]; } ||
                [ "$folder" != stages ]; then
                echo "$folder/$file includes stages/$header.h"
            fi
        done
}

for stage in $order; do
    if [ ! -e "$engine/stages/$stage.h" ] && [ ! -e "$engine/stages/$stage/$stage.h" ]; then
        echo "$stage is no stage any more: the order here is out of date"
        exit 1
    fi
done
if [ -n "$(look "$engine")" ]; then
    look "$engine"
    exit 1
fi

# planted FILE LINE
planted()
{
    cp -r "$engine/stages" "$engine/state" "$engine/workflow" "$dir"
    echo "$2" >>"$dir/$1"
    if [ -z "$(look "$dir")" ]; then
        echo "$1 may have $2, and nobody notices"
        exit 1
    fi
    rm -r "$dir/stages" "$dir/state" "$dir/workflow"
}

planted stages/recorder_store.c '#include "stages/planner.h"'
planted stages/runner/runner_watch.c '#include "stages/claimer.h"'
planted state/catalog.c '#include "stages/plan.h"'
planted workflow/links.c '#include "stages/recorder.h"'
