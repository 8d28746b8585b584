#!/bin/bash
# test/packages/container.sh
# Builds the image of packaging/container/Containerfile from the packages of `make deb`, by buildah, on a Debian of debootstrap in place
# of the registry's, and runs it: not as root, as the first process of a namespace, with the account and the certificate that
# its entry point makes; stopped, it ends its jobs. As root, for mounts.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/packages/root.sh
. test/packages/root.sh

[ "$(id -u)" -eq 0 ] || { echo 'container: root is needed, for mounts' >&2; exit 1; }
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
scratch=$(mktemp -d)
checks=0
failed=0
outside=
leave() {
    [ -z "$outside" ] || kill -KILL "$outside" 2>/dev/null || :
    root_leave
    buildah umount --all >/dev/null 2>&1 || :
    buildah rm --all >/dev/null 2>&1 || :
    rm -rf "$scratch"
}
trap leave EXIT

check() { # WHAT COMMAND...
    local what=$1
    shift
    checks=$((checks + 1))
    if "$@" >"$scratch/check.log" 2>&1; then
        echo "ok      $what"
    else
        failed=$((failed + 1))
        echo "FAILED  $what: $*"
        sed 's/^/        /' "$scratch/check.log" | tail -n 20
    fi
}

# ---- the image ----

# What the slim image of Debian is: debootstrap's, without documents.
root_make bookworm "$PWD/build/roots/container"
in_root apt-get -qq clean
rm -rf "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/usr/share/locale/* "$root"/var/lib/apt/lists/* "$root"/var/log/*
umount -l "$root/proc" "$root/dev"
base=$(buildah from scratch)
buildah add -q "$base" "$root" / >/dev/null
buildah commit -q "$base" localhost/debian >/dev/null
packages=$(buildah from scratch)
find build/deb -maxdepth 1 -name 'peal_*.deb' -exec buildah add -q "$packages" {} /packages/ \; >/dev/null
buildah commit -q "$packages" localhost/packages >/dev/null
check 'the image is built' buildah bud -q --layers=false --build-arg BASE=localhost/debian --build-arg PACKAGES=localhost/packages \
    -f packaging/container/Containerfile -t localhost/peal .
buildah push -q localhost/peal "oci-archive:$scratch/peal.tar" >/dev/null 2>&1
size=$(($(stat -c %s "$scratch/peal.tar") / 1000000))
check "it has $size MB, compressed; at most 60" test "$size" -le 60
check 'it does not run as root' test "$(buildah inspect --type image --format '{{.OCIv1.Config.User}}' localhost/peal)" = 7325:7325

# ---- it runs ----

container=$(buildah from localhost/peal)
root=$(buildah mount "$container")
mount --bind /dev "$root/dev"
mkdir -p "$root/proc"
export PEAL_DATA=/var/lib/peal LANG=C.UTF-8
cat >"$scratch/run" <<END
mount -t proc proc "$root/proc"
exec chroot --userspec=7325:7325 --groups= "$root" /usr/bin/peal-entry start
END
start() {
    PEAL_ADMIN_PASSWORD='correct horse' PEAL_LISTEN='' unshare --pid --fork --mount --uts --kill-child \
        sh -c "hostname peal-0; . '$scratch/run'" >"$scratch/log" 2>&1 &
    outside=$!
    for _ in $(seq 300); do
        grep -q ' ready .* pid=2$' "$scratch/log" && break
        kill -0 "$outside" || break
        sleep 0.1
    done
    first=$(pgrep -P "$outside")
}
inside() { nsenter --target "$first" --pid --mount --uts chroot --userspec=7325:7325 --groups= "$root" env -i PATH=/usr/bin:/bin HOME=/tmp PEAL_DATA=/var/lib/peal "$@"; }
start
check 'the agent is ready' grep -q ' ready ' "$scratch/log"
check 'it listens for others, over TLS, with the account that was named' inside sh -c \
    'printf "correct horse\n" >/tmp/password && peal login --url https://127.0.0.1:7325 --ca /var/lib/peal/tls/cert.pem --name admin --password-file /tmp/password'
check 'the password is not left in the container' inside sh -c '! ls -a /var/lib/peal | grep admin-password'
check 'a job runs as its user' inside sh -c 'peal add who @manual -- id -u && peal run who --follow | grep -x 7325'
check 'time zones are there' inside peal next '0 8 * * *' --tz Asia/Shanghai -n 1
inside peal add long @manual --shell 'trap "echo bye; exit 0" TERM; while :; do sleep 0.1; done' >/dev/null
inside peal run long >/dev/null
sleep 1
kill -TERM "$first"
ended() { wait "$outside"; }
check 'it stops by itself' ended
start
check 'the job ended with it, and is on record' inside sh -c 'peal logs long | grep -x bye && peal runs long | grep shutdown'
kill -TERM "$first"
wait "$outside" || :
umount -l "$root/dev"

echo "$((checks - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
