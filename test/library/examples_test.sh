#!/bin/bash
# Every file of examples/ is built from an installed tree, as people build their programs: with gcc and
# clang; by pkg-config, shared and static; by CMake. All of them then run at once, each with a store of
# its own, until what they are to show is in their history; and end when they are told to.
. "$(dirname "$0")/lib.sh"

install_library
bin=$scratch/bin
mkdir "$bin" "$scratch/data"
programs=()

# A line that a run of each example writes.
expected='
every      swept
interval   orders,
cancel     stopped at row
poll       beat 1
background swept, attempt 1
count      call 1
'

# ---- building ----

add() { # NAME-OF-PROGRAM EXAMPLE
    programs+=("$1:$2")
}

# Code of one compiler's sanitizer is linked by that compiler alone.
can_link_archive() { # COMPILER
    [ -z "${sanitizers[*]}" ] || [ "$1" = "$built_by" ]
}

flags_for() { # COMPILER
    [ "$1" != "$built_by" ] || echo "${sanitizers[*]}"
}

build_with_pkg_config() { # COMPILER FILE EXAMPLE
    local compiler name=$1-$3
    compiler=$(compiler_for "$1" "$2")
    # shellcheck disable=SC2046 # lists of options
    run "$compiler" -Wall -Wextra -Werror $(flags_for "$1") "$2" $(pkg-config --cflags --libs peal) -o "$bin/$name"
    expect_status 0
    add "$name" "$3"
    can_link_archive "$1" || return
    # shellcheck disable=SC2046 # lists of options
    run "$compiler" $(flags_for "$1") "$2" $(pkg-config --static --cflags --libs peal | sed 's/-lpeal/-l:libpeal.a/') \
        -o "$bin/$name-archive"
    expect_status 0
    run readelf -d "$bin/$name-archive"
    expect_stdout_lacks '[libpeal.so'
    add "$name-archive" "$3"
}

# Without any shared library at all.
build_static() { # COMPILER
    # shellcheck disable=SC2046 # a list of options
    run "$1" -static "$source_dir/examples/every.c" $(pkg-config --static --cflags --libs peal) -o "$bin/$1-all-static"
    expect_status 0
    add "$1-all-static" every
}

build_with_cmake() { # COMPILER
    local folder=$scratch/cmake-$1 example
    run cmake -S "$here/project" -B "$folder" -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$(compiler_for "$1" x.cpp)" \
        -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$source_dir/examples" -DSTATIC="$(can_link_archive "$1" && echo ON)" \
        -DCMAKE_C_FLAGS="$(flags_for "$1")" -DCMAKE_CXX_FLAGS="$(flags_for "$1")"
    expect_status 0
    run cmake --build "$folder"
    expect_status 0
    # One of each kind is started: the rest is what pkg-config has made.
    for example in every count; do
        cp "$folder/$example" "$bin/$1-cmake-$example"
        add "$1-cmake-$example" "$example"
    done
    can_link_archive "$1" || return
    cp "$folder/every_static" "$bin/$1-cmake-static"
    add "$1-cmake-static" every
}

for compiler in $(compilers); do
    for file in "$source_dir"/examples/*.c "$source_dir"/examples/*.cpp; do
        example=${file##*/}
        build_with_pkg_config "$compiler" "$file" "${example%.*}"
    done
    [ -n "${sanitizers[*]}" ] || build_static "$compiler"
    build_with_cmake "$compiler"
done
[ "$failures" -eq 0 ] || finish

# ---- running ----

export LD_LIBRARY_PATH=$prefix/lib
declare -A pid_of input_of
trap 'kill -9 "${pid_of[@]}" 2>/dev/null; rm -rf "$scratch"' EXIT

# A program without the sanitizer's runtime has it loaded before the library.
runtime_for() { # PROGRAM
    case "${sanitizers[*]}:$1" in
    *address*:"$built_by"-*) ;;
    *address*) gcc -print-file-name=libasan.so ;;
    *thread*:"$built_by"-*) ;;
    *thread*) gcc -print-file-name=libtsan.so ;;
    esac
}

start() { # PROGRAM
    local input
    mkfifo "$scratch/data/$1.in"
    PEAL_DATA=$scratch/data/$1 LD_PRELOAD=$(runtime_for "$1") "$bin/$1" <"$scratch/data/$1.in" \
        >"$scratch/data/$1.out" 2>"$scratch/data/$1.err" &
    pid_of[$1]=$!
    exec {input}>"$scratch/data/$1.in"
    input_of[$1]=$input
}

# Whether it has on record that a run has written TEXT. Without an agent, records wait in its spool.
# shellcheck disable=SC2317 # wait_until calls it
has_run() { # PROGRAM TEXT
    find "$scratch/data/$1" -path '*/spool/output-*' -exec grep -qaF -e "$2" {} \; -print | grep -q .
}

for program in "${programs[@]}"; do
    start "${program%:*}"
done
for program in "${programs[@]}"; do
    read -r _ text < <(grep "^${program#*:} " <<<"$expected")
    checks=$((checks + 1))
    wait_until has_run "${program%:*}" "$text"
    [ "$failures" -eq 0 ] || {
        cat "$scratch/data/${program%:*}.err"
        finish
    }
done

# Asked to, they end, and have nothing to complain about.
for program in "${programs[@]}"; do
    name=${program%:*}
    case $program in
    *:poll) echo >&"${input_of[$name]}" ;;
    *) kill -TERM "${pid_of[$name]}" ;;
    esac
done
for program in "${programs[@]}"; do
    name=${program%:*}
    ran=$name
    status=0
    wait "${pid_of[$name]}" || status=$?
    cp "$scratch/data/$name.out" "$scratch/out"
    cp "$scratch/data/$name.err" "$scratch/err"
    expect_status 0
    [[ $program = *:background ]] || expect_stderr ''
done

finish
