#!/bin/sh
# The library's reference, made from the comments of include/peal.h.
# usage: tools/reference.sh [--write]    prints it, or puts it into docs/LIBRARY-REFERENCE.md
# What stands between blank lines is one entry: its comment is the text, the rest is shown as it is.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)

draw() {
    cat <<'END'
# Reference of libpeal

Made from [include/peal.h](../include/peal.h) by `tools/reference.sh --write`. [LIBRARY.md](LIBRARY.md) is the guide.
END
    awk '
    # ---- one entry: lines[1..count] ----

    # The words of a comment, without its marks.
    function words(line) {
        sub(/^\/\* ?/, "", line)
        sub(/^ \* ?/, "", line)
        sub(/ ?\*\/$/, "", line)
        return line
    }

    function title_of(line,    name) {
        if (match(line, /peal_[a-z_]+\(/)) {
            name = substr(line, RSTART, RLENGTH - 1)
            sub(/_sized$/, "", name)
            return name
        }
        if (match(line, /PEAL_[A-Z_]+\(/))
            return substr(line, RSTART, RLENGTH - 1)
        if (match(line, /(enum|struct) peal_[a-z_]+/))
            return substr(line, RSTART, RLENGTH)
        if (match(line, /typedef int peal_[a-z_]+/))
            return substr(line, RSTART + 12, RLENGTH - 12)
        return ""
    }

    function add_title(name) {
        if (name != "" && index(" " titles " ", " `" name "`, ") == 0)
            titles = titles "`" name "`, "
    }

    function flush_entry(    i, in_comment, is_code, text, code, line) {
        titles = text = code = ""
        is_code = 0
        for (i = 1; i <= count; i++) {
            line = lines[i]
            if (!is_code && (in_comment || line ~ /^\/\*/)) {
                in_comment = line !~ /\*\/$/
                text = text words(line) "\n"
                continue
            }
            is_code = 1
            code = code line "\n"
            if (line !~ /^[ }]/)
                add_title(title_of(line))
        }
        count = 0
        if (code == "" && text ~ /^---- .* ----\n$/) {
            sub(/^---- /, "", text)
            sub(/ ----\n$/, "", text)
            print "\n## " toupper(substr(text, 1, 1)) substr(text, 2)
            return
        }
        if (titles != "") {
            sub(/, $/, "", titles)
            print "\n### " titles
        }
        if (text != "")
            printf "\n%s", text
        if (code != "")
            printf "\n```c\n%s```\n", code
    }

    # ---- the header ----

    /^#ifndef PEAL_H$/ { is_on = 1; flush_entry(); next }
    !is_on { lines[++count] = $0; next }
    /^#include|^#define PEAL_H$|^extern "C"|^#if defined\(__GNUC__\)|^#define PEAL_PRINTF/ { skip = 1 }
    skip && /^$/ { skip = 0; next }
    skip { next }
    /^#ifdef __cplusplus$/ {
        getline
        flush_entry()
        if ($0 ~ /^extern/)
            skip = 1
        else
            print "\n## C++"
        next
    }
    /^#ifndef __cplusplus$|^#endif$/ { next }
    /^$/ { flush_entry(); next }
    { lines[++count] = $0 }
    END { flush_entry() }
    ' "$root/include/peal.h" |
        sed -z -e 's/ *\\\n *\*\/\n/ *\/\n/g' -e 's/ *\\\n/ \\\n/g'
}

case ${1-} in
'') draw ;;
--write) draw >"$root/docs/LIBRARY-REFERENCE.md" ;;
*)
    sed -n '3s/^# //p' "$0" >&2
    exit 2
    ;;
esac
