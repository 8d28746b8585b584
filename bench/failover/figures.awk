# What the clusters of bench/failover have noted (PHASE STATE WAIT TIMES), as a line for each phase, and for all of
# them, of ticks whose run was not begun and of those whose was:
# PHASE "claimed"|"begun" TICKS P50 P90 P99 MOST SKIPPED DOUBLED
function note(phase, state) {
    if (!(phase in seen)) {
        seen[phase] = 1
        phases[++phase_count] = phase
    }
    waits[phase, state, ++ticks[phase, state]] = $3
    skipped[phase, state] += $2 == "skipped"
    doubled[phase, state] += $4 == "doubled"
}

function percentile(phase, state, percent) {
    return waits[phase, state, int((ticks[phase, state] - 1) * percent / 100) + 1]
}

function show(phase, state) {
    if (ticks[phase, state])
        print phase, state, ticks[phase, state], percentile(phase, state, 50), percentile(phase, state, 90),
            percentile(phase, state, 99), percentile(phase, state, 100), skipped[phase, state], doubled[phase, state]
}

# The input is sorted by its third column, so that the waits are.
{
    state = $2 == "claimed" ? "claimed" : "begun"
    note($1, state)
    note("all", state)
}

END {
    for (i = 1; i <= phase_count; i++) {
        show(phases[i], "claimed")
        show(phases[i], "begun")
    }
}
