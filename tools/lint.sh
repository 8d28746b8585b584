#!/bin/sh
# tools/lint.sh [CHECK]...
# Looks for what a compiler does not see; all checks unless some are named. Every check goes
# through, each complaint says what to do, status 1 when there was any. `fix` formats instead.
set -eu

c_files()
{
    find src bin test fuzz bench include -name node_modules -prune -o -name '*.[ch]' -print \
        2>/dev/null | sort
}

scripts()
{
    find tools test bench packaging web .ci -name node_modules -prune -o -type f \
        -exec grep -lE '^#!.*/(ba|da)?sh' {} + 2>/dev/null | sort
}

check_format()
{
    c_files | xargs -r clang-format --dry-run -Werror ||
        complain "the format differs; run: make format"
}

# Takes the files and their flags from the clang build, which makes the generated headers for it. Of
# files that are compiled several times (plain_: without sanitizers) one is enough. Those that take
# long begin first.
check_tidy()
{
    database=build/asan-clang
    if [ -f CMakePresets.json ] && ! tools/build.sh asan-clang --target peal_etcd_messages; then
        complain "clang does not build it; repair that first"
        return
    fi
    mkdir -p "$database/tidy" build/tidy
    find build/tidy -type f -mtime +30 -delete # nobody has asked for these for long
    jq --arg root "$PWD/" '[.[] | select(.file | startswith($root + "src/", $root + "bin/"))]
            | group_by(.file) | map(min_by(.command | contains("/plain_")))' \
        "$database/compile_commands.json" >"$database/tidy/compile_commands.json"
    if ! jq -r '.[].file' "$database/tidy/compile_commands.json" | xargs -r ls -S |
        xargs -r -n 1 -P "$(nproc)" tools/tidy.sh "$database/tidy" 2>"$database/tidy/log"
    then
        grep -v 'warnings\{0,1\} generated' "$database/tidy/log" >&2 || true
        complain "clang-tidy found the above; repair it, or turn a check off in .clang-tidy with" \
            "the reason"
    fi
}

# Without the system's headers it takes TAILQ_FOREACH for no loop; uninitialised variables are left
# to the compilers and to clang-tidy.
check_cppcheck()
{
    includes=
    for dir in src/*/ bin/*/ bin/peal/agent/ include/; do
        [ -d "$dir" ] && includes="$includes -I $dir"
    done
    # shellcheck disable=SC2086 # a list of options
    cppcheck --quiet -j "$(nproc)" --std=c11 --error-exitcode=1 --inline-suppr \
        --enable=warning,performance,portability --suppress=missingIncludeSystem \
        --suppress=uninitvar -D_GNU_SOURCE $includes src bin ||
        complain "cppcheck found the above; repair it, or write the reason beside a" \
            "cppcheck-suppress comment"
}

check_shell()
{
    scripts | xargs -r shellcheck ||
        complain "shellcheck found the above; repair it, or write the reason beside a" \
            "shellcheck disable comment"
}

# Spelled so that this file does not find itself. Three X are a mark only as a word of a sentence:
# they are also names of time zones and parts of templates.
check_leftovers()
{
    marks='\b(TO''DO|FIX''ME|HA''CK)\b|\bXX''X(:| |$)'
    ! grep -rnIE "$marks" --exclude-dir=build --exclude-dir=node_modules --exclude-dir=.git . ||
        complain "unfinished work is marked above; finish it, or open an issue for it"
}

complain()
{
    echo "lint: $*" >&2
    status=1
}

status=0
[ $# -gt 0 ] || set -- leftovers format shell cppcheck tidy
for check in "$@"; do
    [ "$check" = fix ] || echo "lint: $check"
    case $check in
    fix) c_files | xargs -r clang-format -i ;;
    leftovers) check_leftovers ;;
    format) check_format ;;
    shell) check_shell ;;
    cppcheck) check_cppcheck ;;
    tidy) check_tidy ;;
    *)
        echo "lint: no check is named \"$check\"" >&2
        exit 2
        ;;
    esac
done
exit $status
