# A row of the matrix for each fault: how often it was done, what became of the ticks that were due
# meanwhile and until all was well again, and how long that took.
#
#   input=1 WINDOWS   FAULT NODE FROM_MS TO_MS WELL_MS
#   input=2 DUE       JOB TICK_MS
#   input=3 LEDGER    as in ../fault/check.sh
#   input=4 TRACE     as append_run writes it
#   input=5 TIMER     TICK_MS LATE_US
#
# Recovery is measured with the jobs probe-*, which are due every second: from the end of the fault
# to the first second from which on all of them start within LATE_MS. `well` is what the nodes say
# about themselves.

BEGIN {
    LATE_MS = 1000
    SETTLE_MS = 5000
}

input == 1 {
    count++
    fault[count] = $1
    from[count] = $3
    to[count] = $4
    until[count] = $5 + SETTLE_MS
    times[$1]++
    well = $5 - $4
    worst_well[$1] = well > worst_well[$1] ? well : worst_well[$1]
    next
}

input == 2 {
    due[$1, $2] = 1
    ticks[$1] = ticks[$1] " " $2
    next
}

input == 3 && $1 == "entry" {
    last = split(ticks[$2], of_job, " ")
    for (i = 1; i <= last; i++) {
        tick = of_job[i]
        if (tick < $3 || tick > $4)
            continue
        ends[$2, tick] += $7 !~ /^(restored|clock)$/
        covered[$2, tick] = 1
        end[$2, tick] = end[$2, tick] ? end[$2, tick] : $6
    }
    next
}

input == 3 {
    tick_of[$4] = $3
    if ($13 == "tick" || $13 == "catch_up") {
        ends[$2, $3]++
        end[$2, $3] = $6 ~ /^(skipped|missed|lost)$/ ? $6 : $7 == "no_start" ? "no start" : "ran"
    }
    next
}

input == 4 && $1 == "begin" {
    tick = tick_of[$3]
    if (begun[$2, tick, $5]++)
        doubled[$2, tick]++
    if ($2 ~ /^probe-/ && tick) {
        late = $7 - tick
        if (!(($2, tick) in late_by) || late < late_by[$2, tick])
            late_by[$2, tick] = late
    }
    next
}

input == 5 {
    if (!disturbed($1))
        timer[++timers] = $2 / 1000
    next
}

function disturbed(ms,    i) {
    for (i = 1; i <= count; i++) {
        if (from[i] - 1000 <= ms && ms <= until[i])
            return 1
    }
    return 0
}

# The i-th of n, for a share of them; the values are sorted in place the first time.
function percentile(values, n, share,    i) {
    i = int(n * share + 0.999999)
    return n == 0 ? 0 : values[i < 1 ? 1 : i]
}
function sort(values, n,    gap, i, j, value) {
    for (gap = int(n / 2); gap > 0; gap = int(gap / 2)) {
        for (i = gap + 1; i <= n; i++) {
            value = values[i]
            for (j = i; j > gap && values[j - gap] > value; j -= gap)
                values[j] = values[j - gap]
            values[j] = value
        }
    }
}

function take_tick(i, job, tick,    name, what) {
    name = fault[i]
    if (tick < to[i])
        due_in[name]++
    else
        due_after[name]++
    what = end[job, tick] ? end[job, tick] : "silent"
    if (ends[job, tick] > 1 || (ends[job, tick] + 0 == 0 && !covered[job, tick]))
        silent[name]++
    outcome[name, what]++
    twice[name] += doubled[job, tick]
    if (job ~ /^probe-/ && tick >= to[i] &&
        (!((job, tick) in late_by) || late_by[job, tick] > LATE_MS) && tick + 1000 - to[i] > back[i])
        back[i] = tick + 1000 - to[i]
}

END {
    for (key in due) {
        split(key, part, SUBSEP)
        for (i = 1; i <= count; i++) {
            if (from[i] <= part[2] && part[2] <= until[i])
                take_tick(i, part[1], part[2])
        }
        if (part[1] ~ /^probe-/ && !disturbed(part[2])) {
            quiet++
            if ((part[1], part[2]) in late_by)
                lateness[++timed] = late_by[part[1], part[2]]
        }
    }
    for (i = 1; i <= count; i++)
        worst_back[fault[i]] = back[i] > worst_back[fault[i]] ? back[i] : worst_back[fault[i]]
    print "| fault | times | due during | due after | ran | not started | skipped | missed | lost | doubled | silent | starts on time again after | well after |"
    print "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    sorter = "sort"
    for (name in times)
        printf "| `%s` | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f s | %.1f s |\n", name,
            times[name], due_in[name], due_after[name], outcome[name, "ran"],
            outcome[name, "no start"], outcome[name, "skipped"], outcome[name, "missed"], outcome[name, "lost"],
            twice[name], silent[name], worst_back[name] / 1000, worst_well[name] / 1000 | sorter
    close(sorter)
    sort(lateness, timed)
    sort(timer, timers)
    printf "\nOutside of faults and what follows them, %d ticks of the probes were due and %d began.\n\n", quiet, timed
    print "| lateness, ms | p50 | p99 | worst |"
    print "| --- | ---: | ---: | ---: |"
    printf "| a job's first line, after its tick | %.1f | %.1f | %.1f |\n", percentile(lateness, timed, 0.5),
        percentile(lateness, timed, 0.99), percentile(lateness, timed, 1)
    printf "| a bare timer beside it | %.1f | %.1f | %.1f |\n", percentile(timer, timers, 0.5),
        percentile(timer, timers, 0.99), percentile(timer, timers, 1)
}
