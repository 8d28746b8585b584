#!/bin/bash
# docs/CLI.md tells every option of every command, and none that there is not.
# shellcheck disable=SC2016 # the backquotes are Markdown's
# shellcheck source=test/integration/lib.sh
. "$PEAL_SOURCE/test/integration/lib.sh"

# What the program knows, as the completion of bash has it: "calendar set --file -f ...".
peal completion bash >"$scratch/bash"
sed -n "s/^    '\([a-z -]*\)') below='' options='\([^']*\)'.*/\1|\2/p" "$scratch/bash" >"$scratch/rows"
run grep -c . "$scratch/rows"
checks=$((checks + 1))
[ "$(cat "$scratch/out")" -ge 60 ] || mismatch 'expected the rows of all commands'

# The lines of CLI.md about a command: those that show it, and what it shares with others.
lines_of() { # COMMAND
    grep -E "\`peal $1( [^\`]*)?\`" "$source_dir/docs/CLI.md"
    case $1 in
    pause | resume | kill | delete) sed -n '/^### Many jobs/,/^    /p' "$source_dir/docs/CLI.md" ;;
    restart | 'config show' | 'config validate') grep '`peal start ' "$source_dir/docs/CLI.md" ;;
    'user set') grep '`peal user add ' "$source_dir/docs/CLI.md" ;;
    esac
}

# Texts of fields become help of options without their capital; an abbreviation keeps it.
run peal add --help
expect_stdout_has ' GET, HEAD, POST'
shared=' --help --lang --data --url --token-file --ca --output -o '
while IFS='|' read -r command options; do
    lines_of "$command" >"$scratch/lines"
    run cat "$scratch/lines"
    checks=$((checks + 1))
    [ -s "$scratch/lines" ] || mismatch "expected a line about peal $command"
    long=''
    for option in $options; do
        case $shared in *" $option "*) continue ;; esac
        # A letter stands for the name before it.
        case $option in
        --*) long=$option && continue ;;
        esac
        sed -i "s/\([^-a-z]\)$option\([^-a-z]\)/\1$option $long\2/g" "$scratch/lines"
    done
    for option in $options; do
        case $option in -[a-z]) continue ;; esac
        case $shared in *" $option "*) continue ;; esac
        checks=$((checks + 1))
        grep -qE -e "(^|[^-a-z])$option($|[^-a-z])" "$scratch/lines" || mismatch "expected $option of peal $command in docs/CLI.md"
    done
    # Of the code on lines that show this command alone, what is no option of it.
    grep -oE "\`peal $command( [^\`]*)?\`" "$source_dir/docs/CLI.md" | grep -oE -e '(^|[ [|])--[a-z][a-z-]+' | tr -d ' [|' | sort -u >"$scratch/told"
    while read -r option; do
        checks=$((checks + 1))
        case " $options " in *" $option "*) continue ;; esac
        mismatch "docs/CLI.md has $option of peal $command, which has none"
    done <"$scratch/told"
done <"$scratch/rows"
finish
