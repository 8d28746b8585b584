#!/bin/bash
# tools/house.sh [--write | --check]
# Draws the house as it is: which layer includes which, from the #include lines; the longest
# functions, the largest files, folders with too many files, and how many lines there are.
#   --write   puts the drawing into docs/ARCHITECTURE.md, between its two marks
#   --check   fails if the graph there is another one, if a folder has too many files or no README,
#             or if a text names a file or a function that is not there. Figures may be old.
# shellcheck disable=SC2016 # the backquotes are Markdown's, the dollars awk's
set -euo pipefail
shopt -s inherit_errexit

cd "$(dirname "$0")/.."
document=docs/ARCHITECTURE.md
begin_mark='<!-- tools/house.sh: begin -->'
end_mark='<!-- tools/house.sh: end -->'
files_max=25 # of a folder

sources()
{
    find src bin -name '*.[ch]' | sort
}

# "LAYER OTHER-LAYER HEADER" for every include of another layer's header. A header is looked for
# in the own layer, then in src, then in bin. Headers that the build makes are nobody's.
includes()
{
    {
        sources | sed -n 's/$/ is/p'
        sources | xargs grep -HE '^#include "' | sed 's/:#include "/ /; s/".*//'
    } | awk '
        function layer_of(file, part) {
            if (file ~ "^bin/peal/agent/") # a target of its own
                return "bin/peal/agent"
            split(file, part, "/")
            return part[1] "/" part[2]
        }
        $2 == "is" && /\.h is$/ {
            layer = layer_of($1)
            header = substr($1, length(layer) + 2)
            owns[layer, header] = 1
            if (!(header in home) || (home[header] ~ "^bin/" && layer ~ "^src/"))
                home[header] = layer
            else if (home[header] ~ "^src/" && layer ~ "^src/")
                twice[header] = 1
        }
        $2 != "is" {
            layer = layer_of($1)
            if (owns[layer, $2] || !($2 in home))
                next
            if ($2 in twice) {
                printf "house: %s: two layers have a header %s; rename one\n", $1, $2 >"/dev/stderr"
                exit 1
            }
            print layer, home[$2], $2
        }' | sort -u
}

# All layers, those that are used before those that use them.
order()
{
    {
        sources | sed 's|^\(src/[^/]*\)/.*|\1 \1|; s|^bin/.*|bin/peal bin/peal|' | sort -u
        includes
    } | awk '
        # The longest way down. A layer that is met again on its own way is above itself.
        function level(layer, other, most) {
            if (layer in levels)
                return levels[layer]
            if (layer in on_the_way) {
                printf "house: %s includes itself by way of others\n", layer >"/dev/stderr"
                exit 1
            }
            on_the_way[layer] = 1
            most = 0
            for (other in layers)
                if (other != layer && (layer, other) in uses && level(other) >= most)
                    most = level(other) + 1
            return levels[layer] = most
        }
        {
            layers[$1] = layers[$2] = 1
            uses[$1, $2] = 1
        }
        END {
            for (layer in layers)
                print level(layer), layer
        }' | sort -k 1,1n -k 2
}

# One line per layer. Where it uses a single header of several, that one is named.
graph()
{
    sources | sed -n 's|^\(src/[^/]*\)/.*\.h$|\1|p' | sort | uniq -c >"$scratch/headers"
    order >"$scratch/order"
    includes >"$scratch/includes"
    awk '
        function short(layer) {
            sub("^src/", "", layer)
            return layer
        }
        FILENAME ~ "/headers$" { headers[$2] = $1 }
        FILENAME ~ "/includes$" {
            used[$1, $2]++
            last[$1, $2] = $3
        }
        FILENAME ~ "/order$" { layers[++count] = $2 }
        END {
            for (i = 1; i <= count; i++) {
                list = ""
                for (j = 1; j < i; j++) {
                    other = layers[j]
                    if (!used[layers[i], other])
                        continue
                    is_single = used[layers[i], other] == 1 && headers[other] > 1
                    list = list " " short(other) (is_single ? "/" last[layers[i], other] : "")
                }
                printf (list ? "%-15s ->%s\n" : "%s%s\n"), short(layers[i]), list
            }
        }' "$scratch/headers" "$scratch/includes" "$scratch/order"
}

# A body begins and ends with a brace at the margin; the line before it that begins at the margin
# names the function.
longest_functions()
{
    sources | xargs awk '
        /^[a-z].*\(/ { name = $0 }
        /^\{$/ { begin = FNR }
        /^\}$/ && begin {
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            print FNR - begin - 1, name "()", FILENAME
            begin = 0
        }' | sort -k 1,1nr -k 3 | sed -n 1,5p
}

largest_files()
{
    sources | xargs awk '{ lines[FILENAME]++ } END { for (f in lines) print lines[f], f }' |
        sort -k 1,1nr -k 2 | sed -n 1,5p
}

crowded_folders()
{
    sources | sed 's|/[^/]*$||' | sort | uniq -c |
        awk -v max="$files_max" '$1 > max { print $2 " has " $1 " files" }'
}

# To the hundred, of one folder.
lines_of()
{
    find "$1" -name '*.[ch]' -exec cat {} + | awk 'END { print int((NR + 50) / 100) * 100 }'
}

draw()
{
    crowded=$(crowded_folders)
    printf '%s\n\n```\n%s\n```\n\n' "$begin_mark" "$layers"
    echo 'The longest functions, in lines of their bodies:'
    echo
    longest_functions | sed 's/\([0-9]*\) \(.*\) \(.*\)/- \1: `\2` in `\3`/'
    printf '\nThe largest files, in lines:\n\n'
    largest_files | sed 's/\([0-9]*\) \(.*\)/- \1: `\2`/'
    printf '\nFolders with more than %d source files: %s.\n' "$files_max" "${crowded:-none}"
    printf '\nLines: some %d in src, %d in bin.\n\n%s\n' "$(lines_of src)" "$(lines_of bin)" \
        "$end_mark"
}

write_document()
{
    draw >"$scratch/drawn"
    awk -v begin="$begin_mark" -v end="$end_mark" -v drawn="$scratch/drawn" '
        $0 == begin {
            while ((getline line <drawn) > 0)
                print line
            skip = 1
        }
        !skip
        $0 == end { skip = 0 }' "$document" >"$scratch/document"
    cat "$scratch/document" >"$document"
}

check_graph()
{
    awk -v begin="$begin_mark" -v end="$end_mark" '
        $0 == end { exit }
        $0 == begin { inside = 1 }
        inside && /^```/ { code++; next }
        inside && code == 1' "$document" >"$scratch/documented"
    printf '%s\n' "$layers" >"$scratch/layers"
    diff "$scratch/documented" "$scratch/layers" ||
        complain "$document (<) does not show the layers as they are (>); run: tools/house.sh --write"
}

check_folders()
{
    crowded=$(crowded_folders)
    [ -z "$crowded" ] || complain "$crowded; more than $files_max are hard to look through"
    for folder in $(sources | sed 's|/[^/]*$||' | sort -u); do
        [ -f "$folder/README.md" ] || complain "$folder has no README.md"
    done
}

# In a line such as "3. `src/engine/engine.c` `engine_step()`: ..." each function is in the file that
# is named before it.
check_walks()
{
    awk -F '`' '/^[0-9]+\. `/ {
        file = ""
        for (i = 2; i <= NF; i += 2)
            if ($i ~ /^(src|bin)\/.*\.c$/)
                file = $i
            else if (file && $i ~ /^[a-z0-9_]+\(\)$/)
                print file, substr($i, 1, length($i) - 2)
    }' "$document" >"$scratch/hops"
    [ -s "$scratch/hops" ] || complain "$document has no walks"
    sources | xargs awk '
        FILENAME ~ "/hops$" { hops[$1, $2] = $0 }
        FILENAME !~ "/hops$" && /^[a-z].*\(/ {
            sub(/\(.*/, "")
            sub(/.*[ *]/, "")
            delete hops[FILENAME, $0]
        }
        END {
            for (hop in hops)
                print "in a walk: " hops[hop] "() is not there"
        }' "$scratch/hops" >"$scratch/missing"
    [ ! -s "$scratch/missing" ] || complain "$(cat "$scratch/missing")"
}

# Source files that texts about the code name, in backquotes, exist.
check_mentions()
{
    sources >"$scratch/sources"
    find src bin docs -name '*.md' -exec grep -oE '`[a-z0-9_/-]+\.[ch]`' {} + | tr -d '`' |
        awk -F : '
            FILENAME ~ "/sources$" { # known by its path and every end of it
                for (known[$0] = 1; sub("^[^/]*/", ""); known[$0] = 1)
                    ;
                next
            }
            !($2 in known) { print $1 ": there is no " $2 }' "$scratch/sources" - |
        sort -u >"$scratch/missing"
    [ ! -s "$scratch/missing" ] || complain "$(cat "$scratch/missing")"
}

complain()
{
    echo "house: $*" >&2
    status=1
}

status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
layers=$(graph)
case ${1-} in
'') draw ;;
--write) write_document ;;
--check)
    check_graph
    check_folders
    check_walks
    check_mentions
    ;;
*)
    echo "usage: tools/house.sh [--write | --check]" >&2
    exit 2
    ;;
esac
exit $status
