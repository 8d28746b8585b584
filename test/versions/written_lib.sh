# Sourced by what writes and what reads the data of a version: how it is filled, kept, and told.
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/../integration/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../integration/history_lib.sh"

# Nothing that was written is too old to be kept.
export PEAL_RETENTION_AGE=0s PEAL_RETENTION_AUDIT=0s PEAL_RETENTION_STATS=0s PEAL_RETENTION_RUNS=0

# Where a kind is, for `peal start`.
options_of() { # KIND
    case $1 in
    sqlite) echo '--store sqlite --history sqlite' ;;
    etcd) echo "--store $etcd_url/peal --history sqlite" ;;
    postgres)
        echo "--store postgresql://peal@127.0.0.1:$postgres_port/peal?schema=jobs" \
            "--history postgresql://peal@127.0.0.1:$postgres_port/peal?schema=runs"
        ;;
    esac
}

# What a version of peal knew, and did. A later version may add to it, never change it: the data of earlier
# ones is what they have written.
fill() {
    peal calendar set holidays 12-25 2026-10-01/2026-10-07 --notes 'closed' &&
        peal channel set hook --type webhook --hook http://127.0.0.1:1/hook --on failure &&
        peal add ok @manual --label team=a --notes 'two lines' -- /bin/sh -c 'echo out; echo err >&2' &&
        peal add bad @manual --retries 1 --retry-wait 1s --notify hook --shell 'echo broken; exit 3' &&
        peal add slow @manual --timeout 1s -- sleep 100 &&
        peal add long @manual -- sleep 100 &&
        peal add params @manual --param WHO --shell 'echo "hello $PEAL_PARAM_WHO"' &&
        peal add often '@every 1h' --paused --jitter 10s --calendar holidays --where zone=eu -- true &&
        peal add cron '30 2 * * MON-FRI' '0 4 1 * *' --paused --tz Europe/Berlin --catch-up all --overlap queue -- true &&
        peal add call @manual --http http://127.0.0.1:1/ --method POST --body x &&
        peal add after --after ok:failure -- true &&
        peal add team/gone @manual -- true &&
        peal add renamed @manual -- true &&
        peal rename renamed team/other &&
        peal delete team/gone --yes || return
    cat >"$scratch/flow.yaml" <<'END'
name: flow
schedule: "@manual"
steps:
  - {name: first, command: [echo, one]}
  - {name: second, after: first, command: [echo, two]}
END
    peal apply -f "$scratch/flow.yaml" && peal run ok --follow && peal run params --param WHO=you --follow &&
        peal run flow --follow || return
    peal run bad --follow
    peal run slow --follow
    peal run long && wait_until newest_is long running && peal kill long && wait_until newest_is long killed &&
        peal add ok @manual --label team=b --notes 'two lines' --replace -- /bin/sh -c 'echo out; echo err >&2' &&
        peal user add anna --role editor --no-password
}

# The jobs and documents, in lines that do not depend on when they are read.
tell_store() {
    local job
    peal list -o name | LC_ALL=C sort | while read -r job; do
        peal get "$job" -o yaml | grep -v -e '^uid:' | sed "s|^|$job: |"
    done
    peal calendar show holidays -o yaml | sed 's/^/holidays: /'
    peal channel list -o name | sed 's/^/channel: /'
    peal user list -o name | sed 's/^/user: /'
}

# The runs with their output, and the changes.
tell_history() {
    local job
    for job in ok bad slow long params flow; do
        peal runs "$job" -o json | jq -r --arg job "$job" \
            'reverse | .[] | "\($job): \(.state) attempt \(.attempt) by \(.cause), exit \(.exit_code)"'
        peal logs "$job" 2>/dev/null | sed "s|^|$job: output: |"
    done
    peal audit -n 1000 -o json | jq -r '.[] | "audit: \(.action) \(.job // "")"' | LC_ALL=C sort
}
