# Sourced by run.sh: etcd as the store, three members on machines of their own. See place.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # what place.sh has and asks for

members=(0 1 2)
address+=([etcd-0]=$subnet.11 [etcd-1]=$subnet.12 [etcd-2]=$subnet.13)
etcd_pids=()
etcd_urls=() # of clients
etcd_peers=()
does_to+=([kill_etcd]=store [kill_etcd_leader]=store [move_etcd_leader]=store
    [cut_etcd_leader]=store [no_quorum]=store [restore]=store [restore_twice]=store)

start_member() { # NUMBER [DATA_FOLDER]: with the same data as before
    local all
    all=$(for i in "${members[@]}"; do echo "m$i=${etcd_peers[i]}"; done | paste -sd ,)
    inside "etcd-$1" setpriv --pdeathsig KILL etcd --name "m$1" \
        --data-dir "${2:-$(readlink "$scratch/etcd-$1")}" --unsafe-no-fsync --logger zap \
        --listen-client-urls "${etcd_urls[$1]}" --advertise-client-urls "${etcd_urls[$1]}" \
        --listen-peer-urls "${etcd_peers[$1]}" --initial-advertise-peer-urls "${etcd_peers[$1]}" \
        --initial-cluster "$all" >>"$scratch/etcd-$1.log" 2>&1 &
    etcd_pids[$1]=$!
    disown # or its end would be told
}

kill_member() { # NUMBER
    kill_hard "${etcd_pids[$1]}"
}

start_servers() {
    local i host ports
    command -v etcd >/dev/null || {
        echo 'skipped: there is no etcd here; Debian has it in etcd-server'
        exit 77
    }
    for i in "${members[@]}"; do
        host=127.0.0.1
        mapfile -t ports < <(free_ports)
        [ -z "$can_cut" ] || host=${address[etcd-$i]} ports=(2379 2380)
        etcd_urls[i]=http://$host:${ports[0]}
        etcd_peers[i]=http://$host:${ports[1]}
        mkdir "$scratch/etcd-$i.data"
        ln -s "$scratch/etcd-$i.data" "$scratch/etcd-$i"
    done
    for i in "${members[@]}"; do
        start_member "$i"
    done
    # shellcheck disable=SC2034 # of place.sh
    endpoints=$(printf '%s\n' "${etcd_urls[@]#http://}" | paste -sd ,)
    etcd_count=3
    store_url="etcd://$endpoints$prefix"
    wait_for 30 etcd_is_well
}

end_servers() {
    local i
    for i in "${members[@]}"; do
        kill -9 "${etcd_pids[i]}" 2>/dev/null
    done
}

store_is_well() { etcd_is_well; }
store_version() { etcd --version | head -n 1; }

# Tells each state of runs that wait for nothing when it is written: TIMES VALUE.
tell_runs() {
    setpriv --pdeathsig KILL "${hub[@]}" etcdctl --endpoints "$endpoints" \
        watch --prefix "$prefix/runs/" -w fields 2>/dev/null |
        awk '$1 == "\"Version\"" { times = $3 } $1 == "\"Value\"" { print times, $0; fflush() }'
}

ctl() { # ARGUMENT...
    ETCDCTL_API=3 inside hub etcdctl --endpoints "$endpoints" --command-timeout 3s "$@"
}

member_url() { echo "${etcd_urls[$1]#http://}"; } # NUMBER

