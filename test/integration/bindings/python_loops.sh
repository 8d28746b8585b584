# Sourced by bindings_test.sh: the loop of asyncio, and Ctrl-C.
# shellcheck shell=bash disable=SC2154,SC2317

for mode in asyncio steps threads; do
    start_app 1 $mode
    wait_until programs_are 1
    more_ticks 2
    run peal run greet --param "who=$mode"
    expect_status 0
    wait_until has_log "$(cat "$scratch/out")" "hello $mode"
    if [ $mode = asyncio ]; then # a coroutine is cancelled
        run peal run coroutine
        expect_status 0
        slow=$(cat "$scratch/out")
        wait_until grep -qx "$slow" "$notes.coroutine"
        run peal kill "$slow"
        expect_status 0
        wait_until run_has "$slow" .state killed
        wait_until has_log "$slow" 'told to stop'
    fi
    end_app 1 INT
    expect_stdout_has interrupted
done
