#!/bin/sh
# packaging/file_lists.sh debian UNITS FOLDER         writes FOLDER/PACKAGE.install, for dh_install
# packaging/file_lists.sh rpm UNITS FOLDER ROOT LIBDIR    writes FOLDER/PACKAGE.files, for %files, of what is below ROOT
# From packaging/packages.txt.
set -eu

kind=$1
units=${2#/}
folder=$3
root=${4-}
libdir=${5-usr/lib/\*} # of any machine, in Debian
libdir=${libdir#/}
case $kind in
debian) column=1 suffix=install ;;
rpm) column=2 suffix=files ;;
*) echo "file_lists: what is $kind?" >&2 && exit 2 ;;
esac

# Files by name. A folder is a package's own if it, or one above it, has peal's name: others belong to the system. Pages are
# compressed later; what is below /etc is the operator's.
in_rpm() # PATTERN
{
    # shellcheck disable=SC2086 # a pattern
    found=$(cd "$root" && find $1 -type d \( -name peal -o -path '*/peal/*' \) -printf '%%dir /%p\n' -o \
        \( -type f -o -type l \) -printf '/%p\n' | LC_ALL=C sort)
    [ "$found" ] || { echo "file_lists: there is no $1 below $root" >&2; return 1; }
    echo "$found" |
        sed -e 's|^/etc/|%config(noreplace) &|' -e 's|^/usr/share/man/.*|&*|' -e 's|^/usr/lib/peal/|%dir /usr/lib/peal\n&|'
}

rm -f "$folder"/*."$suffix"
grep -v '^#' "${0%/*}/packages.txt" |
    awk -v column="$column" -v libdir="$libdir" -v units="$units" '{
        gsub("@libdir@", libdir, $3)
        gsub("@units@", units, $3)
        print $column, $3
    }' | while read -r package pattern; do
    case $kind in
    debian) echo "$pattern" ;;
    rpm) in_rpm "$pattern" ;;
    esac >>"$folder/$package.$suffix"
done
