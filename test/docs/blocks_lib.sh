# Sourced by the tests of what documents show: the blocks of a document, and what blocks.txt says of them.
# shellcheck shell=bash

# ---- the blocks of a document ----

# Of each block: its first line, its language (of an indented one "indented"), its text.
block_lines=()
block_languages=()
block_texts=()

add_block() { # LINE LANGUAGE TEXT
    local text=$3
    while [[ $text == *$'\n\n' ]]; do # what is blank at the end of an indented block is not of it
        text=${text%$'\n'}
    done
    block_lines+=("$1")
    block_languages+=("$2")
    block_texts+=("$text")
}

# Fenced ones, also in lists; and indented ones, which begin behind a blank line.
read_blocks() { # FILE
    local line number=0 start=0 language='' text='' margin='' blank=: state=text
    block_lines=()
    block_languages=()
    block_texts=()
    while IFS= read -r line || [ -n "$line" ]; do
        number=$((number + 1))
        if [ $state = fence ]; then
            if [[ $line =~ ^\ *\`\`\`$ ]]; then
                add_block $start "$language" "$text"
                state=text blank=
            else
                text+=${line#"$margin"}$'\n'
            fi
            continue
        fi
        if [ $state = indented ]; then
            if [[ $line == "$margin"* || -z $line ]]; then
                text+=${line#"$margin"}$'\n'
                continue
            fi
            add_block $start indented "$text"
            state=text blank=:
        fi
        if [[ $line =~ ^(\ *)\`\`\`([^\`]*)$ ]]; then
            state=fence margin=${BASH_REMATCH[1]} language=${BASH_REMATCH[2]:-none} text='' start=$((number + 1))
        elif [ -n "$blank" ] && [[ $line =~ ^(\ \ \ \ +)[^\ ] ]]; then
            state=indented margin=${BASH_REMATCH[1]} start=$number
            text=${line#"$margin"}$'\n'
        fi
        if [ -z "$line" ]; then blank=:; else blank=; fi
    done <"$1"
    [ $state = text ] || add_block $start "${language:-indented}" "$text"
}

# ---- what blocks.txt says ----

rule_documents=()
rule_texts=()
rule_hows=()
rule_words=()

read_rules() { # FILE
    local line
    while IFS= read -r line; do
        case $line in
        '' | '#'*) ;;
        ' '*)
            line=${line#"${line%%[! ]*}"}
            rule_hows+=("${line%%: *}")
            rule_words+=("${line#*: }")
            ;;
        *)
            rule_documents+=("${line%%: *}")
            rule_texts+=("${line#*: }")
            ;;
        esac
    done <"$1"
    [ ${#rule_documents[@]} -eq ${#rule_hows[@]} ] || {
        echo "$1: a row has two lines: DOCUMENT: TEXT, and HOW: WORDS"
        exit 1
    }
}

# Whether it is said of a line of a document in which way it is taken; $how and $words have it then. Of several
# rows the first counts.
rule_of() { # DOCUMENT TEXT WAY...
    local document=$1 text=$2 i way
    shift 2
    for i in "${!rule_texts[@]}"; do
        [[ ${rule_documents[i]} == "$document" || ${rule_documents[i]} == '*' ]] || continue
        [[ $text == "${rule_texts[i]}"* ]] || continue
        for way in "$@"; do
            if [ "${rule_hows[i]}" = "$way" ]; then
                # shellcheck disable=SC2034 # both are for the caller
                how=$way words=${rule_words[i]}
                return 0
            fi
        done
    done
    return 1
}
