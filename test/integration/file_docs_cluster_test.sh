#!/bin/bash
# shellcheck disable=SC2317 # what wait_until calls
# What one agent exports another one takes, whatever its store is: from one machine to two nodes on etcd, and back.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/file_docs_lib.sh"
cd "$scratch" || exit 1
export_secrets
etcd_start

start_agent one
fill_agent >filled 2>&1
run peal export yaml
expect_status 0
cp out all.yaml
expect_no_secrets all.yaml

start_agent a --store "$etcd_url/files" --node-id a --listen none
start_agent b --store "$etcd_url/files" --node-id b --listen none
export PEAL_DATA=$scratch/a
run peal apply -f all.yaml
expect_status 0
expect_stdout_has 'created group db-backup'
expect_stdout_has 'created shop/dump'
same_on_b() {
    peal export yaml --data "$scratch/b" 2>/dev/null | cmp -s - all.yaml
}
wait_until same_on_b
run peal export yaml
expect_stdout "$(cat all.yaml)"
run peal apply -f all.yaml --data "$scratch/b"
expect_status 0
expect_stdout ''
# A group is there on every node before a job names it.
cat >more.yaml <<'END'
kind: group
name: more
cluster: 1
---
name: more
schedule: "@daily"
command: [x]
groups: [more]
END
run peal apply -f more.yaml --data "$scratch/b"
expect_stdout 'created group more
created more'
run peal delete more --yes
run peal group delete more --yes
expect_status 0

start_agent back
run peal apply -f <(peal export yaml --data "$scratch/b")
expect_status 0
run peal export yaml
expect_stdout "$(cat all.yaml)"
finish
