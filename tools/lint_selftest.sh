#!/bin/sh
# Proves that every check of lint.sh can fail: shows each a clean tree, then the same tree with one
# planted violation.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
log=$scratch/log

# A small tree without complaints.
plant_clean()
{
    rm -rf "$tree"
    mkdir -p "$tree"
    cd "$tree"
    mkdir -p tools src/base bin build/asan-clang
    cp "$root/.clang-format" "$root/.clang-tidy" .
    cp "$root/tools/lint.sh" "$root/tools/tidy.sh" tools/
    cat >src/base/sum.c <<'END'
int sum(int a, int b);

int sum(int a, int b)
{
    return a + b;
}
END
    cat >build/asan-clang/compile_commands.json <<END
[{
  "directory": "$tree",
  "command": "clang -c $tree/src/base/sum.c",
  "file": "$tree/src/base/sum.c"
}]
END
}

# What each check has to refuse.
plant_format()
{
    echo 'int  badly ( void ) ;' >>src/base/sum.c
}

plant_tidy()
{
    cat >>src/base/sum.c <<'END'

int twice(const int *p);

int twice(const int *p)
{
    if (!p)
        return *p;
    return 2 * *p;
}
END
}

# The same, in a header that a file includes which has passed before.
plant_tidy_header()
{
    plant_clean
    : >src/base/sum.h
    sed -i '1i #include "sum.h"\n' src/base/sum.c
    tools/lint.sh tidy >"$log" 2>&1 || cat "$log" >&2
    printf 'static inline int of(int p)\n{\n    return p == p;\n}\n' >src/base/sum.h
}

plant_cppcheck()
{
    cat >>src/base/sum.c <<'END'

int beyond(void);

int beyond(void)
{
    int numbers[4] = {0};
    return numbers[4];
}
END
}

plant_shell()
{
    # shellcheck disable=SC2016 # the script is meant to have a fault
    printf '#!/bin/sh\nrm -r $1\n' >tools/remove.sh
}

plant_leftovers()
{
    echo "/* TO""DO: the rest */" >>src/base/sum.c
}

for planted in leftovers format shell cppcheck tidy tidy_header; do
    check=${planted%_header}
    plant_clean
    if ! tools/lint.sh "$check" >"$log" 2>&1; then
        cat "$log" >&2
        echo "lint selftest: $check refuses a clean tree" >&2
        exit 1
    fi
    "plant_$planted"
    # The complaint ends with what to do, after a semicolon.
    if tools/lint.sh "$check" >"$log" 2>&1 || ! grep -q '^lint: .*; ' "$log"; then
        cat "$log" >&2
        echo "lint selftest: $planted lets a planted violation pass, or says not what to do" >&2
        exit 1
    fi
done
echo "lint: every check can fail"
