#!/bin/bash
# The role for Ansible, on this machine below a folder of its own: an archive, the configuration, jobs; a second run that
# changes nothing; a configuration that is wrong; job files that go. $PEAL_ANSIBLE names the folder of ansible-playbook.
. "$(dirname "$0")/lib.sh"
PATH=${PEAL_ANSIBLE:+$PEAL_ANSIBLE:}$PATH
command -v ansible-playbook >/dev/null || {
    echo 'skipped: ansible-playbook is not installed'
    exit 77
}
role=$source_dir/packaging/ansible/roles/peal
export ANSIBLE_ROLES_PATH=${role%/*} ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_NOCOLOR=1 ANSIBLE_HOME=$scratch/ansible \
    ANSIBLE_LOCAL_TEMP=$scratch/ansible/tmp ANSIBLE_REMOTE_TEMP=$scratch/ansible/remote

run ansible-playbook --syntax-check "$source_dir/packaging/ansible/site.yml"
expect_status 0
if command -v ansible-lint >/dev/null; then
    run env HOME="$scratch" ansible-lint --offline --nocolor "$source_dir/packaging/ansible/roles" "$source_dir/packaging/ansible/site.yml"
    expect_status 0
fi

# An archive as tools/tarball.sh makes it, as far as the role sees.
folder=peal-0.1.0-linux-test
mkdir -p "$scratch/$folder/bin" "$scratch/bin" "$scratch/jobs"
cp "$(command -v peal)" "$(command -v peal-spawn)" "$(command -v peal-call)" "$scratch/$folder/bin"
tar -C "$scratch" -czf "$scratch/$folder.tar.gz" "$folder"

printf 'name: one\nschedule: "@hourly"\ncommand: ["true"]\n' >"$scratch/jobs/one.yaml"
printf 'name: db/two\nschedule: "@hourly"\ncommand: ["true"]\n' >"$scratch/jobs/two.yaml"
play() { # VARIABLES, as YAML
    cat >"$scratch/play.yml" <<END
- hosts: localhost
  connection: local
  gather_facts: false
  roles: [peal]
  vars:
    ansible_python_interpreter: "{{ ansible_playbook_python }}"
    peal_tarball: $scratch/$folder.tar.gz
    peal_folder: $scratch/opt
    peal_bin: $scratch/bin
    peal_config_folder: $scratch/etc
    peal_environment_file: $scratch/default
    peal_service: false
    peal_data: $scratch/node
    peal_environment: {PEAL_OTLP_HEADERS: 'authorization=Bearer%20"s\\ecret"'}
    peal_allow_users: [deploy]
$1
END
    run ansible-playbook "$scratch/play.yml"
}
changed_are() { # NUMBER
    expect_stdout_has "changed=$1 "
}

# ---- installed and configured ----

good='    peal_config: {log_format: json, labels: {zone: eu}, retention: {runs: 50}, listen: none}'
play "$good"
expect_status 0
expect_stdout_lacks ecret
run "$scratch/bin/peal" version
expect_status 0
run "$scratch/bin/peal" config show --config "$scratch/etc/peal.yaml" labels retention.runs log_format
expect_stdout_has 'zone=eu'
expect_stdout_has '50'
run stat -c %a "$scratch/default"
expect_stdout 600
# The shell and systemd read the same.
run sh -c ". '$scratch/default' && printf %s \"\$PEAL_OTLP_HEADERS\""
expect_stdout 'authorization=Bearer%20"s\ecret"'
run grep -v '^#' "$scratch/etc/users.allow"
expect_stdout deploy
play "$good"
expect_status 0
changed_are 0

# What is wrong does not replace what is there.
play '    peal_config: {retention: {rums: 50}}'
expect_status 2
expect_stdout_has 'did you mean'
run "$scratch/bin/peal" config validate "$scratch/etc/peal.yaml"
expect_status 0

# ---- jobs ----

PATH=$scratch/bin:$PATH
start_agent node --config "$scratch/etc/peal.yaml"
jobs="$good
    peal_jobs: $scratch/jobs"
play "$jobs"
expect_status 0
run peal list -o name
expect_stdout 'db/two
one'
play "$jobs"
expect_status 0
changed_are 0
rm "$scratch/jobs/two.yaml"
peal add stays @hourly -- true 2>/dev/null
play "$jobs/"
expect_status 0
run peal list -o name
expect_stdout 'one
stays'
sed -i 's/hourly/hour/' "$scratch/jobs/one.yaml"
play "$jobs"
expect_status 2
expect_stdout_has 'one.yaml:2:'
finish
