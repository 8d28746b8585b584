#include "definition/job_warning.h"

#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "function/eligible.h"
#include "runs/encode.h"
#include "text/json_text.h"

static const char no_node[] = "no_node", calendar[] = "calendar", clock_word[] = "clock";

const char *job_warning_reason(struct engine *engine, const struct catalog_job *job)
{
    if (catalog_job_missing_calendar(job))
        return calendar;
    return engine_has_node(engine, job) ? NULL : no_node;
}

/* ---- no node ---- */

static void tell_no_node(struct engine *engine, const struct catalog_job *job, char *ret,
                         size_t size)
{
    char unmatched[80];
    if (eligible_is_program(job->where) || !job->where) {
        engine_tell_nobody(engine, job, ret, size);
        return;
    }
    engine_tell_unmatched(engine, job->where, unmatched, sizeof(unmatched));
    snprintf(ret, size,
             eligible_has_limits(job->where)
                 ? "no node that takes runs has the labels that its limits need: %.80s"
                 : "no node that takes runs has the labels of its where: %.80s",
             job->where);
    size_t length = strlen(ret);
    if (*unmatched && length < size)
        snprintf(ret + length, size - length, "; none has %s", unmatched);
}

static int64_t changed_ms(const struct catalog_job *job)
{
    struct json_span at;
    return json_text_get(job->json, "updated_ms", &at) ? json_text_number(&at) : 0;
}

static int64_t later(int64_t one_ms, int64_t other_ms)
{
    return one_ms > other_ms ? one_ms : other_ms;
}

/* When the last of its nodes went. If none of them is known, none was there since the job was
 * changed or ran last. */
static int64_t no_node_since_ms(const struct engine *engine, const struct catalog_job *job)
{
    int64_t gone_ms = engine_last_node_gone_ms(engine, job->where);
    return gone_ms ? gone_ms : later(changed_ms(job), job->last.started_ms);
}

/* ---- the clock ---- */

/* The clock keeps the job from running: its cursor is ahead of the clock, or the clock of the only
 * node is doubted. */
static bool waits_for_clock(struct engine *engine, const struct catalog_job *job, int64_t now_ms,
                            struct job_warning *warning)
{
    struct engine_clock clock = engine_clock(engine);
    bool is_ahead = job->schedule_count && job->cursor_ms > now_ms + STORE_AHEAD_MS;
    bool is_alone = engine_peers(engine)->alive_count <= 1;
    char at[TIME_TEXT];
    time_format(is_ahead ? job->cursor_ms : clock.until_ms, at);
    warning->since_ms = clock.since_ms;
    if (is_ahead)
        snprintf(warning->detail, sizeof(warning->detail),
                 "ahead of the clock: went up to %s; continues from now once the clock is "
                 "trusted",
                 at);
    else if (clock.doubt != DOUBT_NONE && is_alone && job->schedule_count)
        snprintf(warning->detail, sizeof(warning->detail),
                 "the clock is not trusted: nothing is started until %s, or until it is "
                 "corrected",
                 at);
    else
        return false;
    return true;
}

struct job_warning job_warning(struct engine *engine, const struct catalog_job *job, int64_t now_ms)
{
    struct job_warning warning = {.reason = job_warning_reason(engine, job)};
    if (warning.reason == calendar) {
        snprintf(warning.detail, sizeof(warning.detail),
                 "calendar \"%s\" is not there; it runs as without it",
                 catalog_job_missing_calendar(job));
    } else if (warning.reason == no_node) {
        tell_no_node(engine, job, warning.detail, sizeof(warning.detail));
        warning.since_ms = no_node_since_ms(engine, job);
    } else if (waits_for_clock(engine, job, now_ms, &warning)) {
        warning.reason = clock_word;
    } else {
        warning.since_ms = 0;
    }
    return warning;
}
