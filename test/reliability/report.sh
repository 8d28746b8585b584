# Sourced by run.sh at its end: the matrix, on stdout and, if that was asked for, as a report.
# shellcheck shell=bash disable=SC2016,SC2154 # Markdown has backquotes; of the driver

# A fault that could be done at least once was not skipped.
skipped_faults() {
    sort "$skips" | awk 'NR == FNR { done[$1] = 1; next } !($1 in done) && !seen[$1]++' "$windows" -
}

print_report() {
    echo "# What faults did to a cluster"
    echo
    echo "Written by \`make fault\`; [RELIABILITY.md](RELIABILITY.md) says what the words mean."
    echo
    echo "- Linux $(uname -r), $(nproc) processors; $(store_version); $(peal version | head -n 1);" \
        "programs with AddressSanitizer"
    [ -z "$earlier" ] || echo "- beside $("$earlier/peal" version | head -n 1), without AddressSanitizer;" \
        "at the end: $(tell_versions)"
    echo "- duration $duration_s s, seed $seed, $(wc -l <"$windows") faults" \
        "of $(cut -d ' ' -f 1 "$windows" | sort -u | wc -l) kinds, $(skipped_faults | wc -l) kinds skipped"
    echo "- $(tail -n 1 "$scratch/verdict")"
    echo "- $changes_line"
    [ "$failures" -eq 0 ] || echo "- **$failures checks failed**"
    skipped_faults | sed 's/^\([^ ]*\) \(.*\)/- skipped: `\1`, \2/'
    echo
    awk -f "$here/matrix.awk" input=1 "$windows" input=2 FS='\t' "$scratch/tables/due" input=3 \
        "$scratch/tables/ledger" input=4 FS=' ' "$trace" input=5 "$scratch/timer"
}

print_report >"$scratch/report.md"
cat "$scratch/report.md"
[ -z "$report" ] || cp "$scratch/report.md" "$report"
