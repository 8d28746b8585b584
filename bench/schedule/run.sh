#!/bin/sh
# Parsing and next() beside the libraries that others use, in one table. The peers are robfig/cron
# and gorhill/cronexpr (Go, from Debian's packages) and croner (node, pinned in package-lock.json);
# one that can't be had is named, with the reason, and left out.
# usage: bench/schedule/run.sh [BUILD_DIR]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
bench=$build/bench/schedule_bench
work=$build/bench/schedule
cases=$here/cases.tsv
gocode=/usr/share/gocode
missing=0

not_available() {
    echo "not available: $1: $2"
    missing=$((missing + 1))
    rm -f "$work/$1.out"
}

run_go_peer() { # NAME PACKAGE DEBIAN-PACKAGE
    if ! command -v go >/dev/null; then
        not_available "$1" "go is not installed"
    elif ! [ -d "$gocode/src/$2" ]; then
        not_available "$1" "$3 is not installed"
    elif ! (cd "$here/peers" && GO111MODULE=off GOPATH=$gocode GOCACHE=$work/go-cache \
        go build -o "$work/peers" . 2>"$work/$1.log"); then
        not_available "$1" "does not build: $(tail -n 1 "$work/$1.log")"
    elif ! "$work/peers" "$1" "$cases" >"$work/$1.out"; then
        not_available "$1" "failed"
    fi
}

run_croner() {
    cp "$here/package.json" "$here/package-lock.json" "$here/peers/croner.mjs" "$work"
    if ! (cd "$work" && timeout 120 "$here/../../tools/npm.sh" ci --no-audit --no-fund >croner.log 2>&1); then
        not_available croner "npm ci: $(grep -m 1 -i error "$work/croner.log" || echo failed)"
    elif ! TZ=UTC node "$work/croner.mjs" "$cases" >"$work/croner.out"; then
        not_available croner "failed"
    fi
}

if ! [ -x "$bench" ]; then
    echo "bench/schedule: $bench is not there; build it first" >&2
    exit 1
fi
mkdir -p "$work"
"$bench" "$cases" >"$work/peal.out"
run_go_peer robfig github.com/robfig/cron golang-github-robfig-cron-dev
run_go_peer cronexpr github.com/gorhill/cronexpr golang-github-gorhill-cronexpr-dev
run_croner
awk -v dir="$work" -v missing="$missing" -f "$here/table.awk" "$cases"
