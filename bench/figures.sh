# Sourced by benchmarks that are scripts: a table of figures, each beside the machine's own limit and
# its budget. `failed` is 1 once a budget was missed.
# shellcheck shell=sh

rounds=3 # how often something is measured that others on the machine can disturb
# shellcheck disable=SC2034 # for the scripts
failed=0

now_ms() {
    date +%s%3N
}

calculate() {
    awk "BEGIN { printf \"%.${2:-2}f\", $1 }"
}

least() { # of the numbers on stdin
    sort -g | head -n 1
}

median() { # of the lines on stdin, by their first number
    sort -g | sed -n "$(((rounds + 1) / 2))p"
}

holds() { # CONDITION: in awk's words
    awk "BEGIN { exit !($1) }"
}

heading() {
    printf '%-42s %14s %20s %6s  %s\n' "$1" "$2" "$3" "$4" "$5"
}

line() { # WHAT MEASURED MACHINE RATIO BUDGET CONDITION
    if [ -z "$6" ]; then
        verdict=
    elif holds "$6"; then
        verdict=ok
    else
        verdict=MISSED
        failed=1
    fi
    heading "$1" "$2" "$3" "$4" "$5 $verdict"
}

resident_kb() { # PID
    awk '/^VmRSS:/ { print $2 }' "/proc/$1/status"
}

processor_ticks() { # PID
    awk '{ print $14 + $15 }' "/proc/$1/stat"
}
