#!/bin/bash
# A job whose output steers the terminal of whoever looks at it: its title, its clipboard, what it
# answers as if it were typed.
. "$(dirname "$0")/lib.sh"

command -v script >/dev/null || {
    echo 'script is not installed'
    exit 77
}
start_target plain
esc=$'\033'
run peal add evil @manual --shell \
    "printf '\\033]0;owned\\007\\033[31mred\\033[0m \\033[6n\\302\\2332J\\rhidden\\n'; printf '\\033]52;c;cm0=\\007\\n' >&2"
expect_status 0
run peal run evil --wait
expect_status 0

# Through a pipe the bytes are those of the job.
run peal logs evil
expect_stdout_has "${esc}]0;owned"
expect_stderr_has "${esc}]52;c"

# On a terminal they are shown, and colours stay.
run script -qec 'peal logs evil' /dev/null
expect_stdout_has "^[]0;owned^G${esc}[31mred${esc}[0m ^[[6n<U+009B>2J^Mhidden"
expect_stdout_has '^[]52;c;cm0=^G'
expect_stdout_lacks "${esc}]"
finish
