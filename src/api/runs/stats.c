/* Statistics of runs, per hour or day. */
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

static const int64_t hour_ms = 3600 * 1000, day_ms = 24 * 3600 * 1000;

static json_t *ms_if(bool known, int64_t ms)
{
    return known ? json_integer(ms) : json_null();
}

static json_t *encode_span(const struct history_stats_row *row)
{
    bool timed = row->timed > 0, punctual = row->punctual > 0;
    json_t *value =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "from", json_tick(row->from_ms), "p50_ms",
                  ms_if(timed, history_stats_percentile(row, 50)), "p95_ms",
                  ms_if(timed, history_stats_percentile(row, 95)), "max_ms",
                  ms_if(timed, row->duration_max_ms), "mean_ms",
                  ms_if(timed, timed ? row->duration_sum_ms / row->timed : 0), "mean_late_ms",
                  ms_if(punctual, punctual ? row->late_sum_ms / row->punctual : 0));
    int failed = !value;
    for (int state = RUN_OK; state < RUN_STATES && !failed; state++)
        failed |= json_object_set_new(value, run_state_name((enum run_state)state),
                                      json_integer(row->ends[state]));
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

static void reply_stats(struct call *call)
{
    const struct history_stats *stats = &call->stats;
    json_t *items = json_array();
    if (call->answer != OK) {
        json_decref(items);
        call_fail_history(call, call->answer);
        return;
    }
    for (size_t i = 0; i < stats->count && items; i++) {
        if (json_array_append_new(items, encode_span(&stats->rows[i])) != 0) {
            json_decref(items);
            items = NULL;
        }
    }
    call_reply(call, 200,
               add_absent(json_pack("{s:s, s:o, s:o, s:o}", "span",
                                    stats->span == HISTORY_DAY ? "day" : "hour", "from",
                                    json_tick(stats->from_ms), "to", json_tick(stats->to_ms),
                                    "items", items),
                          &stats->absent));
}

static bool read_span(struct call *call, enum history_span *ret)
{
    const char *text = query_get(&call->query, "span");
    bool is_day = text && strcmp(text, "day") == 0;
    if (text && !is_day && strcmp(text, "hour") != 0) {
        call_fail_word(call, "?span", text, "hour,day", "span: expected hour or day");
        return false;
    }
    *ret = is_day ? HISTORY_DAY : HISTORY_HOUR;
    return true;
}

static bool read_job(struct call *call, struct id *ret)
{
    const char *name = query_get(&call->query, "job");
    const struct catalog_job *job =
        name ? catalog_by_name(engine_catalog(call->api->ports.engine), name) : NULL;
    if (!name && !scope_is_whole(&call->principal.scope)) {
        call_fail_at(call, "?job",
                     "job: which one? The sum of all is for those who may see all of them");
        return false;
    }
    if (name && !call_may_on(call, RIGHT_VIEW, name))
        return false;
    if (name && !job) {
        fail_no_job(call, name);
        return false;
    }
    if (job)
        *ret = job->uid;
    return true;
}

/* The last day by hour, or the last month by day, unless the query says. */
void get_stats(struct call *call)
{
    struct history_stats *stats = &call->stats;
    int64_t from_ms = INT64_MIN;
    if (!read_span(call, &stats->span) || !read_job(call, &stats->job_uid))
        return;
    int64_t each_ms = stats->span == HISTORY_DAY ? day_ms : hour_ms;
    stats->to_ms = call->now_ms - call->now_ms % hour_ms + hour_ms;
    if (!param_time(call, "to", zone_utc(), &stats->to_ms) ||
        !param_time(call, "from", zone_utc(), &from_ms))
        return;
    stats->from_ms = from_ms != INT64_MIN ? from_ms
                     : stats->span == HISTORY_DAY
                         ? stats->to_ms - stats->to_ms % day_ms - 30 * day_ms
                         : stats->to_ms - 24 * hour_ms;
    if (stats->from_ms > stats->to_ms)
        call_fail_at(call, "?to", "to: is not after from");
    else if ((stats->to_ms - stats->from_ms) / each_ms >= HISTORY_STATS_LIMIT)
        call_fail_at(call, "?from", "from: that is more than %d spans; ask for days, or for less",
                     HISTORY_STATS_LIMIT);
    else
        call_read_stats(call, reply_stats);
}
