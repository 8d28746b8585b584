/* What a calendar does: its dates and windows in a span, and the ticks of jobs that it takes out
 * there. */
#include <string.h>

#include "auth/visible.h"
#include "civil.h"
#include "conditions.h"
#include "forecast/ticks.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"
#include "timestamp.h"
#include "window/held.h"

enum {
    SPAN_DAYS = 90, /* unless told otherwise */
    DAYS_MAX = 366,
    JOBS_MAX = 50,
    LOOKS = 2000,      /* ticks of a job that are looked at, at least */
    LOOKS_ALL = 20000, /* of all jobs, unless that is less for one */
    SHOWN = 20,
    WINDOWS_SHOWN = 1000,
    STRETCHES = 20000, /* of the calendar that are looked at */
};

struct preview {
    const struct known_calendar *calendar;
    int64_t from_s, to_s;
    json_int_t looks; /* ticks of a job that are looked at */
};

static json_t *encode_days(const struct preview *preview)
{
    json_t *list = json_array();
    struct strbuf text;
    strbuf_init(&text);
    for (int64_t day = preview->from_s / DAY_S; list && day * DAY_S < preview->to_s; day++) {
        struct calendar_date date = {.first = (int32_t)day, .last = (int32_t)day};
        if (!calendar_has(&preview->calendar->calendar, day))
            continue;
        strbuf_reset(&text);
        calendar_print_date(&date, &text);
        json_array_append_new(list, json_words(text.text));
    }
    strbuf_release(&text);
    return list;
}

static json_t *encode_tick(const struct catalog_job *job, int64_t at_s)
{
    struct strbuf local;
    strbuf_init(&local);
    timestamp_print_local(at_s, schedule_zone(job->schedules[0]), &local);
    json_t *value =
        json_pack("{s:o, s:o}", "at", json_tick(at_s * 1000), "local", json_words(local.text));
    strbuf_release(&local);
    return value;
}

/* ---- windows ---- */

/* Without a time zone of its own the calendar's clock is any clock. */
static json_t *encode_clock(const struct calendar *calendar, const struct window *window,
                            int64_t at_s)
{
    struct strbuf text;
    strbuf_init(&text);
    if (calendar->zone)
        timestamp_print_local(at_s, calendar->zone, &text);
    else
        timestamp_print_utc(at_s, &text);
    if (!calendar->zone && window->kind != WINDOW_INSTANTS && text.length)
        strbuf_truncate(&text, text.length - 1); /* the Z */
    json_t *value = json_words(text.text);
    strbuf_release(&text);
    return value;
}

static json_t *encode_window(const struct calendar *calendar, const struct window *window,
                             int64_t from_s, int64_t to_s)
{
    struct strbuf text;
    strbuf_init(&text);
    window_print(window, &text);
    json_t *value =
        json_pack("{s:o, s:o, s:o}", "from", encode_clock(calendar, window, from_s), "to",
                  encode_clock(calendar, window, to_s), "window", json_words(text.text));
    strbuf_release(&text);
    return value;
}

/* The times that windows hold, in their order; a window that a transition of the clock divides is
 * one. */
static json_t *encode_windows(const struct preview *preview)
{
    const struct calendar *calendar = &preview->calendar->calendar;
    const struct window *last = NULL;
    json_t *list = json_array();
    int64_t at_s = preview->from_s, from_s = at_s;
    for (int i = 0; calendar->window_count && list && i < STRETCHES && at_s < preview->to_s &&
                    json_array_size(list) < WINDOWS_SHOWN;
         i++) {
        struct held_stretch stretch = calendar_stretch(calendar, zone_utc(), at_s);
        const struct window *window =
            stretch.is_held ? calendar_window_at(calendar, zone_utc(), at_s) : NULL;
        if (last && window != last)
            json_array_append_new(list, encode_window(calendar, last, from_s, at_s));
        from_s = window != last ? at_s : from_s;
        last = window;
        at_s = stretch.to_s;
    }
    if (last && list)
        json_array_append_new(list, encode_window(calendar, last, from_s, at_s));
    return list;
}

/* ---- jobs ---- */

/* How many ticks of each local date are out; they come in order. */
static void count_day(json_t *days, const struct catalog_job *job, int64_t at_s)
{
    struct strbuf local;
    json_t *last = json_array_get(days, json_array_size(days) - 1);
    json_int_t skipped = json_integer_value(json_object_get(last, "skipped"));
    strbuf_init(&local);
    timestamp_print_local(at_s, schedule_zone(job->schedules[0]), &local);
    strbuf_truncate(&local, strlen("2026-12-25"));
    const char *day = json_string_value(json_object_get(last, "day"));
    if (day && strcmp(day, local.text) == 0)
        json_object_set_new(last, "skipped", json_integer(skipped + 1));
    else
        json_array_append_new(days,
                              json_pack("{s:o, s:i}", "day", json_words(local.text), "skipped", 1));
    strbuf_release(&local);
}

/* `how`: what of the job's calendars is looked at. */
static json_t *encode_job(const struct preview *preview, const struct catalog_job *job,
                          const struct calendars *how, const char *field)
{
    struct schedule_set set = {job->schedules, job->schedule_count};
    int64_t at_s = preview->from_s - 1;
    json_int_t skipped = 0, looks = 0;
    json_t *ticks = json_array(), *days = json_array();
    for (; ticks && days && looks < preview->looks; looks++) {
        at_s = schedule_set_next(&set, at_s, NULL);
        if (at_s >= preview->to_s)
            break;
        if (!ticks_is_excluded(&set, how, at_s))
            continue;
        count_day(days, job, at_s);
        if (skipped++ < SHOWN)
            json_array_append_new(ticks, encode_tick(job, at_s));
    }
    return json_pack("{s:s, s:s, s:I, s:b, s:o, s:o}", "job", job->name, "field", field, "skipped",
                     skipped, "more", looks == preview->looks, "ticks", ticks, "days", days);
}

/* As the job names it, in `calendars` or in `only_on`. */
static json_t *encode_use(const struct preview *preview, const struct calendar_use *use)
{
    const struct job_calendars *calendars = use->job->calendars;
    size_t which = (size_t)(use - calendars->uses);
    bool is_required = which >= calendars->set.count;
    struct calendars how =
        calendars_alone(&calendars->set, is_required ? calendars->set.count : which);
    return encode_job(preview, use->job, &how, is_required ? "only_on" : "calendars");
}

static json_t *encode_uses(const struct call *call, const struct preview *preview)
{
    json_t *list = json_array();
    const struct calendar_use *use;
    LIST_FOREACH(use, &preview->calendar->uses, link)
    {
        if (list && !use->job->deleted && json_array_size(list) < JOBS_MAX &&
            call_sees(call, use->job->name))
            json_array_append_new(list, encode_use(preview, use));
    }
    return list;
}

/* Also of a job that does not name it: as if its `calendars` did. NULL: the call has failed. */
static json_t *encode_one(struct call *call, const struct preview *preview, const char *name)
{
    const struct catalog_job *job = catalog_by_name(engine_catalog(call->api->ports.engine), name);
    const struct calendar *item = &preview->calendar->calendar;
    struct calendars how = {&item, 1, 0};
    const struct calendar_use *use;
    if (!job || !call_sees(call, name)) {
        fail_no_job(call, name);
        return NULL;
    }
    LIST_FOREACH(use, &preview->calendar->uses, link)
    {
        if (use->job == job)
            return json_pack("[o]", encode_use(preview, use));
    }
    return json_pack("[o]", encode_job(preview, job, &how, "calendars"));
}

/* Few jobs are looked at further ahead than many. */
static void share_looks(const struct call *call, struct preview *preview)
{
    const struct calendar_use *use;
    json_int_t count = 1;
    LIST_FOREACH(use, &preview->calendar->uses, link)
    {
        count += !use->job->deleted && call_sees(call, use->job->name);
    }
    preview->looks = LOOKS_ALL / count > LOOKS ? LOOKS_ALL / count : LOOKS;
}

static bool read_span(struct call *call, struct preview *preview)
{
    int64_t from_ms = call->now_ms, to_ms = INT64_MIN;
    if (!param_time(call, "from", zone_utc(), &from_ms) ||
        !param_time(call, "to", zone_utc(), &to_ms))
        return false;
    preview->from_s = from_ms / 1000;
    preview->to_s = to_ms == INT64_MIN ? preview->from_s + SPAN_DAYS * DAY_S : to_ms / 1000;
    if (preview->to_s > preview->from_s &&
        preview->to_s - preview->from_s <= (int64_t)DAYS_MAX * DAY_S)
        return true;
    call_fail_at(call, "?to", "to: expected a time after `from`, and at most %d days after it",
                 DAYS_MAX);
    return false;
}

void preview_calendar(struct call *call)
{
    const struct table *known = &engine_catalog(call->api->ports.engine)->calendars;
    struct preview preview = {.calendar = known_calendars_find(known, call->argument)};
    const char *job = query_get(&call->query, "job");
    if (!preview.calendar) {
        fail_missing(call, 404, "calendar");
        return;
    }
    if (!read_span(call, &preview))
        return;
    share_looks(call, &preview);
    json_t *jobs = job ? encode_one(call, &preview, job) : encode_uses(call, &preview);
    if (!jobs && job)
        return;
    call_reply(call, 200,
               json_pack("{s:o, s:o, s:o, s:o, s:o}", "from", json_tick(preview.from_s * 1000),
                         "to", json_tick(preview.to_s * 1000), "days", encode_days(&preview),
                         "windows", encode_windows(&preview), "jobs", jobs));
}
