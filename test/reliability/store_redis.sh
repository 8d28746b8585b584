# Sourced by run.sh: Redis as the store, a master and a replica on machines of their own, and a Sentinel
# on a third, which promotes one of them by itself. See place.sh.
# shellcheck shell=bash disable=SC2034,SC2154 # what place.sh has and asks for

members=(0 1)
address+=([redis-0]=$subnet.31 [redis-1]=$subnet.32 [sentinel]=$subnet.33)
redis_ports=(6379 6379)
redis_hosts=("${address[redis-0]}" "${address[redis-1]}")
sentinel_host=${address[sentinel]} sentinel_port=26379
redis_pids=()
does_to+=([kill_redis]=store [freeze_redis]=store [cut_redis]=store [kill_replica]=store
    [freeze_replica]=store [end_connections]=store [full_memory]=store [full_redis]=store
    [promote_lagging]=store [promote_behind]=store [restore]=store [restore_twice]=store)

# ---- servers: their data are in $scratch/redis-NUMBER, on disks of their own where that can be ----

say() { # NUMBER COMMAND...
    inside hub timeout 8 redis-cli -h "${redis_hosts[$1]}" -p "${redis_ports[$1]}" "${@:2}" 2>/dev/null
}

ask_sentinel() { # COMMAND...
    inside hub timeout 3 redis-cli -h "$sentinel_host" -p "$sentinel_port" SENTINEL "$@" 2>/dev/null
}

# Whom Sentinel names.
master() {
    local i named
    named=$(ask_sentinel get-master-addr-by-name jobs | paste -sd :)
    for i in "${members[@]}"; do
        [ "$named" != "${redis_hosts[i]}:${redis_ports[i]}" ] || echo "$i"
    done
}
replica() { echo $((1 - $(master))); }

# As a replica, unless it is the master, or nobody knows yet. Sentinel has each server that it makes a
# master or a replica write its file anew, with all that a fault has set by then: none of that is to
# outlive the fault.
start_redis() { # NUMBER [MASTER]
    local of=() master=${2:-$(master)}
    [ "${master:-$1}" = "$1" ] || of=(--replicaof "${redis_hosts[master]}" "${redis_ports[master]}")
    : >"$scratch/redis-$1/conf"
    inside "redis-$1" setpriv --pdeathsig KILL redis-server "$scratch/redis-$1/conf" --port "${redis_ports[$1]}" \
        --bind "${redis_hosts[$1]}" --protected-mode no --dir "$scratch/redis-$1" --save '' --appendonly yes \
        --appendfsync always --repl-diskless-sync-delay 0 "${of[@]}" >>"$scratch/redis-$1/log" 2>&1 &
    redis_pids[$1]=$!
    disown # or its end would be told
}

kill_redis() { # NUMBER
    kill_hard "${redis_pids[$1]}"
}

says_master() { [ "$(say "$1" ROLE | head -n 1)" = master ]; } # NUMBER

takes_writes() {
    local at
    at=$(master)
    [ -n "$at" ] && says_master "$at"
}

is_promoted() { # NUMBER
    [ "$(master)" = "$1" ] && says_master "$1"
}

is_following() {
    [ "$(say "$(master)" INFO replication | grep -c 'state=online')" = 1 ]
}
have_replica() { wait_for 30 is_following; }

# ---- what place.sh asks for ----

start_servers() {
    local i ports
    command -v redis-server >/dev/null || {
        echo 'skipped: there is no Redis here; Debian has it in redis-server'
        exit 77
    }
    if [ -z "$can_cut" ]; then
        mapfile -t ports < <(free_ports)
        redis_hosts=(127.0.0.1 127.0.0.1) redis_ports=("${ports[@]}")
        mapfile -t ports < <(free_ports)
        sentinel_host=127.0.0.1 sentinel_port=${ports[0]}
    fi
    for i in "${members[@]}"; do
        mkdir "$scratch/redis-$i"
        [ -z "$can_fill" ] || mount -t tmpfs -o size=200m "$tag" "$scratch/redis-$i"
        start_redis "$i"
    done
    wait_for 20 say 0 PING
    wait_for 20 say 1 REPLICAOF "${redis_hosts[0]}" "${redis_ports[0]}"
    mkdir "$scratch/sentinel"
    cat >"$scratch/sentinel/conf" <<END
port $sentinel_port
bind $sentinel_host
protected-mode no
dir $scratch/sentinel
sentinel monitor jobs ${redis_hosts[0]} ${redis_ports[0]} 1
sentinel down-after-milliseconds jobs 1000
sentinel failover-timeout jobs 2000
END
    inside sentinel setpriv --pdeathsig KILL redis-server "$scratch/sentinel/conf" --sentinel \
        >>"$scratch/sentinel/log" 2>&1 &
    sentinel_pid=$!
    disown
    store_url="redis+sentinel://$sentinel_host:$sentinel_port/jobs"
    wait_for 30 takes_writes
    wait_for 30 is_following
}

end_servers() {
    local i
    kill -9 "$sentinel_pid" 2>/dev/null
    for i in "${members[@]}"; do
        kill -9 "${redis_pids[i]}" 2>/dev/null
        ! mountpoint -q "$scratch/redis-$i" || umount -l "$scratch/redis-$i"
    done
}

store_is_well() { takes_writes && is_following; }
store_version() { redis-server --version; }

# Keys are those of peal's own hash, as {peal}:order has them.
keys_below() { # PREFIX
    say "$(master)" ZRANGEBYLEX '{peal}:order' "[$prefix/$1" "($prefix/$1~"
}
value_of() { # KEY: an entry is four numbers of 8 bytes, and the value
    say "$(master)" --raw HGET '{peal}:keys' "$1" | tail -c +33 | tr -d '\0'
}
is_member() { # NODE, as the store has it, whatever the agents say
    [ "$(say "$(master)" HEXISTS '{peal}:keys' "$prefix/nodes/$1")" = 1 ]
}
has_no_keys() { # PREFIX
    [ -z "$(keys_below "$1")" ]
}
leader() { # the node that is a candidate for the longest time
    local key
    for key in $(keys_below leader/); do
        say "$(master)" --raw EVAL "local e = redis.call('HGET', KEYS[1], ARGV[1])
            return e and string.format('%.0f ', struct.unpack('>I8', e, 1)) .. e:sub(33)" 1 '{peal}:keys' "$key"
    done | sort -n | head -n 1 | cut -d ' ' -f 2-
}
compact() { # all changes
    local at rev
    at=$(master) rev=$(say "$(master)" HGET '{peal}:meta' rev)
    say "$at" HSET '{peal}:meta' floor "$rev" >/dev/null
    say "$at" XTRIM '{peal}:feed' MINID "$rev-0" >/dev/null
}

# Tells each state of runs that wait for nothing when it is written: TIMES VALUE.
tell_runs() {
    local at seen newest
    at=$(master) seen=$(say "$(master)" HGET '{peal}:meta' rev)
    while newest=$(say "$at" HGET '{peal}:meta' rev) && [ -n "$newest" ]; do
        [ "$newest" = "$seen" ] || say "$at" --raw EVAL "
            local told = {}
            for _, item in ipairs(redis.call('XRANGE', KEYS[1], '(' .. ARGV[1] .. '-0', ARGV[2] .. '-0')) do
                local text, i = item[2][2], 1
                while i < #text do
                    local size = struct.unpack('>I4', text, i)
                    local key = text:sub(i + 4, i + 3 + size)
                    i = i + 4 + size
                    size = struct.unpack('>I4', text, i)
                    local entry = text:sub(i + 4, i + 3 + size)
                    i = i + 4 + size
                    if size > 0 and key:sub(1, #ARGV[3]) == ARGV[3] then
                        told[#told + 1] = string.format('%.0f ', struct.unpack('>I8', entry, 17)) .. entry:sub(33)
                    end
                end
            end
            return told" 1 '{peal}:feed' "$seen" "$newest" "$prefix/runs/"
        seen=$newest
    done
}
