# shellcheck shell=bash
# Sourced by the scripts that draw tables into documents.

# What stands in DOCUMENT from the line BEGIN to the line END, both included, becomes standard input between them.
put_between() { # DOCUMENT BEGIN END
    local drawn made
    drawn=$(mktemp) made=$(mktemp)
    printf '%s\n\n%s\n\n%s\n' "$2" "$(cat)" "$3" >"$drawn"
    awk -v begin="$2" -v end="$3" -v drawn="$drawn" '
        $0 == begin {
            while ((getline line <drawn) > 0)
                print line
            skip = 1
        }
        !skip
        $0 == end { skip = 0 }' "$1" >"$made"
    cat "$made" >"$1"
    rm "$drawn" "$made"
}
