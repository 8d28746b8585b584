#!/bin/bash
# What a program that was compiled against an earlier libpeal depends on is still there: functions under
# their version and as they were declared, members where they were, enumerators with their values.
# abi.txt is the record; PEAL_WRITE=1 adds to it what is new, and refuses to change the rest.
. "$(dirname "$0")/lib.sh"

record=$here/abi.txt
install_library

# ---- functions: the header, the map and the library say the same ----

expect_same_lines() { # FILE FILE MEANING
    checks=$((checks + 1))
    diff "$1" "$2" >"$scratch/out" || fail "diff of ${1##*/} and ${2##*/}" "expected $3"
}
mapped >"$scratch/map"
declared >"$scratch/header"
nm -D --defined-only "$prefix/lib/libpeal.so" | awk '$2 != "A" { print $3 }' | sort >"$scratch/versioned"
sed 's/@.*//' "$scratch/versioned" >"$scratch/exported"
nm -g --defined-only "$prefix/lib/libpeal.a" | awk 'NF == 3 { print $3 }' | grep -v '^__odr_asan' |
    sort >"$scratch/archived"
expect_same_lines "$scratch/header" "$scratch/map" 'libpeal.map to list what peal.h declares'
expect_same_lines "$scratch/map" "$scratch/exported" 'libpeal.so to have what libpeal.map lists'
expect_same_lines "$scratch/map" "$scratch/archived" 'libpeal.a to show what libpeal.map lists'

# ---- the record ----

# "FUNCTION VERSION" of all that the map lists.
versions() {
    awk '/^PEAL_/ { version = $1 } /^ *peal_[a-z_]*;/ { gsub(/[ ;]/, ""); print $0, version }' "$map"
}

plain_header | awk -f "$here/abi.awk" >"$scratch/abi.c"
run "$built_by" -I"$source_dir/include" "$scratch/abi.c" -o "$scratch/abi"
expect_status 0
{
    "$scratch/abi"
    # Parameters by their types: names are for people.
    prototypes | sed 's/\([ *]\)[a-z_]*\([,)]\)/\1\2/g; s/ \([,)]\)/\1/g; s/^.*[ *]\(peal_[a-z_]*\)(.*$/\1 &/' | sort |
        join <(versions | sort) -
} >"$scratch/now"

# Structs whose size a program hands over may become longer: their _sized functions say which.
sized=$(prototypes | sed -n 's/.*_sized(.*const \(peal_[a-z_]*\) \*.*/\1/p' | sort -u | tr '\n' ' ')
check_abi() { # RECORD NOW
    awk -v sized=" $sized" '
        function complain(what) { print what; bad = 1 }
        { name = $1 }
        FILENAME == ARGV[1] { was[name] = $0; if ($2 == "size") size[name] = $3; next }
        { is[name] = $0; if ($2 == "size") now_size[name] = $3 }
        !(name in was) && $2 == "at" {
            of = name
            sub(/\..*/, "", of)
            if (of in size && $3 < size[of])
                complain(name " is new, at " $3 ": further members go to the end, from " size[of] " on")
        }
        END {
            for (name in was) {
                if (!(name in is))
                    complain(name " is gone, and programs use it")
                else if (!(name in size) && was[name] != is[name])
                    complain(was[name] ", once; now: " is[name])
                else if (now_size[name] < size[name])
                    complain(name " is smaller than it was")
                else if (now_size[name] > size[name] && !index(sized, " " name " "))
                    complain(name " is larger, and programs do not say how large theirs is")
            }
            exit bad
        }' "$1" "$2"
}

ran='the record of what programs depend on, test/library/abi.txt'
checks=$((checks + 1))
if ! check_abi "$record" "$scratch/now" >"$scratch/out"; then
    mismatch 'expected programs that are compiled already to go on working'
elif [ -n "${PEAL_WRITE:-}" ]; then
    cp "$scratch/now" "$record"
fi
# What is new may still change; what is on record may not.
grep -vxFf "$record" "$scratch/now" | grep -v '^[a-z_]* size ' | sed 's/^/not on record yet: /'
echo "(PEAL_WRITE=1 test/library/abi_test.sh $build puts what is new on record)"

# It does find what it is there for.
expect_found() { # WORDS SED-SCRIPT
    ran="the record after: $2"
    checks=$((checks + 1))
    sed "$2" "$record" >"$scratch/planted"
    ! check_abi "$record" "$scratch/planted" >"$scratch/out" || mismatch 'expected it to be noticed'
    expect_stdout_has "$1"
}
expect_found 'peal_job.arg at 24 size 8, once' 's/^peal_job.arg at 24/peal_job.arg at 32/'
expect_found 'peal_log is gone' '/^peal_log /d'
expect_found 'PEAL_E_LOST = -7, once' 's/^PEAL_E_LOST = -7/PEAL_E_LOST = -8/'
expect_found 'peal_place is larger' 's/^peal_place size .*/peal_place size 64/'
expect_found 'peal_job is smaller' 's/^peal_job size .*/peal_job size 64/'
# shellcheck disable=SC2016 # sed's dollar
expect_found 'peal_job.zone is new, at 16' '$a peal_job.zone at 16 size 8'
expect_found 'peal_sleep PEAL_1.0 int' 's/^\(peal_sleep.*\)int64_t/\1int/'

# ---- the types of all that, by libabigail: of functions as the header declares them ----

if command -v abidiff >/dev/null && [ "$(uname -m)" = x86_64 ]; then
    { echo '#include <peal.h>'; prototypes | sed 's/$/ { __builtin_trap(); }/'; } >"$scratch/functions.c"
    run "$built_by" -g -shared -fPIC -I"$source_dir/include" "$scratch/functions.c" \
        -Wl,--version-script="$map" -o "$scratch/libpeal.so.1"
    expect_status 0
    if [ -n "${PEAL_WRITE:-}" ]; then
        (cd "$scratch" && abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
            --no-parameter-names --out-file "$here/libpeal.abi" libpeal.so.1)
        sed -i "s|path='[^']*functions.c'|path='functions.c'|" "$here/libpeal.abi"
    fi
    run abidiff --no-added-syms "$here/libpeal.abi" "$scratch/libpeal.so.1"
    expect_status 0
else
    echo 'skipped: there is no abidiff (abigail-tools), or this is another machine than that of libpeal.abi'
fi

finish
