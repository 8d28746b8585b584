#!/bin/bash
# test/packages/tarball.sh [SUITE...]
# Proves the archive of `make tarball` in systems of their own (folders of debootstrap; Debian 12 and 13 and Ubuntu 24.04 by default) that
# have nothing but what debootstrap brings, and OpenSSL: every library is found, a job runs, an HTTP call is made, and the folder can be
# moved. As root, for chroot and mounts.
# shellcheck disable=SC2016 # for the shell in the root
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/packages/root.sh
. test/packages/root.sh

[ "$(id -u)" -eq 0 ] || { echo 'tarball: root is needed, for chroot and mounts' >&2; exit 1; }
[ $# -gt 0 ] || set -- bookworm trixie noble
archive=$(find "$PWD/build/tarball" -name '*.tar.gz')
checks=0
failed=0
log=$(mktemp)
trap 'root_leave; rm -f "$log"' EXIT

check() { # WHAT COMMAND...
    local what=$1
    shift
    checks=$((checks + 1))
    if "$@" >"$log" 2>&1; then
        echo "ok      $suite: $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $suite: $what: $*"
        sed 's/^/        /' "$log" | tail -n 20
    fi
}

for suite; do
    root_make "$suite" "$PWD/build/roots/tarball-$suite"
    in_root apt-get -qq install -y --no-install-recommends openssl >"$log" 2>&1 || { tail "$log" >&2; exit 1; }
    mkdir -p "$root/opt/here"
    tar -C "$root/opt/here" --strip-components=1 -xf "$archive"
    peal=/opt/here/bin/peal
    check 'every library is found' in_root sh -c '! ldd /opt/here/bin/peal /opt/here/bin/peal-spawn /opt/here/bin/peal-call | grep "not found"'
    # libz and libzstd are there for OpenSSL.
    check 'only the C library and OpenSSL are the machine'\''s' in_root sh -c \
        'ldd /opt/here/bin/peal* 2>/dev/null | awk "\$3 ~ /^\// && \$3 !~ /^\/opt\// { print \$1 }" | sort -u | grep -v -e "^lib[cm].so" -e "^libresolv" -e "^libgcc_s" -e "^libssl" -e "^libcrypto" -e "^libz" && exit 1 || exit 0'
    check 'it says its version' in_root $peal version
    check 'the agent starts' in_root PEAL_HTTP_ALLOW=127.0.0.1 $peal start -d --data /tmp/data --listen 127.0.0.1:0 --default-user nobody
    check 'a job runs' in_root sh -c "$peal add who --data /tmp/data @manual -- id -un && $peal run who --data /tmp/data --follow | grep -x nobody"
    check 'an HTTP call is made' in_root sh -c "$peal add call --data /tmp/data @manual --http http://127.0.0.1:\$(head -n 1 /tmp/data/ports)/livez && $peal run call --data /tmp/data --follow | grep '^HTTP/1.1 200'"
    check 'a schedule is read' in_root sh -c "$peal next '0 8 * * *' --tz UTC -n 1"
    check 'the agent stops' in_root $peal stop --data /tmp/data
    in_root mv /opt/here /srv/there
    peal=/srv/there/bin/peal
    check 'and starts from another folder' in_root $peal start -d --data /tmp/data --listen none --default-user nobody
    check 'where the job runs again' in_root sh -c "$peal run who --data /tmp/data --follow | grep -x nobody"
    in_root $peal stop --data /tmp/data >/dev/null
    root_leave
    rm -rf "$root"
done

echo "$((checks - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
