# Sourced by the tests of packages, after root.sh: what is the same for a package of any kind, in the root.
#   check WHAT COMMAND...       says whether it succeeds, and counts
#   check_start                 the agent starts, and runs a job as the user that the package made
#   check_upgrade COMMAND...    which replaces the package while a job runs
#   check_end                   tells the counts; fails if a check did
# shellcheck shell=bash disable=SC2154 # $root is of root.sh

checks=0
failed=0
said=$(mktemp)

check() { # WHAT COMMAND...
    local what=$1
    shift
    checks=$((checks + 1))
    if "$@" >"$said" 2>&1; then
        echo "ok      $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $what: $*"
        sed 's/^/        /' "$said" | tail -n 20
    fi
}

check_start() {
    check 'peal runs' in_root peal version
    check 'there is the user of jobs' in_root id peal-job
    check 'the program finds every library' in_root sh -c \
        '! ldd /usr/bin/peal /usr/bin/peal-spawn /usr/bin/peal-call /usr/lib/peal/peal-mongo.so | grep "not found"'
    check 'the configuration is right' in_root peal config validate /etc/peal/peal.yaml
    check 'completion and pages are there' in_root sh -c \
        'test -s /usr/share/bash-completion/completions/peal && ls /usr/share/man/man1/peal-add.1* /usr/share/man/man5/peal-job.5*'
    check 'the agent starts' in_root peal start -d --data /var/lib/peal --listen 127.0.0.1:0 --default-user peal-job
    check 'a job runs as peal-job' in_root sh -c 'peal add who @manual -- id -un && peal run who --follow | grep -x peal-job'
    check 'the module of MongoDB is loaded' mongo_is_loaded
}

# Whose server does not answer: the agent says that, and nothing of the module.
mongo_is_loaded() {
    in_root peal start -d --data /tmp/mongo --listen none --history mongodb://127.0.0.1:1/ &&
        in_root sh -c '! grep -e peal-mongo.so /tmp/mongo/peal.log'
    in_root peal stop --data /tmp/mongo
}

has_run_once() { test "$(in_root peal runs long -o json | jq -c 'map(.state)')" = '["ok"]'; }

check_upgrade() { # COMMAND...
    local lines=200
    in_root peal add long @manual --shell "for i in \$(seq $lines); do echo line \$i; sleep 0.1; done" >/dev/null
    in_root peal run long >/dev/null
    check 'an upgrade under a running job' "$@"
    check 'the agent starts anew' in_root peal restart --data /var/lib/peal
    for _ in $(seq 120); do
        has_run_once && break
        sleep 1
    done
    check 'the job has run once, and ended well' has_run_once
    check 'its output is whole' in_root sh -c "test \"\$(peal logs long | grep -c '^line ')\" = $lines"
    check 'jobs are kept' in_root sh -c 'peal list -o name | grep -x who'
}

check_end() {
    rm -f "$said"
    echo "$((checks - failed)) passed, $failed failed, 0 skipped"
    [ "$failed" -eq 0 ]
}
