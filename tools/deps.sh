#!/bin/sh
# tools/deps.sh GROUP...
# Installs the Debian packages of the named groups. Quick and silent when none is missing.
# PEAL_SKIP_DEPS=1 turns it off, for systems where the packages come another way.
set -eu

# What `make run` needs is little and quick to have; `build` is that and what all of peal needs.
# One package per line: group, package, and optionally the command that it is wanted for; a
# command that is on the PATH already, wherever it came from, is as good as the package.
table='
run   gcc             gcc
run   libc6-dev
run   cmake           cmake
run   ninja-build     ninja
run   pkg-config      pkg-config
run   tzdata
run   libargon2-dev
run   libcurl4-openssl-dev
run   libevent-dev
run   libhiredis-dev
run   libical-dev
run   libjansson-dev
run   libnghttp2-dev
run   libpq-dev
run   libprotobuf-c-dev
run   libseccomp-dev
run   libsqlite3-dev
run   libssl-dev
run   libutf8proc-dev
run   libyaml-dev
run   nodejs          node
run   protobuf-c-compiler protoc-c
run   zlib1g-dev
run   zopfli          zopfli
build libmongoc-dev
test  cargo           cargo
test  chromium-headless-shell chromium-headless-shell
test  libcmocka-dev
test  etcd-client     etcdctl
test  etcd-server     etcd
test  faketime        faketime
test  g++             g++
test  fonts-inter
test  fonts-noto-cjk
test  golang-go       go
test  iproute2        ip
test  man-db          man
test  mandoc          mandoc
test  jq              jq
test  nftables        nft
test  haproxy         haproxy
test  nginx-light     nginx
test  openssl         openssl
test  postgresql
test  pgbouncer
test  redis-server    redis-server
test  python3-aiosmtpd aiosmtpd
test  python3-cffi
test  python3-dev
test  python3-pip
test  python3-setuptools
test  python3-wheel
test  python3-yaml
test  sqlite3         sqlite3
test  systemd         systemd-analyze
deb   debhelper       dh
deb   dpkg-dev        dpkg-buildpackage
deb   lintian         lintian
deb   debootstrap     debootstrap
deb   jq              jq
rpm   debootstrap     debootstrap
rpm   rpm             rpmbuild
rpm   rpmlint         rpmlint
container buildah     buildah
container debootstrap debootstrap
container iproute2    ip
container procps      pgrep
tarball binutils      objdump
tarball patchelf      patchelf
tarball debootstrap   debootstrap
library abigail-tools abidiff
library clang          clang
library valgrind       valgrind
lint  clang
lint  clang-format
lint  clang-tidy
lint  libclang-rt-14-dev
lint  cppcheck        cppcheck
lint  shellcheck      shellcheck
fuzz  clang
fuzz  libclang-rt-14-dev
bench etcd-server     etcd
bench curl            curl
bench golang-go       go
bench jq              jq
bench golang-github-gorhill-cronexpr-dev
bench golang-github-robfig-cron-dev
bench nginx-light     nginx
bench postgresql
bench redis-server    redis-server
bench procps          pgrep
bench wrk             wrk
report default-jdk-headless javac
report maven         mvn
report npm           npm
report python3-venv
'

fail()
{
    echo "deps: $*" >&2
    exit 1
}

installed()
{
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The lines of one group.
lines_of()
{
    [ "$1" != build ] || lines_of run
    echo "$table" | grep "^$1 "
}

# The packages of one group that are not there.
missing_of()
{
    lines_of "$1" | while read -r _ package command; do
        installed "$package" && continue
        [ -n "$command" ] && command -v "$command" >/dev/null && continue
        echo "$package"
    done
}

[ -z "${PEAL_SKIP_DEPS:-}" ] || exit 0
[ $# -gt 0 ] || fail "name one or more groups: run build test library deb rpm container tarball lint fuzz bench report"

for group in "$@"; do
    lines_of "$group" >/dev/null || fail "no group is named \"$group\""
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    fail "this is not a Debian-like system. Install the counterparts of these packages by hand," \
        "then run again with PEAL_SKIP_DEPS=1:" \
        "$(for group in "$@"; do lines_of "$group"; done | awk '{ print $2 }' | sort -u | tr '\n' ' ')"
fi

missing=$(for group in "$@"; do missing_of "$group"; done | sort -u | tr '\n' ' ')
missing=${missing% }
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null ||
        fail "no sudo here; as root, run: apt-get install --no-install-recommends $missing"
    as_root='sudo'
fi

echo "deps: installing $missing"
# shellcheck disable=SC2086 # both are lists of words
apt()
{
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of packages
if ! { apt update && apt install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null
then
    cat "$log" >&2
    fail "could not install: $missing"
fi
