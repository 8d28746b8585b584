#!/bin/bash
# The completion scripts: bash's for real, the others as far as their shells are here.
. "$(dirname "$0")/lib.sh"
start_agent data
run peal add backup @manual -- true
run peal add bakery @manual -- true
run peal add report @manual -- true

# What bash offers for a line whose last word is being typed.
complete_line() { # WORD...
    run bash -c 'source <(peal completion bash) || exit
        compopt() { :; }
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _peal
        printf "%s\n" "${COMPREPLY[@]}" | sort' bash "$@"
    expect_status 0
    expect_stderr ''
}

complete_line peal re
expect_stdout "rename
restart
resume"
complete_line peal run ba
expect_stdout "backup
bakery"
complete_line peal logs r
expect_stdout report
complete_line peal run --data "$scratch/nowhere" ba
expect_stdout ''
complete_line peal apply --p
expect_stdout '--prune
--prune-documents'
complete_line peal list -o ''
expect_stdout "json
name
table
wide
yaml"
complete_line peal cluster a
expect_stdout advance-cursors
complete_line peal drain "$(peal nodes -o name | cut -c 1-3)"
expect_stdout "$(peal nodes -o name)"
complete_line peal start --role w
expect_stdout worker
complete_line peal add x --after rep
expect_stdout report
complete_line peal user s
expect_stdout set
run peal calendar set holidays 12-25
complete_line peal calendar sh
expect_stdout show
complete_line peal calendar show ho
expect_stdout holidays
complete_line peal add x @daily --calendar ''
expect_stdout holidays
complete_line peal channel te
expect_stdout test
complete_line peal token create --role v
expect_stdout viewer
complete_line peal completion z
expect_stdout zsh
complete_line peal export c
expect_stdout crontab
complete_line peal help va
expect_stdout validate
complete_line peal help calendar sh
expect_stdout show
complete_line peal --data "$scratch/data" run ba
expect_stdout "backup
bakery"
complete_line peal add x --overlap = q
expect_stdout queue
complete_line peal --output json ru
expect_stdout "run
runs"
complete_line peal export yaml ba
expect_stdout "backup
bakery"
complete_line peal pause backup rep
expect_stdout report
complete_line peal calendar set holidays --we
expect_stdout --weekday
complete_line peal calendar list --w
expect_stdout ''
complete_line peal rollback backup ''
expect_stdout ''
run peal delete report --yes
complete_line peal undelete ''
expect_stdout report

# Every option of every command is offered, and told by the help and the manual page.
mkdir "$scratch/man"
run peal completion man "$scratch/man"
expect_status 0
commands=$(peal completion bash | sed -n "s/^    '\([a-z -]*\)') below=''.*/\1/p")
run test "$(echo "$commands" | wc -l)" -ge 60
expect_status 0
# shellcheck disable=SC2016 # the inner shell's
bash -c 'source <(peal completion bash)
    while read -r command; do
        COMP_WORDS=(peal $command -)
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _peal
        printf "$command|%s\n" "${COMPREPLY[@]}"
    done' <<<"$commands" | grep -e '|--' | grep -v -e '|--help$' >"$scratch/options"
while read -r command; do
    # shellcheck disable=SC2086 # words of a command line
    peal $command --help >"$scratch/help"
    sed 's/\\-/-/g' "$scratch/man/peal-${command%% *}.1" >"$scratch/page"
    for page in help page; do
        run comm -23 <(sed -n "s/^$command|//p" "$scratch/options" | sort) <(grep -oE -e '--[a-z-]+' "$scratch/$page" | sort -u)
        expect_stdout '' # what the page lacks
    done
done <<<"$commands"
run peal completion man "$scratch/nowhere"
expect_status 1
run peal completion man
expect_status 2

run bash -n <(peal completion bash)
expect_status 0
for shell in zsh fish; do
    run peal completion $shell
    expect_status 0
    expect_stdout_has backfill
    cp "$scratch/out" "$scratch/script"
    if command -v $shell >/dev/null; then
        run $shell -n "$scratch/script"
        expect_status 0
    fi
done
run peal completion tcsh
expect_status 2
run peal completion
expect_status 2

finish
