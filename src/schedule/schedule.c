#include "schedule.h"

#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "schedule_internal.h"
#include "timestamp.h"

struct schedule *schedule_free(struct schedule *schedule)
{
    if (schedule)
        cron_expr_release(&schedule->cron);
    free(schedule);
    return NULL;
}

enum schedule_kind schedule_kind(const struct schedule *schedule)
{
    return schedule->kind;
}

const struct zone *schedule_zone(const struct schedule *schedule)
{
    return schedule->zone;
}

int64_t schedule_start(const struct schedule *schedule)
{
    return schedule->start_s;
}

int64_t schedule_end(const struct schedule *schedule)
{
    return schedule->end_s;
}

enum dst_policy schedule_dst(const struct schedule *schedule)
{
    return schedule->dst;
}

int64_t schedule_jitter_ms(const struct schedule *schedule)
{
    return schedule->jitter_ms;
}

int64_t schedule_jitter_limit(const struct schedule *schedule)
{
    return schedule->jitter_s;
}

const struct cron_expr *schedule_cron(const struct schedule *schedule)
{
    return schedule->kind == SCHEDULE_CRON ? &schedule->cron : NULL;
}

int64_t schedule_interval(const struct schedule *schedule)
{
    return schedule->value_s;
}

int64_t schedule_at(const struct schedule *schedule)
{
    return schedule->value_s;
}

void schedule_print(const struct schedule *schedule, struct strbuf *out)
{
    switch (schedule->kind) {
    case SCHEDULE_CRON:
        if (strcmp(zone_name(schedule->zone), "UTC") != 0)
            strbuf_addf(out, "CRON_TZ=%s ", zone_name(schedule->zone));
        cron_expr_print(&schedule->cron, out);
        break;
    case SCHEDULE_EVERY:
        strbuf_adds(out, "@every ");
        duration_print(schedule->value_s, out);
        break;
    case SCHEDULE_AFTER:
        strbuf_adds(out, "@after ");
        duration_print(schedule->value_s, out);
        break;
    case SCHEDULE_AT:
        strbuf_adds(out, "@at ");
        timestamp_print_utc(schedule->value_s, out);
        break;
    case SCHEDULE_REBOOT:
        strbuf_adds(out, "@reboot");
        break;
    case SCHEDULE_MANUAL:
        strbuf_adds(out, "@manual");
        break;
    }
}
