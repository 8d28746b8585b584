# The rules that ledger and trace are held to; see check.sh for the inputs.
#
#  1. Nothing begins twice: a (job, tick, attempt) and a run id have one line in the trace at most.
#  2. Every due tick has one end: a run, or one ledger entry that covers it; no entry covers a tick
#     that was not due, and its count is right. Of a store that was restored nobody knows which
#     ticks since the backup ran: what its entry covers has that end, or the one that is on record;
#     what ran then on a machine that died, too, is on record nowhere else.
#  3. The ends are true: ok and failed runs began and ended in the trace, all output was kept, or
#     its last line says that the spawner was killed and the rest is not there; skipped and missed
#     ones never began; what began is on record.
#  4. Fences grow: with every begin of a job, and nobody else has the same.
#  5. Runs of a job whose overlap is not `allow` never overlap, whatever was killed meanwhile. Only
#     what a node runs while it is away for longer than GIVEN_UP_MS does not count: it is given up.
#  6. With late_ms: what neither waits nor is made good later starts within it, unless something
#     was away then, or SETTLE_MS before. A run that waited for one before it which was late for
#     that reason is to start within it after the end of that one.

BEGIN {
    GIVEN_UP_MS = 500 # silent for a second, counted from its last sign of life, half a second before
    SETTLE_MS = 5000
    OUTPUT = 10   # bytes of each run
    GAP_LINE = 85 # bytes of that last line
}

function wrong(text) {
    if (++failures <= 20)
        print "WRONG: " text
}

# ---- who was away ----

input == 5 {
    away_count++
    away_node[away_count] = $1
    away_from[away_count] = $2
    away_to[away_count] = $3
    next
}

# Whether the run, of which another node does not know the end yet, may have been given up by ms.
function given_up(id, ms,    i) {
    for (i = 1; i <= away_count; i++) {
        if (away_node[i] == run_node[id] && away_from[i] + GIVEN_UP_MS <= ms &&
            begun_ms[id] <= away_to[i])
            return 1
    }
    return 0
}

function disturbed(ms,    i) {
    for (i = 1; i <= away_count; i++) {
        if (away_from[i] - 1000 <= ms && ms <= away_to[i] + SETTLE_MS)
            return 1
    }
    return 0
}

# ---- jobs ----

input == 1 {
    overlap[$1] = $4
    is_fixed_delay[$1] = $2 ~ /^@after/
    next
}

# ---- due ticks ----

input == 2 {
    due[$1, $2] = 1
    due_count++
    ticks[$1] = ticks[$1] " " $2
    tick_ms[$1, $3] = $2
    next
}

# ---- the ledger ----

input == 3 && $1 == "entry" {
    entries++
    covered = 0
    count = split(ticks[$2], of_job, " ")
    for (i = 1; i <= count; i++) {
        if (of_job[i] < $3 || of_job[i] > $4)
            continue
        covered++
        if ($7 == "restored") {
            restored[$2, of_job[i]] = 1
            continue
        }
        if ($7 == "clock") { # a note: these ticks come again, and the later word counts
            again[$2, of_job[i]] = 1
            continue
        }
        ends[$2, of_job[i]]++
        end_text[$2, of_job[i]] = end_text[$2, of_job[i]] " entry:" $6 "(" $7 ")"
    }
    if (!is_fixed_delay[$2] && covered != $5 && $7 !~ /^(restored|clock)$/)
        wrong($2 ": an entry of " $5 " ticks from " $3 " to " $4 " covers " covered " due ones")
    tally[$6 "(" $7 ")"] += $5
    next
}

input == 3 {
    runs++
    id = $4
    if (id in run_job)
        wrong($2 ": run " id " is listed twice")
    run_job[id] = $2
    run_tick[id] = $3
    run_state[id] = $6
    run_reason[id] = $7
    run_fence[id] = $8
    run_exit[id] = $11
    run_output[id] = $12
    run_cause[id] = $13
    if ($13 == "tick" || $13 == "catch_up") {
        ends[$2, $3]++
        run_ends[$2, $3]++
        end_text[$2, $3] = end_text[$2, $3] " run:" $6 "(" $7 ")"
        if (!is_fixed_delay[$2] && !(($2, $3) in due))
            wrong($2 ": run " id " of tick " $3 ", which was not due")
    }
    if ($8 > 0) {
        if ($8 in fence_of)
            wrong($2 ": runs " fence_of[$8] " and " id " have the same fence " $8)
        fence_of[$8] = id
    }
    if ($6 !~ /^(ok|failed|timed_out|killed|lost|skipped|missed)$/)
        wrong($2 ": run " id " has not ended: " $6)
    tally[$7 == "-" ? $6 : $6 "(" $7 ")"]++
    next
}

# ---- the trace ----

until != "" && $4 > until { next }

$1 == "begin" {
    begins++
    id = $3
    if (id in begun_ms)
        wrong($2 ": run " id " began twice")
    if (($2, $4, $5) in began_tick && !is_fixed_delay[$2])
        wrong($2 ": tick " $4 ", attempt " $5 " began twice: " began_tick[$2, $4, $5] " and " id)
    began_tick[$2, $4, $5] = id
    begun_ms[id] = $7
    run_node[id] = $8
    held_up[id] = disturbed(run_tick[id])
    free_ms = run_tick[id]
    if (overlap[$2] == "skip" && held_up[newest[$2]] && ended_ms[newest[$2]] > free_ms) {
        held_up[id] = 1
        free_ms = ended_ms[newest[$2]]
    }
    if (late_ms && run_cause[id] == "tick" && overlap[$2] ~ /^(allow|skip)$/ &&
        !is_fixed_delay[$2] && !disturbed(run_tick[id])) {
        late = $7 - free_ms
        on_time++
        latest = late > latest ? late : latest
        if (late > late_ms)
            wrong($2 ": run " id " began " late " ms late, with nothing away")
    }
    if (!(id in run_job) && (($2, tick_ms[$2, $4]) in restored))
        run_fence[id] = $6
    else if (!(id in run_job))
        wrong($2 ": run " id " began, but is not on record")
    else if (run_state[id] == "skipped" || run_state[id] == "missed")
        wrong($2 ": run " id " began, but is on record as " run_state[id])
    if (run_fence[id] != $6)
        wrong($2 ": run " id " was given the fence " $6 ", on record is " run_fence[id])
    if (overlap[$2] != "allow") {
        before = newest[$2]
        if (before != "" && $6 + 0 <= fence_seen[$2])
            wrong($2 ": the fence went from " fence_seen[$2] " to " $6)
        if (before != "" && !(before in ended_ms) && run_state[before] ~ /^(ok|failed)$/ &&
            !given_up(before, $7))
            wrong($2 ": run " id " began before " before " had ended")
        if (before != "" && !clock_was_set && ended_ms[before] > $7)
            wrong($2 ": run " id " began " ended_ms[before] - $7 " ms before the end of " before)
    }
    newest[$2] = id
    fence_seen[$2] = $6 + 0
    next
}

$1 == "end" {
    ended_ms[$3] = $7
    if (overlap[$2] != "allow" && newest[$2] != $3 && !given_up($3, begun_ms[newest[$2]]))
        wrong($2 ": run " $3 " ended after " newest[$2] " had begun")
    next
}

{ wrong("a line of the trace can't be read: " $0) }

END {
    for (key in due) {
        if (ends[key] == 1 || (!ends[key] && key in restored))
            continue
        if (key in again && ends[key] && run_ends[key] <= 1)
            continue
        split(key, part, SUBSEP)
        wrong(part[1] ": tick " part[2] " has " ends[key] + 0 " ends:" end_text[key])
    }
    for (id in run_job) {
        what = run_job[id] ": run " id " is " run_state[id] "(" run_reason[id] ")"
        if (run_state[id] == "ok" || (run_state[id] == "failed" && run_reason[id] == "exit_code")) {
            if (!(id in begun_ms))
                wrong(what ", but never began")
            else if (!(id in ended_ms))
                wrong(what ", but never came to its end")
            if (run_output[id] != OUTPUT &&
                (run_output[id] < GAP_LINE || run_output[id] > GAP_LINE + OUTPUT))
                wrong(what " with " run_output[id] " bytes of output instead of 10")
        }
        if (run_state[id] == "failed" && run_reason[id] == "exit_code" && run_exit[id] == "-")
            wrong(what ", but has no exit code")
    }
    if (failures > 20)
        print "... " failures " in all"
    printf "%d due ticks, %d runs, %d entries, %d begins:", due_count, runs, entries, begins
    for (end in tally)
        printf " %s=%d", end, tally[end]
    if (late_ms)
        printf "; %d of them undisturbed, the latest by %d ms", on_time, latest
    printf "\n"
    exit failures > 0
}
