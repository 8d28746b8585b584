#!/bin/bash
# Three nodes on one etcd: a delivery that comes to all of them at once, many times, makes one run;
# also when the node that made it is killed in the middle, and its body goes with the run.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/webhook_lib.sh"
etcd_start
log=$scratch/log
mapfile -t ports < <(free_ports && free_ports)
nodes=(a b c)
for i in 0 1 2; do
    start_agent "${nodes[$i]}" --node-id "${nodes[$i]}" --store "$etcd_url/test" --listen "127.0.0.1:${ports[$i]}"
done

cat >"$scratch/jobs.yaml" <<YAML
name: counts
schedule: "@manual"
overlap: allow
shell: echo "\$PEAL_WEBHOOK_DELIVERY \$(sha256sum <"\$PEAL_INPUT" | cut -c1-64)" >>$log
---
name: moves
schedule: "@manual"
retries: {count: 1, wait: 0s, on: lost}
shell: |
  echo "\$PEAL_NODE \$(sha256sum <"\$PEAL_INPUT" | cut -c1-64)" >>$log.moves
  [ \$PEAL_ATTEMPT = 2 ] || sleep 600
YAML
run peal apply -f "$scratch/jobs.yaml"
expect_status 0
make_webhook counts --kind github --rate 600/s
path=/hooks/${url##*/}
head -c 200000 /dev/urandom >"$scratch/body"
sum=$(sha256sum <"$scratch/body" | cut -c1-64)
signature=$(sign_github "$secret" "$scratch/body")

# shellcheck disable=SC2317 # wait_until calls it
all_take_runs() {
    [ "$(peal nodes -o json | jq '[.[] | select(.state == "ready")] | length')" = 3 ]
}

# shellcheck disable=SC2317 # likewise
knows_hook() { # PORT
    [ "$(curl -sS -o "$scratch/known" -w '%{http_code}' -X POST --data-binary "@$scratch/body" \
        -H "X-Hub-Signature-256: $signature" "http://127.0.0.1:$1$path")" = 400 ]
}

# shellcheck disable=SC2317 # likewise
has_lines() { # FILE COUNT
    [ "$(wc -l <"$1")" -ge "$2" ]
}

wait_until all_take_runs
for port in "${ports[@]:0:3}"; do
    wait_until knows_hook "$port" # the signature is right, and an id is missing
done

deliver() { # PORT ID ANSWER
    curl -sS -o "$3" -X POST --data-binary "@$scratch/body" -H "X-Hub-Signature-256: $signature" \
        -H "X-GitHub-Delivery: $2" "http://127.0.0.1:$1$path"
}

# Ten deliveries, each to every node twice and at the same moment.
for n in 0 1 2 3 4 5 6 7 8 9; do
    senders=()
    for i in 0 1 2; do
        deliver "${ports[$i]}" "d$n" "$scratch/answer.$n.$i.1" &
        senders+=($!)
        deliver "${ports[$i]}" "d$n" "$scratch/answer.$n.$i.2" &
        senders+=($!)
    done
    wait "${senders[@]}" # and not for etcd
    run sh -c "jq -rs '[(map(.run_id) | unique | length), (map(select(.repeated == false)) | length)] | @csv' '$scratch'/answer.$n.*"
    expect_stdout '1,1'
done
wait_until has_lines "$log" 10
run sh -c "sort '$log'"
expect_stdout "$(for n in 0 1 2 3 4 5 6 7 8 9; do echo "d$n $sum"; done)"

# A node is killed while deliveries come to it; whoever sends tries again, elsewhere.
last=${ports[2]}
senders=()
for n in 0 1 2 3 4 5 6 7; do
    deliver "$last" "k$n" "$scratch/killed.$n" 2>/dev/null &
    senders+=($!)
    [ $n != 4 ] || processes_with "$scratch/c" | xargs -r kill -9 2>/dev/null
done
wait "${senders[@]}"
for n in 0 1 2 3 4 5 6 7; do
    deliver "${ports[0]}" "k$n" "$scratch/again.$n"
    run jq -r '.run_id | length' "$scratch/again.$n"
    expect_stdout 26
done
export PEAL_DATA=$scratch/a
wait_until has_lines "$log" 18
run sh -c "cut -d' ' -f1 '$log' | sort | uniq -d"
expect_stdout ''
for n in 0 1 2 3 4 5 6 7; do # what the dead node has answered is what the others say
    if [ -s "$scratch/killed.$n" ]; then
        run jq -r .run_id "$scratch/again.$n"
        expect_stdout "$(jq -r .run_id "$scratch/killed.$n")"
    fi
done

# The machine of a run is gone: the next attempt, on another node, has the same body.
start_agent c --node-id c --store "$etcd_url/test" --listen "127.0.0.1:$last"
wait_until all_take_runs
make_webhook moves --kind github
post_github "http://127.0.0.1:${ports[0]}/hooks/${url##*/}" "$secret" moved "$scratch/body"
expect_code 202
id=$(jq -r .run_id "$scratch/out")
wait_until has_lines "$log.moves" 1
dead=$(cut -d' ' -f1 "$log.moves")
for word in "--dir $scratch/$dead/" "$scratch/$dead" "$log.moves"; do
    processes_with "$word" | xargs -r kill -9 2>/dev/null
done
for node in a b c; do
    [ $node = "$dead" ] || export PEAL_DATA=$scratch/$node
done
wait_until has_lines "$log.moves" 2
run sh -c "cut -d' ' -f2 '$log.moves' | uniq -c | awk '{print \$1, \$2}'"
expect_stdout "2 $sum"
# shellcheck disable=SC2317 # wait_until calls it
is_recorded() {
    [ "$(peal runs "$id" -o json | jq -c '.[0] | [.state, .input.size, .cause]')" = '["lost",200000,"webhook"]' ]
}
wait_until is_recorded
finish
