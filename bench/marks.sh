# shellcheck shell=bash
# Sourced by the scripts that draw tables into documents.

# What stands in DOCUMENT from the line BEGIN to the line END, both included, becomes standard input between them.
# Of an empty input, or an interrupted one, nothing comes into the document: it is replaced as a whole.
put_between() { # DOCUMENT BEGIN END
    local text drawn made
    text=$(cat)
    [ -n "$text" ] || {
        echo "nothing to be put between \"$2\" and \"$3\"" >&2
        return 1
    }
    drawn=$(mktemp) made=$(mktemp "$1.XXXXXX")
    printf '%s\n\n%s\n\n%s\n' "$2" "$text" "$3" >"$drawn"
    awk -v begin="$2" -v end="$3" -v drawn="$drawn" '
        $0 == begin {
            while ((getline line <drawn) > 0)
                print line
            skip = 1
        }
        !skip
        $0 == end { skip = 0 }' "$1" >"$made"
    chmod --reference="$1" "$made"
    mv "$made" "$1"
    rm "$drawn"
}
