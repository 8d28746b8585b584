#!/bin/sh
# Every row of the table of errors in docs/SCHEDULES.md: the text, the column, the message.
set -eu

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
# shellcheck disable=SC2016 # the backquotes are Markdown's
sed -n '/^## Errors/,/^## Warnings/s/^| `\(.*\)` | \([0-9]*\) | \(.*\) |$/\2 \1|\3/p' \
    "$PEAL_SOURCE/docs/SCHEDULES.md" >"$rows"

count=0
status=0
while read -r column row; do
    count=$((count + 1))
    text=${row%|*}
    message=${row##*|}
    # Three lines: the reason, the text, a caret under the place; the last two are indented by two.
    answer=$("$PEAL_BIN/peal" explain "$text" 2>&1 </dev/null) && answer="accepted: $answer"
    case $answer in
    *": $message
  $text
$(printf "%$((column + 2))s" '^')") ;;
    *)
        printf '%s: wanted column %s, %s; got:\n%s\n' "$text" "$column" "$message" "$answer"
        status=1
        ;;
    esac
done <"$rows"
if [ "$count" -lt 10 ]; then
    echo "only $count rows found"
    exit 1
fi
exit $status
