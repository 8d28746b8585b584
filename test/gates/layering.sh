#!/bin/sh
# layering.sh COMPILER LOWER LOWER-HEADER LOWER-INCLUDES UPPER-HEADER UPPER-INCLUDES
# A file of the layer LOWER that includes a header of the upper one must not compile; the other way
# round it must. The includes are lists with colons between the folders.
set -eu

compiler=$1
lower=$2
lower_header=$3
lower_includes=$4
upper_header=$5
upper_includes=$6

# compiles INCLUDES HEADER
compiles()
{
    options=$(echo "$1" | sed 's/^/-I/; s/:/ -I/g')
    # shellcheck disable=SC2086 # a list of options
    printf '#include "%s"\n' "$2" | "$compiler" $options -D_GNU_SOURCE -fsyntax-only -x c - 2>&1
}

if ! compiles "$lower_includes" "$lower_header" || ! compiles "$upper_includes" "$lower_header" ||
    ! compiles "$upper_includes" "$upper_header"; then
    echo "an include that points downward does not compile"
    exit 1
fi
if answer=$(compiles "$lower_includes" "$upper_header"); then
    echo "$lower can include $upper_header: the layers leak"
    exit 1
fi
case $answer in
*"$upper_header"*) ;;
*)
    echo "refused, but not because of the include: $answer"
    exit 1
    ;;
esac
