# Sourced by benchmarks that are scripts: an etcd of their own, whose writes reach the disk. It runs
# until descriptor 3, the pipe $work/etcd, is closed: programs that stay must not inherit it (3>&-).
# shellcheck shell=sh disable=SC2154 # the script has made $work

# A new one, without what the one before has written. `etcd` is its address; "none": none is installed.
start_etcd() { # CLUSTER_BENCH [PART]
    exec 3>&-
    wait
    [ -p "$work/etcd" ] || mkfifo "$work/etcd"
    rm -f "$work/address"
    "$1" "${2:-etcd}" <"$work/etcd" >"$work/address" &
    exec 3>"$work/etcd"
    while ! [ -s "$work/address" ]; do
        sleep 0.1
    done
    etcd=$(cat "$work/address")
}

# Ends the script where there is none.
need_etcd() {
    if [ "$etcd" = none ]; then
        echo 'skipped: there is no etcd here; Debian has it in etcd-server'
        exit 0
    fi
}
