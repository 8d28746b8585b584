# shellcheck shell=bash
# Sourced by the scripts that draw tables into documents.

# What stands in DOCUMENT from the line BEGIN to the line END, both included, becomes what COMMAND prints between them.
# Where COMMAND fails, prints nothing, or is interrupted, the document stays as it was.
put_between() ( # DOCUMENT BEGIN END COMMAND...
    document=$1 begin=$2 end=$3 made=
    shift 3
    trap 'rm -f "$made"' EXIT
    drawn=$("$@") || exit 1
    [ -n "$drawn" ] || {
        echo "$document: nothing was drawn, so it is left as it was" >&2
        exit 1
    }
    made=$(mktemp "$document.XXXXXX")
    drawn=$drawn awk -v begin="$begin" -v end="$end" '
        $0 == begin {
            printf "%s\n\n%s\n\n%s\n", begin, ENVIRON["drawn"], end
            marks++
            skip = 1
        }
        !skip
        $0 == end {
            marks += skip
            skip = 0
        }
        END { exit marks != 2 }' "$document" >"$made" || {
        echo "$document: it does not have both marks, or can not be written" >&2
        exit 1
    }
    chmod --reference="$document" "$made"
    mv "$made" "$document"
)
