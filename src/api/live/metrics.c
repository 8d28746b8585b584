#include "live/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const double duration_bounds[] = {0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14400, 86400};
static const double lateness_bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                         0.25,  0.5,    1,     2.5,  5,     10,   60};
static const double store_bounds[] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                      0.05,   0.1,   0.25,   0.5,   1,    5};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void metrics_init(struct metrics *metrics)
{
    *metrics = (struct metrics){
        .duration = {.bounds = duration_bounds, .count = COUNT(duration_bounds)},
        .lateness = {.bounds = lateness_bounds, .count = COUNT(lateness_bounds)},
        .store = {.bounds = store_bounds, .count = COUNT(store_bounds)},
    };
}

/* ---- counting ---- */

static void histogram_add(struct histogram *histogram, double seconds)
{
    size_t at = 0;
    while (at < histogram->count && seconds > histogram->bounds[at])
        at++;
    histogram->below[at]++;
    histogram->sum += seconds;
}

static void count_end(struct end_counts *to, enum run_state state, enum run_reason reason,
                      int64_t count)
{
    unsigned row = state < RUN_STATES ? state : RUN_STATES;
    unsigned column = reason < REASONS ? reason : REASONS;
    to->counts[row][column] += (uint64_t)count;
}

static void note_end(struct metrics *metrics, const struct run *run, const struct catalog_job *job)
{
    count_end(run_is_step(run) ? &metrics->steps : &metrics->ended, run->state, run->reason, 1);
    if (!run->started_ms || run_is_step(run))
        return;
    if (run->finished_ms >= run->started_ms)
        histogram_add(&metrics->duration, (double)(run->finished_ms - run->started_ms) / 1000);
    if (run->cause == CAUSE_TICK && run->attempt == 1) {
        int64_t due_ms = run->tick_ms + (job ? catalog_job_jitter_ms(job) : 0);
        int64_t late_ms = run->started_ms > due_ms ? run->started_ms - due_ms : 0;
        histogram_add(&metrics->lateness, (double)late_ms / 1000);
    }
}

static void note_run(struct metrics *metrics, const struct run *run, const struct catalog_job *job)
{
    if (run_is_unfollowed(run)) /* it comes again, with the time of its end */
        return;
    if (run_state_is_end(run->state))
        note_end(metrics, run, job);
    else if (run->state == RUN_CLAIMED)
        metrics->claims++;
    else if (run->state == RUN_BEGUN)
        metrics->begins++;
}

void metrics_note(struct metrics *metrics, const struct store_change *change,
                  const struct catalog_job *job)
{
    switch (change->kind) {
    case STORE_CHANGE_RUN:
        note_run(metrics, change->run, job);
        break;
    case STORE_CHANGE_ENTRY:
        count_end(&metrics->passed, change->entry->state, change->entry->reason,
                  change->entry->count);
        break;
    case STORE_CHANGE_KILL:
        metrics->kills++;
        break;
    case STORE_CHANGE_JOB:
    case STORE_CHANGE_DELETE:
        metrics->changes_of_jobs++;
        break;
    case STORE_CHANGE_LEADER:
        snprintf(metrics->leader, sizeof(metrics->leader), "%s", change->leader);
        break;
    case STORE_CHANGE_CURSOR:
    case STORE_CHANGE_FORGET:
    case STORE_CHANGE_META:
    case STORE_CHANGE_PEER:
    case STORE_CHANGE_DRAIN:
    case STORE_CHANGE_DOC:
    case STORE_CHANGE_ASIDE:
    case STORE_CHANGE_LOADED:
        break;
    }
}

void metrics_note_store(struct metrics *metrics, double seconds)
{
    histogram_add(&metrics->store, seconds);
}

/* ---- printing ---- */

static void print_head(struct strbuf *out, const char *name, const char *type, const char *help)
{
    strbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_print_counter(struct strbuf *out, const char *name, const char *help, uint64_t value)
{
    print_head(out, name, "counter", help);
    strbuf_addf(out, "%s %" PRIu64 "\n", name, value);
}

void metrics_print_gauge(struct strbuf *out, const char *name, const char *help, double value)
{
    print_head(out, name, "gauge", help);
    strbuf_addf(out, "%s %.17g\n", name, value);
}

static void print_histogram(struct strbuf *out, const char *name, const char *help,
                            const struct histogram *histogram)
{
    uint64_t total = 0;
    print_head(out, name, "histogram", help);
    for (size_t i = 0; i < histogram->count; i++) {
        total += histogram->below[i];
        strbuf_addf(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, histogram->bounds[i], total);
    }
    total += histogram->below[histogram->count];
    strbuf_addf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, total);
    strbuf_addf(out, "%s_sum %.17g\n%s_count %" PRIu64 "\n", name, histogram->sum, name, total);
}

/* The states without a reason are always there, so that rates start at zero. */
static void print_states(struct strbuf *out, const char *name, const char *help,
                         const struct end_counts *ends, enum run_state first)
{
    print_head(out, name, "counter", help);
    for (unsigned state = first; state <= RUN_STATES; state++) {
        for (unsigned reason = 0; reason <= REASONS; reason++) {
            uint64_t count = ends->counts[state][reason];
            if (!count && (reason != REASON_NONE || state == RUN_STATES))
                continue;
            strbuf_addf(out, "%s{state=\"%s\",reason=\"%s\"} %" PRIu64 "\n", name,
                        state < RUN_STATES ? run_state_name((enum run_state)state) : "newer",
                        reason < REASONS ? run_reason_name((enum run_reason)reason) : "newer",
                        count);
        }
    }
}

void metrics_print(const struct metrics *metrics, struct strbuf *out)
{
    print_states(out, "peal_runs_total",
                 "Runs that ended, by state and reason; a lost one that is amended counts twice.",
                 &metrics->ended, RUN_OK);
    print_states(out, "peal_steps_total",
                 "Steps of workflows that ended, by state and reason; peal_runs_total has their "
                 "instances.",
                 &metrics->steps, RUN_OK);
    print_states(out, "peal_ticks_passed_total", "Ticks that no run was made for, by reason.",
                 &metrics->passed, RUN_SKIPPED);
    metrics_print_counter(out, "peal_claims_total",
                          "Ticks and runs that were claimed, by any node.", metrics->claims);
    metrics_print_counter(out, "peal_begins_total", "Runs that were begun, by any node.",
                          metrics->begins);
    metrics_print_counter(out, "peal_kills_total", "Orders to kill a run.", metrics->kills);
    metrics_print_counter(out, "peal_job_changes_total", "Jobs that were put or deleted.",
                          metrics->changes_of_jobs);
    print_head(out, "peal_logins_total", "counter", "Logins on this node, by what came of them.");
    strbuf_addf(out, "peal_logins_total{result=\"ok\"} %" PRIu64 "\n", metrics->logins);
    strbuf_addf(out, "peal_logins_total{result=\"wrong\"} %" PRIu64 "\n", metrics->wrong_logins);
    metrics_print_counter(out, "peal_api_throttled_total",
                          "Requests that were refused for being too many, or too often wrong.",
                          metrics->throttled);
    print_histogram(out, "peal_run_duration_seconds", "From start to end.", &metrics->duration);
    print_histogram(out, "peal_run_lateness_seconds",
                    "From when a tick was due, its jitter included, to its start.",
                    &metrics->lateness);
    print_histogram(out, "peal_store_request_seconds",
                    "Requests of this API to the store, until they were answered.",
                    &metrics->store);
    if (metrics->leader[0]) {
        print_head(out, "peal_leader", "gauge", "Which node leads.");
        strbuf_addf(out, "peal_leader{node=\"%s\"} 1\n", metrics->leader);
    }
}
