#!/bin/bash
# Compares peal's ledger with what the jobs themselves wrote.
#
#   check.sh [--until TIME] [--clock-was-set] [--away FILE [--late-ms MS]] [--tables FOLDER] TRACE \
#       RUNS.json JOBS.json
#
# TRACE is written by append_run; RUNS.json is `peal runs --ledger -o json` with everything, and
# JOBS.json `peal list -o json`. Ticks are due from a job's creation until its `end`, or TIME; later
# ones are not looked at.
# --clock-was-set: the order of wall times says nothing.
# --away: there were several nodes, which died, slept or were cut off from FROM_MS to TO_MS:
# lines NODE FROM_MS TO_MS; what the nodes share is named "etcd". Lateness is checked, too: a
# second, or MS.
# --tables: what was read is left there, a line for each job, due tick, end and absence.
# Every disagreement is a line on stdout, then the sum of it all; status 1 if there was one. The
# rules are in check.awk.
set -eu -o pipefail

until=
clock_was_set=0
away=
late_ms=1000
tables=
while [ $# -gt 3 ]; do
    case $1 in
    --until)
        until=$2
        shift
        ;;
    --clock-was-set) clock_was_set=1 ;;
    --away)
        away=$2
        shift
        ;;
    --late-ms)
        late_ms=$2
        shift
        ;;
    --tables)
        tables=$2
        mkdir -p "$tables"
        shift
        ;;
    *)
        echo "check.sh: unknown option $1" >&2
        exit 2
        ;;
    esac
    shift
done
trace=$1 runs=$2 jobs=$3
here=$(dirname "$0")
if [ -z "$tables" ]; then
    tables=$(mktemp -d)
    trap 'rm -rf "$tables"' EXIT
fi

# What is due, worked out apart from the agent. The ticks of @after are not known beforehand.
: >"$tables/due"
jq -r '.[] | [.name, .schedule, .timezone, (.overlap | if type == "object" then .policy
    else . // "skip" end), .created_at[0:19] + "Z", .end // ""] | join("\t")' "$jobs" >"$tables/jobs"
while IFS=$'\t' read -r job spec zone _ created end; do
    case $spec in
    @after* | @manual | @reboot) continue ;;
    esac
    last=${until:-$end}
    if [ -z "$last" ]; then
        echo "check.sh: $job has no end; say --until" >&2
        exit 2
    fi
    peal next "$spec" --tz "$zone" --from "$created" --until "$last" ${end:+--end "$end"} \
        -o json | jq -r --arg job "$job" '.fires[] | [$job, (.at | fromdate * 1000), .at] | @tsv' \
        >>"$tables/due"
done <"$tables/jobs"

# The ledger, oldest first: runs by their ids, which sort by time.
jq -r --arg until "$until" 'def ms: if . == null then 0 else (.[0:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber) end;
    reverse[] | select($until == "" or (.tick // .from)[0:19] <= $until[0:19]) | if .entry_id
    then ["entry", .job, (.from | ms), (.to | ms), .count, .state, .reason]
    else ["run", .job, (.tick | ms), .run_id, .attempt, .state, .reason // "-", .fence // 0,
        (.started_at | ms), (.finished_at | ms), .exit_code // "-", .output_bytes // 0, .cause]
    end | @tsv' "$runs" >"$tables/ledger"

[ -z "$away" ] || tr ' ' '\t' <"$away" >"$tables/away"
awk -F '\t' -v clock_was_set=$clock_was_set -v until="$until" -v late_ms="${away:+$late_ms}" \
    -f "$here/check.awk" ${away:+input=5 "$tables/away"} input=1 "$tables/jobs" input=2 "$tables/due" input=3 "$tables/ledger" input=4 FS=' ' "$trace"
