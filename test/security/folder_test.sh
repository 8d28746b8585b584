#!/bin/bash
# A data folder that others on the machine may write to: they could replace the database.
. "$(dirname "$0")/lib.sh"

refuse() { # MODE WORDS
    mkdir -p "$scratch/open"
    chmod "$1" "$scratch/open"
    run peal start -d --data "$scratch/open" --listen none
    checks=$((checks + 1))
    [ "$status" -ne 0 ] || mismatch "expected it not to start in a folder of mode $1"
    expect_stderr_has "$2"
    run test -e "$scratch/open/peal.db"
    expect_status 1
}
refuse 777 'others may write to the data folder'
refuse 1777 'others may write to the data folder'
refuse 770 'chmod go-w'
run peal doctor --data "$scratch/open"
expect_stdout_has 'others may write to it'
if [ "$(id -u)" -eq 0 ]; then
    chown 65534 "$scratch/open"
    refuse 700 'belongs to another user'
    chown 0 "$scratch/open"
fi
chmod 755 "$scratch/open" # to look is not to write, and the files are 0600
run peal start -d --data "$scratch/open" --listen none
expect_status 0
run peal stop --data "$scratch/open"
expect_status 0
finish
