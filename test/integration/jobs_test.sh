#!/bin/bash
# A job's life on the command line: added, looked at, changed, paused, deleted, brought back.
. "$(dirname "$0")/lib.sh"
start_agent data

run peal list
expect_status 0
expect_stdout ''
expect_stderr 'no jobs; add one: peal add NAME SCHEDULE -- COMMAND'

# add
run peal add backup '30 2 * * *' --tz America/New_York --env A=1 --env B=x=y --label team=ops \
    --owner ann --notes 'every night' --timeout 1h30m --overlap queue --catch-up all --jitter 5m \
    --where 'zone=eu,!gpu' --cwd / -- /bin/echo --full 'two words'
expect_status 0
expect_stdout ''
expect_stderr_has 'backup: created; next run: '
run peal get backup -o json
expect_status 0
expect_json '[.name, .schedule, .timezone, .command, .env, .labels, .owner, .notes, .timeout, .jitter, .where, .cwd]' \
    '["backup","30 2 * * *","America/New_York",["/bin/echo","--full","two words"],{"A":"1","B":"x=y"},{"team":"ops"},"ann","every night","1h30m","5m","zone=eu,!gpu","/"]'
run peal add weekly '0 9 * * MON' '0 12 * * SAT' --shell 'echo "at home"' --paused
expect_status 0
run peal get weekly -o json
expect_json '[.schedules, .shell, .paused]' '[["0 9 * * MON","0 12 * * SAT"],"echo \"at home\"",true]'
run peal add team/report @manual -- true
expect_status 0
expect_stderr 'team/report: created; next run: none by itself'
run peal get team/report -o name
expect_stdout team/report

# add: mistakes, each with its exit status.
while IFS='|' read -r want_status want args; do
    eval "run peal add $args"
    expect_status "$want_status"
    expect_stderr_has "$want"
done <<'TABLE'
6|minute 75 is out of range 0-59|x '75 * * * *' -- true
6|may hold letters, digits|'a b' @daily -- true
6|overlap|x @daily --overlap never -- true
6|where|x @daily --where 'zone=' -- true
6|unknown time zone|x @daily --tz Mars/X -- true
4|there is a job named "backup" already|backup @daily -- true
2|which name?|
2|when?|x
2|what?|x @daily
2|is enough|x @daily --shell true -- true
2|--env is NAME=VALUE|x @daily --env A -- true
2|unknown option --timout; did you mean --timeout?|x @daily --timout 1m -- true
TABLE
run peal list -o name
expect_stdout "backup
team/report
weekly"

run peal add backup '0 3 * * *' --replace -- true
expect_status 0
expect_stderr_has 'backup: replaced'

# list and get
run peal list
expect_status 0
expect_stdout_has 'NAME         SCHEDULE'
expect_stdout_has 'weekly       0 9 * * MON; 0 12 * * SAT'
run peal list --paused -o name
expect_stdout weekly
run peal list -q port -o name
expect_stdout team/report
run peal list --label team=ops -o name
expect_stdout ''
run peal list -o json
expect_json '[.[].name]' '["backup","team/report","weekly"]'
run peal list backup
expect_status 2
run peal list -o xml
expect_status 2
run peal get backup weekly -o json
expect_json '[.[].name]' '["backup","weekly"]'

# A name that is not there, with one that is near.
for command in get describe pause run runs logs why kill delete edit next; do
    run peal $command bakcup
    expect_status 3
    expect_stderr 'peal: no job is named "bakcup"; did you mean backup?'
done
run peal get qqqqqqqq
expect_status 3
expect_stderr_has 'see: peal list'

# describe
run peal describe weekly
expect_status 0
expect_stdout_has 'Schedule    0 9 * * MON'
expect_stdout_has 'At 09:00 every Monday'
expect_stdout_has 'Next ticks'
expect_stdout_has 'No runs yet'

# next, of a job
run peal next backup -n 2 -o json
expect_status 0
expect_json '[.job, (.fires | length)]' '["backup",2]'
run peal next backup --tz UTC
expect_status 2

# pause, resume, skip-next
run peal pause backup team/report
expect_status 0
expect_stderr "backup: paused
team/report: paused"
run peal list --paused -o name
expect_stdout "backup
team/report
weekly"
run peal next backup -n 1
expect_status 0
expect_stderr_has 'backup is paused'
run peal resume backup team/report weekly
expect_status 0
run peal list --paused -o name
expect_stdout ''
first=$(peal get backup -o json | jq -r .status.next_at)
run peal skip-next backup
expect_status 0
expect_stderr 'backup: skips 1'
run peal next backup -n 1
expect_stdout_has 'left out: skip-next'
[ "$(peal get backup -o json | jq -r .status.next_at)" != "$first" ] || mismatch 'not skipped'
run peal skip-next backup -n 0
expect_status 0
expect_stderr 'backup: skips nothing any more'
[ "$(peal get backup -o json | jq -r .status.next_at)" = "$first" ] || mismatch 'still skipped'
run peal skip-next backup -n 0
expect_status 0
run peal skip-next backup
expect_status 0

# by a filter: a look, then all of them
run peal pause --label team=none
expect_status 3
expect_stderr 'peal: no job matches'
run peal pause backup --all
expect_status 2
run peal pause --dry-run backup
expect_status 2
run peal add many/a @daily --label team=many --paused -- true
run peal add many/b @daily --label team=many -- true
run peal add many/c @daily --label team=many -- sleep 600
run peal pause --label team=many --dry-run
expect_status 0
expect_stderr 'pause 2 of 3 that match: many/b, many/c
left alone: 1, they are paused already'
run peal pause --label team=many
expect_status 0
expect_stderr 'pause 2 of 3 that match: many/b, many/c
left alone: 1, they are paused already
2 jobs: paused'
run peal list --paused -o name
expect_stdout "many/a
many/b
many/c"
run peal run many/c
run peal kill --query many/
expect_status 0
expect_stderr 'kill 1 of 3 that match: many/c
left alone: 2, they have no run that is under way or waits
1 job: their runs were told to end'
run peal delete --label team=many --status paused --yes
expect_status 0
expect_stderr 'delete 3 of 3 that match: many/a, many/b, many/c
3 jobs: deleted'
run peal delete --status odd
expect_status 6

# edit: an editor that changes, one that does not, one that gets it wrong once, one that never
# gets it right, and one that is overtaken.
EDITOR="sed -i s/03:00/03:00/" run peal edit backup
expect_status 0
expect_stderr 'backup: not changed'
EDITOR="sed -i 's/0 3/15 4/'" run peal edit backup
expect_status 0
expect_stderr 'backup: changed'
run peal get backup -o json
expect_json .schedule '"15 4 * * *"'

# Without a terminal the first refusal is the last; the text is kept.
cat >"$scratch/editor" <<'END'
#!/bin/sh
echo "# once more" >>"$1"
sed -i 's/15 4/99 4/' "$1"
echo edited >>"$0.count"
END
chmod +x "$scratch/editor"
refused() { # TEXT
    expect_status 6
    expect_stderr_has "$1"
    expect_stderr_has 'nothing was changed; your text is in /tmp/'
    kept=$(sed -n 's/.* your text is in //p' "$scratch/err")
}
EDITOR=$scratch/editor run peal edit backup
refused 'minute 99 is out of range 0-59'
run cat "$scratch/editor.count"
expect_stdout edited
run grep -c '99 4' "$kept"
expect_stdout 1
rm -f "$kept"
EDITOR="sed -i 's/name: .*/name: other/'" run peal edit backup
refused "name can't be changed"
rm -f "$kept"

# On one, the editor opens again if that is wanted, with the reason at the top.
cat >"$scratch/editor" <<'END'
#!/bin/sh
# Wrong at first; once it is told why, right.
if grep -q '^# Line' "$1"; then
    sed 's/^/told: /' "$1" >"$0.told"
    sed -i 's/99 4/20 4/' "$1"
else
    sed -i 's/15 4/99 4/' "$1"
fi
END
printf '\n' >"$scratch/enter"
EDITOR=$scratch/editor run_with_stdin "$scratch/enter" script -qec 'peal edit backup' /dev/null
expect_status 0
expect_stdout_has 'Edit it again? [Y/n]'
run cat "$scratch/editor.told"
expect_stdout_has 'minute 99 is out of range 0-59'
run peal get backup -o json
expect_json .schedule '"20 4 * * *"'
EDITOR=false run peal edit backup
expect_status 1
expect_stderr_has 'the editor (false) failed'
cat >"$scratch/overtaken" <<END
#!/bin/sh
peal add backup '1 1 * * *' --replace -- true 2>/dev/null
sed -i 's/20 4/21 4/' "\$1"
END
chmod +x "$scratch/overtaken"
EDITOR=$scratch/overtaken run peal edit backup
expect_status 4
expect_stderr_has 'was changed by someone else meanwhile'
expect_stderr_has 'your text is in /tmp/'
kept=$(sed -n 's/.* your text is in //p' "$scratch/err")
run cat "$kept"
expect_stdout_has '21 4'
rm -f "$kept"
run peal get backup -o json
expect_json .schedule '"1 1 * * *"'

# delete and undelete
run peal delete backup weekly --yes
expect_status 0
run peal list -o name
expect_stdout team/report
run peal list --deleted -o name
expect_stdout "backup
many/a
many/b
many/c
weekly"
run peal why backup
expect_status 3
expect_stderr 'peal: "backup" was deleted; back with: peal undelete backup'
run peal runs backup # they are on record
expect_status 0
run peal undelete backup
expect_status 0
run peal get backup -o json
expect_json .schedule '"1 1 * * *"'
run peal undelete backup
expect_status 4

# On a narrow terminal the status is the last column to go, and the problem stays before the owner.
shown() { # COLUMNS COMMAND...: the header, on a terminal of that width
    local columns=$1
    shift
    run script -qec "stty cols $columns; NO_COLOR=1 $*" /dev/null
    sed -n 1p "$scratch/out" | tr -d '\r' >"$scratch/head"
    mv "$scratch/head" "$scratch/out"
}
run peal add narrow/first @manual -- true
run peal add narrow/with-a-long-name-that-is-cut --after narrow/first --owner anna -- true
peal delete narrow/first --yes 2>/dev/null # which is its problem
shown 160 peal list -o wide
expect_stdout_has STATUS
expect_stdout_has 'PROBLEM'
expect_stdout_has OWNER
shown 80 peal list -o wide
expect_stdout_has STATUS
expect_stdout_has PROBLEM
expect_stdout_lacks OWNER
shown 60 peal list
expect_stdout_has STATUS
expect_stdout_has NAME
expect_stdout_lacks NEXT
shown 24 peal list
expect_stdout_has STATUS
shown 24 peal list -o wide
expect_stdout_has STATUS
shown 60 peal runs
expect_stdout_has STATE

finish
