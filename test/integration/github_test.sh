#!/bin/bash
# examples/github: the steps of the workflow, as the runner calls them (bash -e), against an agent with TLS: a comment for
# a pull request, without a token one beside the base, a wrong definition fails the check, a merge applies.
# shellcheck disable=SC2317 # called by its name
. "$(dirname "$0")/lib.sh"
workflow=$source_dir/examples/github/.github/workflows/peal.yml
command -v git >/dev/null || {
    echo 'skipped: git is not installed'
    exit 77
}

# The script of a step, of the n-th one with that name.
step() { # NAME [N]
    awk -v name="- name: $1" -v n="${2:-1}" '
        index($0, name) { at++; open = at == n; next }
        open && /^ *run: \|$/ { match($0, /^ */); indent = RLENGTH + 2; inside = 1; next }
        inside && /[^ ]/ && match($0, /^ */) && RLENGTH < indent { exit }
        inside { print substr($0, indent + 1) }' "$workflow"
}

# GitHub runs a step with bash -e -o pipefail.
run_step() { # NAME [N]
    step "$@" >"$scratch/step.sh"
    [ -s "$scratch/step.sh" ] || mismatch "the workflow has no step $1"
    run bash --noprofile --norc -e -o pipefail "$scratch/step.sh"
}

# ---- a runner: the checkout, a gh that notes what it was asked for, an agent behind TLS ----

export RUNNER_TEMP=$scratch/temp GITHUB_STEP_SUMMARY=$scratch/summary PULL_REQUEST=7 BASE=origin/main
mkdir "$RUNNER_TEMP" "$scratch/bin"
: >"$GITHUB_STEP_SUMMARY"
cat >"$scratch/bin/gh" <<END
#!/bin/sh
# There is no comment to edit until one was made.
case "\$*" in
*--edit-last*) [ -e "$scratch/comment" ] || exit 1 ;;
esac
echo "\$*" >>"$scratch/gh"
cp "$RUNNER_TEMP/comment.md" "$scratch/comment"
END
chmod +x "$scratch/bin/gh"
PATH=$scratch/bin:$PATH

mapfile -t ports < <(free_ports)
export PEAL_DATA=$scratch/node
run peal tls init --host localhost
expect_status 0
start_agent node --listen "127.0.0.1:${ports[0]}"
plan_token=$(peal token create plan --role viewer 2>/dev/null)
apply_token=$(peal token create apply --role editor 2>/dev/null)
PEAL_CA=$(find "$PEAL_DATA" -name '*.pem' ! -name '*key*' | head -n 1)
export PEAL_CA PEAL_URL=https://localhost:${ports[0]}
unset PEAL_DATA

git init -q -b main "$scratch/origin"
cp -r "$source_dir/examples/github/jobs" "$scratch/origin"
cd "$scratch/origin" || exit 1
git config user.name test
git config user.email test@example.com
git add -A && git commit -qm first
git clone -q "$scratch/origin" "$scratch/checkout"
cd "$scratch/checkout" || exit 1

# ---- pull requests ----

export PEAL_TOKEN=$plan_token
run_step Plan
expect_status 0
run_step Comment
expect_status 0
run cat "$scratch/comment"
expect_stdout_has '2 to create'
expect_stdout_has 'create db/backup'
expect_stdout_has 'ticks: 0'
run cat "$scratch/gh"
expect_stdout "pr comment 7 --body-file $RUNNER_TEMP/comment.md"

# A wrong definition: the check fails, and the comment says where.
sed -i 's/30 2/30 25/' jobs/backup.yaml
run_step Plan
expect_status 1
expect_stderr_has 'jobs/backup.yaml:2:'
run_step Comment
expect_status 0
run cat "$scratch/comment"
expect_stdout_has 'can not be applied'
expect_stdout_has 'jobs/backup.yaml:2:'
run tail -n 1 "$scratch/gh"
expect_stdout "pr comment 7 --edit-last --body-file $RUNNER_TEMP/comment.md"

# From a fork: no token, and the plan is beside the base.
sed -i 's/30 25/45 2/' jobs/backup.yaml
PEAL_TOKEN='' PEAL_URL='' run_step Plan
expect_status 0
run cat "$RUNNER_TEMP/comment.md"
expect_stdout_has '1 to change'
expect_stdout_has '+15m'
git checkout -q jobs

# More than a comment can have is cut.
for i in $(seq 1 1500); do
    printf -- '---\nname: many/%s\nschedule: "%s * * * *"\ncommand: [echo, %0200d]\n' "$i" $((i % 60)) "$i"
done >jobs/many.yaml
run_step Plan
expect_status 0
checks=$((checks + 1))
[ "$(wc -c <"$RUNNER_TEMP/comment.md")" -lt 65536 ] || mismatch 'the comment is too long'
run tail -n 1 "$RUNNER_TEMP/comment.md"
expect_stdout_has 'in the summary'
rm jobs/many.yaml

# ---- merges ----

# A token for plans does not apply.
run_step Apply
checks=$((checks + 1))
[ "$status" -ne 0 ] || mismatch 'a viewer has applied'
export PEAL_TOKEN=$apply_token
run_step Apply
expect_status 0
expect_stdout_has 'created db/backup'
PEAL_TOKEN=$plan_token run_step Plan
expect_status 0
run cat "$RUNNER_TEMP/comment.md"
expect_stdout_has 'no job changes'
sed -i '/^---/,$d' jobs/backup.yaml
run_step Apply
expect_status 0
run peal list -o name
expect_stdout db/backup
run cat "$GITHUB_STEP_SUMMARY"
expect_stdout_has 'deleted db/verify'

# ---- the package is compared with its checksum ----

printf 'package' >"$scratch/peal.deb"
printf '#!/bin/sh\necho "$@" >>"%s"\n' "$scratch/sudo" >"$scratch/bin/sudo"
# shellcheck disable=SC2016 # the script's
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\ncp "%s" "$2"\n' "$scratch/peal.deb" >"$scratch/bin/curl"
chmod +x "$scratch/bin/sudo" "$scratch/bin/curl"
export PEAL_DEB=https://example.com/peal.deb PEAL_DEB_SHA256
for n in 1 2; do
    PEAL_DEB_SHA256=$(printf other | sha256sum | cut -d' ' -f1)
    run_step Install $n
    expect_status 1
    [ ! -e "$scratch/sudo" ] || mismatch 'it was installed'
done
PEAL_DEB_SHA256=$(sha256sum <"$scratch/peal.deb" | cut -d' ' -f1)
run_step Install
expect_status 0
run cat "$scratch/sudo"
expect_stdout_has "$RUNNER_TEMP/peal.deb"
rm "$scratch/bin/curl"
export PEAL_DATA=$scratch/node
finish
