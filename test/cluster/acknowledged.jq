# Every claim, held against the changes that had been acknowledged by then: a line for each run that
# goes by an older definition. Of the job `edited` each version has its own exit code, which grows;
# `paused` is paused and resumed; any other was deleted.
#   $acknowledged  lines JOB VERSION|pause|resume|delete UNIX_MS
#   $slack_ms      how far the clocks may be apart that date the claims and the changes
def ms: (.[0:19] + "Z" | fromdate) * 1000 + (.[20:23] | tonumber);

($slack_ms | tonumber) as $slack
| ($acknowledged | split("\n") | map(select(. != "") | split(" ")
    | {job: .[0], what: .[1], ms: (.[2] | tonumber)}) | group_by(.job)
    | map({key: .[0].job, value: .}) | from_entries) as $changes
| .[] | select(.claimed_at != null and .started_at != null) | . as $run
| select($changes[.job])
| (.claimed_at | ms) as $claimed_ms
| ($changes[.job] | map(select(.ms + $slack < $claimed_ms)) | last) as $last
| ($changes[.job] | map(select(.ms < $claimed_ms + $slack)) | last) as $newest
| select($last != null)
| if .job == "edited" then select(.exit_code != null and .exit_code < ($last.what | tonumber))
  elif .job == "paused" then select($last.what == "pause" and $newest.what == "pause")
  else . end
| "\(.job) \(.tick) claimed \(.claimed_at) on \(.node), exit code \(.exit_code), after \($last.what) at \($last.ms)"
