#!/bin/sh
# tools/fuzz.sh FUZZER CORPUS-DIR
# Runs one fuzzer for $FUZZ_SECONDS (60), starting from the committed corpus. New inputs and
# crashes are kept in build/fuzz/NAME; a crash is shown with the command that repeats it.
set -eu

fuzzer=$1
corpus=$2
seconds=${FUZZ_SECONDS:-60}
name=$(basename "$fuzzer" _fuzz)
found=build/fuzz/$name/corpus
crashes=build/fuzz/$name/crashes
mkdir -p "$found" "$crashes"

echo "fuzz: $name for $seconds s, from $(find "$corpus" -type f | wc -l) committed inputs"
log=build/fuzz/$name/log
began=build/fuzz/$name/began
touch "$began"
dictionary=$(dirname "$corpus")/../$name.dict
set --
if [ -f "$dictionary" ]; then
    set -- -dict="$dictionary"
fi
if "$fuzzer" "$@" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$crashes/" "$found" "$corpus" >"$log" 2>&1 </dev/null
then
    grep -E '^stat::(number_of_executed_units|average_exec_per_sec)' "$log"
    exit 0
fi

tail -n 60 "$log" >&2
find "$crashes" -type f -newer "$began" | while read -r crash; do
    echo "fuzz: $name fails on $crash:" >&2
    od -A d -c "$crash" | head -n 20 >&2
    echo "fuzz: to repeat it: $fuzzer $crash" >&2
done
echo "fuzz: once it is repaired, keep the input: add it to $corpus" >&2
exit 1
