#!/bin/bash
# peal explain: the sentence on stdout, the warnings beside it, in the user's language.
. "$(dirname "$0")/lib.sh"

run peal explain '30 2 * * SUN' --tz America/New_York
expect_status 0
expect_stdout_has '02:30'
expect_stdout_has 'Sunday'
expect_stdout_has 'America/New_York'

# Without quotes.
run peal explain 30 2 1 1 MON
expect_status 0
expect_stdout_has '02:30'
run peal explain 30 2 x y z
expect_status 6
expect_stderr_has 'put the schedule in quotes'

# Warnings are talk.
run peal explain '0 0 31 2 *'
expect_status 0
expect_stderr_has 'warning: '
run peal explain '@daily' --tz UTC
expect_stderr ''

# JSON has all of it.
run peal explain '0 0 31 2 *' --tz UTC -o json
expect_status 0
expect_json 'keys' '["canonical","spec","text","tz","warnings"]'
expect_json '[.spec, .canonical, .tz]' '["0 0 31 2 *","0 0 31 2 *","UTC"]'
expect_json '.warnings[0].id' '"never"'
expect_json '.warnings[0].text | length > 0' true
expect_stderr ''
run peal explain '@daily' --tz UTC -o json
expect_json '.warnings' '[]'

# Language: asked for, or that of the locale, LC_ALL before LC_MESSAGES before LANG.
is_chinese() { # true|false
    checks=$((checks + 1))
    local found=false
    ! grep -qP '\p{Han}' "$scratch/out" || found=true
    [ "$found" = "$1" ] || mismatch "expected Chinese: $1"
}
run peal explain '@daily' --lang zh
is_chinese true
run peal explain '@daily' --lang en
is_chinese false
run peal explain '0 0 31 2 *' --lang zh
expect_stderr_has '警告'
while IFS='|' read -r all messages lang want; do
    run env LC_ALL="$all" LC_MESSAGES="$messages" LANG="$lang" peal explain '@daily'
    is_chinese "$want"
done <<'TABLE'
zh_CN.UTF-8||en_US.UTF-8|true
|zh_TW.UTF-8|en_US.UTF-8|true
||zh_CN.UTF-8|true
C.UTF-8||zh_CN.UTF-8|false
|en_GB.UTF-8|zh_CN.UTF-8|false
|||false
TABLE

finish
