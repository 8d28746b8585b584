#include "ledger.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "workflow/steps.h"

static bool is_computable(const struct schedule_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (schedule_kind(set->items[i]) == SCHEDULE_AFTER)
            return false;
    }
    return true;
}

int ledger_version(const struct job *definition)
{
    if (definition->kind == JOB_WORKFLOW)
        return ledger_version(definition->steps[0].job);
    return definition->command ? atoi(definition->command[1]) : (int)definition->function.version;
}

enum status ledger_epoch_init(struct ledger_epoch *epoch, const struct job *definition,
                              struct zone_db *zones, int64_t cursor_ms)
{
    struct parse_error error;
    *epoch = (struct ledger_epoch){
        .version = ledger_version(definition),
        .from_ms = cursor_ms,
        .to_ms = cursor_ms,
        .allow = definition->overlap == OVERLAP_ALLOW,
        .is_closed = definition->calendar_count > 0,
    };
    schedule_set_init(&epoch->schedules);
    enum status st = job_schedules(definition, zones, &epoch->schedules, &error);
    if (st != OK)
        return st;
    epoch->computable = !definition->after_count && is_computable(&epoch->schedules);
    const struct schedule *only = epoch->schedules.count == 1 ? epoch->schedules.items[0] : NULL;
    if (only && schedule_kind(only) == SCHEDULE_AFTER && schedule_end(only) == TIME_UNSET &&
        schedule_start(only) == TIME_UNSET)
        epoch->delay_ms = schedule_interval(only) * 1000;
    return OK;
}

void ledger_epoch_release(struct ledger_epoch *epoch)
{
    schedule_set_release(&epoch->schedules);
}

int64_t ledger_next_tick(const struct ledger_epoch *epoch, int64_t after_ms)
{
    int64_t tick_s = schedule_set_next(&epoch->schedules, after_ms / 1000, NULL);
    return tick_s == NEVER ? NEVER_MS : tick_s * 1000;
}

/* All its schedules have the time zone of the job. 1970-01-01 was a Thursday. */
bool ledger_is_out(const struct ledger_epoch *epoch, int64_t tick_ms)
{
    if (!epoch->is_closed || !epoch->schedules.count)
        return false;
    int64_t at_s = tick_ms / 1000;
    struct zone_span span = zone_span_at(schedule_zone(epoch->schedules.items[0]), at_s);
    int64_t weekday = ((at_s + span.offset_s) / 86400 + 4) % 7;
    return weekday == 2 || weekday == 6;
}

static void fail(const struct ledger_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void fail(const struct ledger_check *check, const char *format, ...)
{
    char text[256];
    int length = snprintf(text, sizeof(text), "%s: ", check->job);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, sizeof(text) - (size_t)length, format, args);
    va_end(args);
    check->fail(check->context, text);
}

static int by_time(const void *a, const void *b)
{
    const struct ledger_cover *one = a, *other = b;
    return one->from_ms < other->from_ms ? -1 : one->from_ms > other->from_ms;
}

static void check_once(const struct ledger_check *check, const struct ledger_cover *covers,
                       size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (covers[i].from_ms <= covers[i - 1].to_ms)
            fail(check, "tick %lld has two ends", (long long)covers[i].from_ms / 1000);
    }
}

static void check_count(const struct ledger_check *check, const struct ledger_epoch *epoch,
                        const struct ledger_cover *cover, int64_t counted)
{
    if (epoch->computable && counted != cover->count)
        fail(check, "%lld ticks from %lld to %lld are %lld on record", (long long)counted,
             (long long)cover->from_ms / 1000, (long long)cover->to_ms / 1000,
             (long long)cover->count);
}

/* What the calendar takes out does not run, and nothing else is said to be out; but what was out
 * by the definition before, and was not on record yet, stays so. */
static void check_calendar(const struct ledger_check *check, const struct ledger_epoch *epoch,
                           bool was_out, const struct ledger_cover *cover, int64_t tick_ms)
{
    bool is_out = ledger_is_out(epoch, tick_ms);
    if (is_out && cover->is_run && cover->reason != REASON_RESTORED)
        fail(check, "tick %lld ran, on a day that its calendar takes out",
             (long long)tick_ms / 1000);
    if (!is_out && !was_out && cover->reason == REASON_CALENDAR)
        fail(check, "tick %lld was skipped by a calendar that does not have its day",
             (long long)tick_ms / 1000);
}

/* The ticks of one definition: all covered, and nothing else. */
static void check_epoch(const struct ledger_check *check, const struct ledger_epoch *epoch,
                        const struct ledger_epoch *before, const struct ledger_cover *covers,
                        size_t count, size_t *at)
{
    int64_t counted = 0;
    for (int64_t tick_ms = ledger_next_tick(epoch, epoch->from_ms); tick_ms <= epoch->to_ms;
         tick_ms = ledger_next_tick(epoch, tick_ms)) {
        while (*at < count && covers[*at].to_ms < tick_ms) {
            check_count(check, epoch, &covers[*at], counted);
            ++*at;
            counted = 0;
        }
        if (*at == count || covers[*at].from_ms > tick_ms)
            fail(check, "tick %lld has no end", (long long)tick_ms / 1000);
        bool was_out = before && ledger_is_out(before, tick_ms);
        check_calendar(check, epoch, was_out, &covers[*at], tick_ms);
        counted++;
    }
    if (counted)
        check_count(check, epoch, &covers[*at], counted);
    *at += counted > 0;
    while (*at < count && covers[*at].to_ms <= epoch->to_ms) {
        if (epoch->computable)
            fail(check, "an end at %lld, which is no tick", (long long)covers[*at].from_ms / 1000);
        ++*at;
    }
}

void ledger_check(const struct ledger_check *check, const struct ledger_epoch *epochs,
                  size_t epoch_count, struct ledger_cover *covers, size_t count)
{
    size_t at = 0;
    qsort(covers, count, sizeof(*covers), by_time);
    check_once(check, covers, count);
    for (size_t i = 0; i < epoch_count; i++)
        check_epoch(check, &epochs[i], i ? &epochs[i - 1] : NULL, covers, count, &at);
    if (at < count)
        fail(check, "an end at %lld, behind the cursor", (long long)covers[at].from_ms / 1000);
}
