#!/bin/bash
# What is installed for programs: all that is there, what it needs and no more, as a release is hardened;
# names of the inside are nobody's business.
. "$(dirname "$0")/lib.sh"

install_library
version=$(sed -n 's/^project(peal VERSION \([0-9.]*\).*/\1/p' "$source_dir/CMakeLists.txt")
library=$prefix/lib/libpeal.so

run find "$prefix" ! -type d -printf '%P %l\n'
sort -o "$scratch/out" "$scratch/out"
expect_stdout "include/peal.h 
lib/cmake/peal/pealConfig.cmake 
lib/cmake/peal/pealConfigVersion.cmake 
lib/libpeal.a 
lib/libpeal.so libpeal.so.1
lib/libpeal.so.1 libpeal.so.1.$version
lib/libpeal.so.1.$version 
lib/pkgconfig/peal.pc 
share/man/man3/peal.h.3 "

run pkg-config --modversion peal
expect_stdout "$version"
run pkg-config --validate peal
expect_status 0
run pkg-config --libs-only-l peal
expect_stdout '-lpeal '

# ---- what a program has to have: no client of HTTP, no server, no other history ----

run readelf -dW "$library"
expect_stdout_has 'Library soname: [libpeal.so.1]'
expect_stdout_has NODELETE
needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$scratch/out" | sed -E 's/(-[0-9.]+)?\.so.*//' |
    grep -vE '^(libc|libm|ld-linux.*|libgcc_s|lib[at]san|libubsan)$' | sort | tr '\n' ' ')
checks=$((checks + 1))
[ "$needed" = 'libcrypto libevent_core libevent_extra libevent_openssl libjansson libnghttp2 libprotobuf-c libsqlite3 libssl libutf8proc libyaml ' ] ||
    fail "what libpeal.so needs: $needed" 'expected as much as before'

# All of that, and nothing else, is what pkg-config says of the archive.
run pkg-config --print-requires-private peal
modules=$(sed 's/^lib//; s/^yaml.*/yaml/' "$scratch/out" | sort | tr '\n' ' ')
checks=$((checks + 1))
[ "$modules" = "$(tr ' ' '\n' <<<"$needed" | sed 's/^lib//' | sort | tr '\n' ' ' | sed 's/^ //')" ] ||
    mismatch "expected what the library needs: $needed"

# It leaves nothing for the end of the program to do, and asks for no other's place in it.
run nm -D --undefined-only "$library"
for name in atexit on_exit setlocale putenv setenv unsetenv chdir umask system popen; do
    checks=$((checks + 1))
    ! grep -qwE "$name(@.*)?" "$scratch/out" || mismatch "libpeal.so uses $name"
done

# ---- hardened, as programs are ----

if [ -z "${sanitizers[*]}" ] && grep -q '^CMAKE_BUILD_TYPE:.*=\(RelWithDebInfo\|Release\)$' "$build/CMakeCache.txt"; then
    run "$source_dir/tools/hardening.sh" "$library"
    expect_status 0
    expect_stderr ''
else
    echo 'skipped: hardening is a release'\''s (tools/library.sh)'
fi

# ---- a program with functions of the same names as those within ----

cat >"$scratch/names.c" <<'END'
#include <peal.h>
#include <stdio.h>

int strbuf_init(void);
int table_find(void);
int engine_step(void);

int strbuf_init(void) { return 1; }
int table_find(void) { return 2; }
int engine_step(void) { return 4; }

int main(void)
{
    peal_node *peal = peal_open(.data = "data", .program = "names");
    if (!peal)
        puts(peal_why());
    printf("%d\n", strbuf_init() + table_find() + engine_step() + (peal ? 0 : 8));
    peal_close(peal);
    return 0;
}
END
cd "$scratch" || exit
for archive in -lpeal -l:libpeal.a; do
    rm -rf data
    # shellcheck disable=SC2046 # lists of options
    run "$built_by" "${sanitizers[@]}" names.c $(pkg-config --static --cflags --libs peal | sed "s/-lpeal/$archive/") \
        -Wl,-rpath,"$prefix/lib" -o names
    expect_status 0
    run ./names
    expect_status 0
    expect_stdout 7
    expect_stderr ''
done

finish
