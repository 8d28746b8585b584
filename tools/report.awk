# Turns the output of `ctest -V` into one line per test program, the output of those that failed
# without that of their cases that passed, the skipped cases with their reasons, and the totals.
# Status 1 when something failed.
#
# A cmocka program counts as many as it has cases; any other program counts as one. A program that
# ends badly counts as at least one failure, even when every case that it came to has passed.
#
# After a line "== again" come the tests that failed, run once more. What passes then is named, and
# counts as passed; but a memory error, a data race or a failed assertion is no matter of luck. A
# case that failed was left in the middle of what it did: what it leaks is no error, nor news.

#
# `list` names a file with the tests that were unsteady in the last runs: a line NAME RUNS each, where
# RUNS is how many times in a row it has passed at once since. It is brought up to date. After STEADY
# of them a test is not on it any more. Lines of comment stay.

BEGIN {
    STEADY = 20
    while (list != "" && (getline line <list) > 0) {
        if (line ~ /^(#|$)/) {
            heading = heading line "\n"
        } else {
            split(line, word, " ")
            listed[++listed_count] = word[1]
            since[word[1]] = word[2]
        }
    }
    if (list != "")
        close(list)
}

# Output of test N: "N: text".
/^[0-9]+: / {
    n = substr($0, 1, index($0, ":") - 1)
    text = substr($0, length(n) + 3)
    if (text ~ /^(Test command|Working Directory|Test timeout computed to be):/)
        next
    in_environment[n] = text ~ /^Environment variables:/ || (in_environment[n] && text ~ /^ [A-Z_]+=/)
    if (in_environment[n])
        next
    has_left[n] = has_left[n] || (bad[n] && text ~ /LeakSanitizer/)
    if (has_left[n])
        next
    if (text ~ /(Address|Thread|UndefinedBehavior|Leak)Sanitizer|runtime error:|Assertion .* failed/)
        is_grave[n] = 1
    output[n] = output[n] "    " text "\n"
    take_case(n, text)
    if (text != "")
        last_line[n] = text
    next
}

# "1/5 Test #3: unit.hash ......   Passed    0.01 sec"; failures have a "***" before the reason.
/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    match($0, /#[0-9]+: /)
    n = substr($0, RSTART + 1, RLENGTH - 3)
    rest = substr($0, RSTART + RLENGTH)
    name = rest
    sub(/ .*/, "", name)
    seconds = rest
    sub(/ sec.*/, "", seconds)
    sub(/.* /, "", seconds)
    verdict = rest
    sub(/^[^ ]+ \.*/, "", verdict)
    sub(/ +[0-9.]+ sec.*/, "", verdict)
    gsub(/^[ *]+|[ ]+$/, "", verdict)
    end_test(n, name, verdict, seconds)
    next
}

/^[0-9]+% tests passed/ { complete = 1 }
/^== again$/ {
    print "the tests that failed, once more:"
    again = 1
    delete ok
    delete bad
    delete idle
    delete bad_names
    delete running
    delete has_left
}
/^No tests were found/ { print "no tests were found" }
/^(CMake|CTest) (Error|Warning)|^Could not|^Unable to/ { print }

END {
    if (!complete) {
        print "ctest did not come to its end"
        failed++
    }
    for (i = 1; i <= skips; i++)
        print "skipped: " skip[i]
    for (i = 1; i <= failures; i++) {
        if (failure[i] in is_unsteady)
            print "unsteady: " failure[i] " passed when it was run again"
        else
            print "failed:  " failure[i]
    }
    if (list != "" && complete)
        write_list()
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
}

function write_list(    i, name)
{
    printf "%s", heading >list
    for (i = 1; i <= listed_count; i++) {
        name = listed[i]
        if (name in wavered)
            since[name] = 0
        else if (name in passed_at_once)
            since[name]++
        if (since[name] < STEADY)
            print name, since[name] >list
    }
    for (name in wavered)
        if (!(name in since))
            print name, 0 >list
    close(list)
}

# One line that cmocka may have printed. After "N test(s) run." it repeats the names of the failed.
function take_case(n, text,    name)
{
    if (text ~ /^\[==========\] .*Running [0-9]+ test/) {
        counting[n] = 1
    } else if (text ~ /^\[==========\] .*test\(s\) run/) {
        counting[n] = 0
    } else if (counting[n] && text ~ /^\[ RUN      \] /) {
        running[n] = substr(text, 14)
        reason[n] = ""
        kept[n] = length(output[n]) - length("    " text "\n")
    } else if (counting[n] && text ~ /^\[       OK \] /) {
        ok[n]++
        running[n] = ""
        output[n] = substr(output[n], 1, kept[n])
    } else if (counting[n] && text ~ /^\[  FAILED  \] /) {
        bad[n]++
        bad_names[n] = bad_names[n] " " substr(text, 14)
        running[n] = ""
    } else if (counting[n] && text ~ /^\[  SKIPPED \] /) {
        idle[n]++
        idle_names[n, idle[n]] = substr(text, 14)
        idle_reasons[n, idle[n]] = reason[n]
        running[n] = ""
    } else if (running[n] != "" && text != "") {
        reason[n] = text
    }
}

function end_test(n, name, verdict, seconds,    i, good)
{
    good = verdict == "Passed" || verdict == "Skipped"
    if (verdict == "Skipped" && ok[n] + bad[n] + idle[n] == 0) {
        idle[n] = 1
        idle_names[n, 1] = ""
        idle_reasons[n, 1] = last_line[n]
    }
    if (!good && !bad[n]) {
        bad[n] = 1
        bad_names[n] = running[n] == "" ? "" : " " running[n]
    } else if (!good && running[n] != "") {
        bad[n]++
        bad_names[n] = bad_names[n] " " running[n]
    } else if (good && ok[n] + bad[n] + idle[n] == 0) {
        ok[n] = 1
    }

    printf "%-8s %-32s %5d %s %8.2f s\n", good ? tolower(verdict) : "FAILED", name, \
        ok[n] + bad[n] + idle[n], ok[n] + bad[n] + idle[n] == 1 ? "case " : "cases", seconds
    if (!good)
        printf "%s: %s\n%s", name, verdict, output[n]

    output[n] = ""
    if (again && !(good && (n in failure_of)))
        return
    if (again) {
        failed -= failed_first[n]
        passed -= passed_first[n]
        skipped -= skipped_first[n]
        is_unsteady[failure_of[n]] = 1
        wavered[name] = 1
    }
    if (!again && verdict == "Passed")
        passed_at_once[name] = 1
    passed += ok[n]
    failed += bad[n]
    skipped += idle[n]
    if (bad[n]) {
        failure[++failures] = name ":" (bad_names[n] == "" ? "" : bad_names[n]) " (" verdict ")"
        if (!is_grave[n])
            failure_of[n] = failure[failures]
        failed_first[n] = bad[n]
        passed_first[n] = ok[n]
        skipped_first[n] = idle[n]
    }
    for (i = 1; i <= idle[n]; i++)
        skip[++skips] = name (idle_names[n, i] == "" ? "" : " " idle_names[n, i]) ": " \
            (idle_reasons[n, i] == "" ? "no reason given" : idle_reasons[n, i])
}
