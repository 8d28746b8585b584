#!/bin/bash
# framing_test.sh ATTACK
# Requests that can be read in two ways, straight to the agent's port: plain, and with TLS.
. "$(dirname "$0")/lib.sh"

start_target plain
run "$1" framing "$port"
expect_status 0
run peal tls init --data "$scratch/tls" --host localhost
expect_status 0
start_target tls
run "$1" framing "tls:$port"
expect_status 0
finish
