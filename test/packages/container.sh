#!/bin/bash
# test/packages/container.sh
# Builds the image of packaging/container/Containerfile from the packages of `make deb`, by buildah, on a Debian of debootstrap in place
# of the registry's, and runs it: not as root, as the first process of a namespace, with the account and the certificate that
# its entry point makes; it reaps, and stopped it ends its jobs. As root, for mounts and namespaces. `make container` brings what it needs.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=test/packages/root.sh
. test/packages/root.sh

[ "$(id -u)" -eq 0 ] || { echo 'container: root is needed, for mounts' >&2; exit 1; }
ls build/deb/peal_*.deb >/dev/null 2>&1 || { echo 'container: no packages in build/deb; make deb builds them' >&2; exit 1; }
scratch=$(mktemp -d)
# Images and containers of its own, beside those that this machine has.
printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/images"\nrunroot = "%s/run-images"\n' "$scratch" "$scratch" >"$scratch/storage.conf"
export CONTAINERS_STORAGE_CONF=$scratch/storage.conf BUILDAH_ISOLATION=chroot
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

# In a network of its own, so that its port is free, whatever else this machine runs.
container=$(buildah from localhost/peal)
root=$(buildah mount "$container")
mount --bind /dev "$root/dev"
mkdir -p "$root/proc"
export PEAL_DATA=/var/lib/peal LANG=C.UTF-8
cat >"$scratch/run" <<END
ip link set lo up
mount -t proc proc "$root/proc"
exec chroot --userspec=7325:7325 --groups= "$root" /usr/bin/peal-entry start
END
is_ready() { grep -q ' ready ' "$scratch/log"; }
within() { # SECONDS COMMAND...
    local turns=$(($1 * 10))
    shift
    for _ in $(seq $turns); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.1
    done
    return 1
}
start() {
    PEAL_ADMIN_PASSWORD='correct horse' PEAL_LISTEN='' unshare --pid --fork --mount --uts --net --kill-child \
        sh -c "hostname peal-0; . '$scratch/run'" >"$scratch/log" 2>&1 &
    outside=$!
    within 60 is_ready
    first=$(pgrep -P "$outside")
}
inside() { nsenter --target "$first" --pid --mount --uts --net chroot --userspec=7325:7325 --groups= "$root" env -i PATH=/usr/bin:/bin HOME=/tmp PEAL_DATA=/var/lib/peal "$@"; }
ended() { wait "$outside"; }
ended_with() { # STATUS
    local status=0
    wait "$outside" || status=$?
    echo "status $status"
    [ $status -eq "$1" ]
}
start
check 'the agent is ready' is_ready
check 'it listens for others, over TLS, with the account that was named' inside sh -c \
    'printf "correct horse\n" >/tmp/password && peal login --url https://127.0.0.1:7325 --ca /var/lib/peal/tls/cert.pem --name admin --password-file /tmp/password'
check 'the password is not left in the container' inside sh -c '! ls -a /var/lib/peal | grep admin-password'
check 'a job runs as its user' inside sh -c 'peal add who @manual -- id -u && peal run who --follow | grep -x 7325'
check 'time zones are there' inside peal next '0 8 * * *' --tz Asia/Shanghai -n 1

# ---- its first process ----

# What others leave behind: processes whose parent has ended, of a job and of an exec into the container.
has_no_zombies() { inside sh -c '! grep -l "^State:.Z" /proc/[0-9]*/status | grep .'; }
inside peal add orphan @manual --shell '(setsid sh -c "sleep 0.2; exit 1" &) ; exit 0' >/dev/null
inside peal run orphan --wait >/dev/null || :
inside sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.2 &) ; done'
check 'it reaps what others leave behind' within 30 has_no_zombies
inside peal add long @manual --shell 'trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.1; done' >/dev/null
inside sh -c 'echo "{name: stubborn, schedule: \"@manual\", grace: 1s, shell: \"trap : TERM; echo up; while :; do sleep 0.1; done\"}" | peal apply -f -' >/dev/null
inside peal run long >/dev/null
inside peal run stubborn >/dev/null
are_up() { inside sh -c 'peal logs long | grep -x up && peal logs stubborn | grep -x up'; }
check 'two jobs run' within 30 are_up
began=$(date +%s)
kill -TERM "$first"
check 'told to stop, it ends, with status 0' ended_with 0
check 'within the grace of its jobs, and not much more' test $(($(date +%s) - began)) -le 20
start
check 'the jobs ended with it, and are on record' inside sh -c \
    'peal logs long | grep -x bye && peal runs long | grep shutdown && peal runs stubborn | grep shutdown'
# What kills the agent alone ends the container, for its supervisor to start another.
inside peal run long >/dev/null
within 30 inside sh -c 'peal logs long | grep -x up'
# shellcheck disable=SC2016 # for the shell inside
inside sh -c 'kill -KILL "$(cat /var/lib/peal/peal.pid)"'
check 'it ends with its agent, and says how' ended_with 137
start
check 'the job of the killed agent has an end' within 30 inside sh -c 'peal runs long -n 1 -o json | grep -E "\"state\": *\"(killed|lost)\""'
kill -TERM "$first"
check 'an idle container stops at once' ended
umount -l "$root/dev"

echo "$((checks - failed)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]
