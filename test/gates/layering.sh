#!/bin/sh
# layering.sh COMPILER BASE-INCLUDES SCHEDULE-INCLUDES
# A file of base that includes a header of schedule must not compile; the other way round it must.
# The includes are lists with colons between the folders.
set -eu

compiler=$1
base=$2
schedule=$3

# compiles INCLUDES HEADER
compiles()
{
    options=$(echo "$1" | sed 's/^/-I/; s/:/ -I/g')
    # shellcheck disable=SC2086 # a list of options
    printf '#include "%s"\n' "$2" | "$compiler" $options -D_GNU_SOURCE -fsyntax-only -x c - 2>&1
}

if ! compiles "$base" status.h || ! compiles "$schedule" status.h ||
    ! compiles "$schedule" schedule.h; then
    echo "an include that points downward does not compile"
    exit 1
fi
if answer=$(compiles "$base" schedule.h); then
    echo "base can include schedule.h: the layers leak"
    exit 1
fi
case $answer in
*schedule.h*) ;;
*)
    echo "refused, but not because of the include: $answer"
    exit 1
    ;;
esac
