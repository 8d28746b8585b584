#!/bin/bash
# Imported jobs beside the crontab that still runs: the report, the take-over and the way back.
. "$(dirname "$0")/lib.sh"
start_agent data --listen none

# A crontab(1) of the test's own, which keeps its text in a file.
mkdir "$scratch/bin"
cat >"$scratch/bin/crontab" <<END
#!/bin/sh
case \$1 in
-l) cat "$scratch/tab" ;;
-) cat >"$scratch/tab.new"
   ! grep -q refuse "$scratch/refuses" 2>/dev/null || exit 1
   mv "$scratch/tab.new" "$scratch/tab" ;;
esac
END
chmod +x "$scratch/bin/crontab"
PATH=$scratch/bin:$PATH
export HOME=$scratch/home
mkdir -p "$HOME"
cat >"$scratch/tab" <<'END'
# my crontab
* * * * * echo every
0 3 * * * echo nightly
@daily    echo other
END
cp "$scratch/tab" "$scratch/before"

# ---- shadow: each tick is recorded, nothing is started ----
run peal import crontab --shadow
expect_status 0
expect_stdout_has 'shadow: cron'
run peal import crontab --shadow --apply
expect_status 0
expect_stdout_has 'created echo'
run peal get echo -o json
expect_json '[.paused, .labels.shadow]' '[true,"cron"]'
# shellcheck disable=SC2317 # wait_until calls it
skipped() { peal runs echo --ledger -o json | jq -e 'any(.[]; .state == "skipped" and .reason == "paused")' >"$scratch/jq"; }
peal add echo '* * * * * *' --replace --paused --label shadow=cron --shell 'echo every' >"$scratch/ignored"
wait_until skipped
run peal runs echo -o json
expect_json length 0
run peal import crontab --shadow --apply --replace
expect_status 0

# ---- the report ----
minute=$(date -u -d '2026-11-18 02:58' +%s)
for i in 0 1 2 3 4; do
    at=$(date -u -d "@$((minute + 60 * i))" +%FT%T+0000)
    [ "$i" = 3 ] || echo "$at host CRON[1]: ($(id -un)) CMD (echo every)"
    [ "$i" != 2 ] || echo "$at host CRON[2]: ($(id -un)) CMD (echo nightly)"
done >"$scratch/log"
echo "$(date -u -d "@$((minute + 90))" +%FT%T+0000) host CRON[3]: (root) CMD (echo other)" >>"$scratch/log"
run peal shadow report --log "$scratch/log" -o json
expect_status 1
expect_json '[.[] | [.job, .equal, .only_cron, .only_peal]] | sort' '[["echo",4,0,1],["echo-2",1,0,0],["echo-3",0,1,0]]'
expect_json '[.[].differences[] | [.at, .only, .why]] | sort' \
    '[["2026-11-18T02:59:30Z","cron","not a tick of the job'"'"'s schedule"],["2026-11-18T03:01:00Z","peal","cron has logged nothing then"]]'
run peal --lang zh shadow report --log "$scratch/log"
expect_stdout_has '此时 cron 没有任何记录'
run peal shadow report --log "$scratch/log" --until '2026-11-18T02:59:10Z' --since '2026-11-18T02:58:00Z'
expect_status 0
run peal shadow report --log "$scratch/tab"
expect_status 6
run peal shadow report
expect_status 2

# ---- take-over: cron's lines go, the jobs come ----
run peal shadow takeover
expect_status 0
expect_stdout_has 'changed echo'
expect_stderr_has "$HOME/.crontab.peal-backup"
run cat "$scratch/tab"
expect_stdout_has '# my crontab'
expect_stdout_has '#peal# * * * * * echo every'
expect_stdout_has '#peal# @daily    echo other'
run cmp "$HOME/.crontab.peal-backup" "$scratch/before"
expect_status 0
run peal get echo -o json
expect_json '[.paused // false, .labels.shadow]' '[false,"taken"]'
run peal run echo --follow
expect_stdout every
run peal shadow takeover
expect_status 3

# ---- the way back ----
run peal shadow back
expect_status 0
run cmp "$scratch/tab" "$scratch/before"
expect_status 0
run peal get echo-2 -o json
expect_json '[.paused, .labels.shadow]' '[true,"cron"]'

# ---- a crontab that can't be written: the jobs stay as they were ----
echo refuse >"$scratch/refuses"
run peal shadow takeover
expect_status 1
expect_stderr_has 'nothing was changed'
run peal get echo -o json
expect_json '[.paused, .labels.shadow]' '[true,"cron"]'
run cmp "$scratch/tab" "$scratch/before"
expect_status 0

# ---- a file with users, as below /etc/cron.d ----
printf '5 4 * * * nobody echo file\n' >"$scratch/file"
chmod 640 "$scratch/file"
run peal import crontab "$scratch/file" --system --shadow --apply --prefix d/
expect_status 0
run peal shadow takeover "$scratch/file" --system
expect_status 0
run cat "$scratch/file"
expect_stdout '#peal# 5 4 * * * nobody echo file'
run stat -c %a "$scratch/file"
expect_stdout 640
run cat "$scratch/.file.peal-backup"
expect_stdout '5 4 * * * nobody echo file'
run peal shadow back "$scratch/file" --system
expect_status 0
run cat "$scratch/file"
expect_stdout '5 4 * * * nobody echo file'
run peal shadow back --system
expect_status 2
finish
