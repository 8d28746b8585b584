# What several nodes have on record, as one list like that of `peal runs --ledger`, newest first.
# Each node's list is an input (jq -s). Of a run or an entry that several nodes tell of:
#   an end goes before what is still open; any other end before `lost`, which it amends; and how
#   it was lost by the word of its home before that its node was taken for dead;
#   ends that contradict each other are all named, which the checker does not take for an end.
# A pending entry is what a node made up of its own copy of the jobs when it was asked: nobody has
# recorded it, and the entry that is recorded later has another id. It gives way to that one, which
# a list that was saved earlier does not have.
def is_end: IN("ok", "failed", "timed_out", "killed", "lost", "skipped", "missed");

def one_of:
    (map(select(.state | is_end)) | if length > 0 then . else null end) as $ended
    | ($ended // .) as $all
    | ($all | map(select(.state != "lost")) | if length > 0 then . else $all end) as $known
    | ($known | map(select([.state, .reason] != ["lost", "node_died"])) | if length > 0 then . else $known end) as $best
    | ($best | map([.state, .reason]) | unique) as $ends
    | $best[0]
    | if ($ends | length) > 1 and $ended then .state = ($ends | map(join("-")) | join(" and ")) else . end;

# ISO times of one length: their order is that of their texts.
def covers($pending): .job == $pending.job and .from <= $pending.to and .to >= $pending.from;

add
| map(select(.entry_id and (.pending | not))) as $recorded
| map(select((.pending | not) or (. as $pending | any($recorded[]; covers($pending)) | not)))
| group_by(.run_id // .entry_id) | map(one_of) | sort_by(.run_id // .entry_id) | reverse
