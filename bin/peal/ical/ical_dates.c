#include "ical/ical_dates.h"

#include <libical/ical.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "calendar_codec.h"
#include "civil.h"
#include "text/tr.h"

enum { OCCURRENCES_MAX = 100000 };

/* An occurrence that an event of its own takes the place of (RECURRENCE-ID). */
struct changed {
    const char *uid;
    time_t start;
};

/* What the events become. */
struct days {
    const struct ical_span *span;
    unsigned char *bits; /* for each day of the span */
    struct window *windows;
    size_t window_count;
    size_t occurrences;
    struct changed *changed; /* in order */
    size_t changed_count;
    bool is_out_of_memory;
};

static void mark(struct days *days, int64_t first, int64_t last)
{
    const struct ical_span *span = days->span;
    first = first < span->first_day ? span->first_day : first;
    last = last > span->last_day ? span->last_day : last;
    for (int64_t day = first; day <= last; day++) {
        int64_t at = day - span->first_day;
        days->bits[at / 8] |= (unsigned char)(1U << at % 8);
    }
}

static bool is_marked(const struct days *days, int64_t day)
{
    int64_t at = day - days->span->first_day;
    return days->bits[at / 8] & 1U << at % 8;
}

static int64_t day_of(struct icaltimetype time)
{
    return civil_to_days(time.year, time.month, time.day);
}

/* ---- changed occurrences ---- */

static int by_uid(const void *a, const void *b)
{
    const struct changed *one = a, *other = b;
    int order = strcmp(one->uid, other->uid);
    return order ? order : (one->start > other->start) - (one->start < other->start);
}

static enum status find_changed(struct days *days, icalcomponent *calendar)
{
    struct icalcompiter at = icalcomponent_begin_component(calendar, ICAL_VEVENT_COMPONENT);
    days->changed_count = 0;
    for (icalcomponent *event; (event = icalcompiter_deref(&at)); icalcompiter_next(&at)) {
        const char *uid = icalcomponent_get_uid(event);
        struct icaltimetype id = icalcomponent_get_recurrenceid(event);
        if (!uid || icaltime_is_null_time(id))
            continue;
        enum status st = array_grow(&days->changed, days->changed_count, sizeof(*days->changed));
        if (st != OK)
            return st;
        days->changed[days->changed_count++] =
            (struct changed){uid, icaltime_as_timet_with_zone(id, id.zone)};
    }
    if (days->changed_count)
        qsort(days->changed, days->changed_count, sizeof(*days->changed), by_uid);
    return OK;
}

static bool is_changed(const struct days *days, icalcomponent *event, time_t start)
{
    struct changed wanted = {icalcomponent_get_uid(event), start};
    return wanted.uid && days->changed_count &&
           bsearch(&wanted, days->changed, days->changed_count, sizeof(wanted), by_uid);
}

/* ---- occurrences ---- */

/* Of an all-day event. The end is exclusive; without one it lasts a day. */
static int64_t whole_days(icalcomponent *event, struct icaltimetype start)
{
    struct icaltimetype end = icalcomponent_get_dtend(event);
    int64_t count = icaltime_is_null_time(end) ? 1 : day_of(end) - day_of(start);
    return count > 0 ? count : 1;
}

/* Spans of an event without a time zone are in UTC, too. */
static void take_window(struct days *days, struct icaltimetype start,
                        const struct icaltime_span *span)
{
    bool is_floating = !start.zone && !icaltime_is_utc(start);
    if (span->end <= span->start || span->start / DAY_S > days->span->last_day ||
        span->end / DAY_S < days->span->first_day || days->window_count > CALENDAR_WINDOWS_MAX)
        return;
    if (array_grow(&days->windows, days->window_count, sizeof(*days->windows)) != OK) {
        days->is_out_of_memory = true;
        return;
    }
    days->windows[days->window_count++] =
        (struct window){.kind = is_floating ? WINDOW_LOCAL : WINDOW_INSTANTS,
                        .from_s = span->start,
                        .to_s = span->end};
}

static void take_occurrence(icalcomponent *event, struct icaltime_span *span, void *context)
{
    struct days *days = context;
    struct icaltimetype start = icalcomponent_get_dtstart(event);
    if (++days->occurrences > OCCURRENCES_MAX ||
        (icaltime_is_null_time(icalcomponent_get_recurrenceid(event)) &&
         is_changed(days, event, span->start)))
        return;
    if (start.is_date) { /* libical ends these spans a day late */
        int64_t first = day_of(icaltime_from_timet_with_zone(span->start, 1, NULL));
        mark(days, first, first + whole_days(event, start) - 1);
        return;
    }
    take_window(days, start, span);
}

static int count_of(const short *values, int most)
{
    int count = 0;
    while (count < most && values[count] != ICAL_RECURRENCE_ARRAY_MAX)
        count++;
    return count ? count : 1;
}

/* Those with more occurrences than this many a day would only be walked through. */
enum { A_DAY_MAX = 24 };

static bool is_too_fine(icalcomponent *event)
{
    icalproperty *rule = icalcomponent_get_first_property(event, ICAL_RRULE_PROPERTY);
    for (; rule; rule = icalcomponent_get_next_property(event, ICAL_RRULE_PROPERTY)) {
        struct icalrecurrencetype recurrence = icalproperty_get_rrule(rule);
        int a_day = count_of(recurrence.by_hour, ICAL_BY_HOUR_SIZE) *
                    count_of(recurrence.by_minute, ICAL_BY_MINUTE_SIZE) *
                    count_of(recurrence.by_second, ICAL_BY_SECOND_SIZE);
        if (recurrence.freq < ICAL_DAILY_RECURRENCE || a_day > A_DAY_MAX)
            return true;
    }
    return false;
}

static enum status take_event(struct days *days, icalcomponent *event, const char **why)
{
    icalproperty *status = icalcomponent_get_first_property(event, ICAL_STATUS_PROPERTY);
    struct icaltimetype start = icalcomponent_get_dtstart(event);
    if (status && icalproperty_get_status(status) == ICAL_STATUS_CANCELLED)
        return OK;
    if (icaltime_is_null_time(start)) {
        *why = TR("an event has no DTSTART");
        return status_invalid();
    }
    if (is_too_fine(event)) {
        *why = TR("an event repeats by the hour, minute or second, or more than 24 times a day");
        return status_invalid();
    }
    /* A day more on both sides: spans are in UTC. */
    struct icaltimetype from = icaltime_from_timet_with_zone(
        (time_t)((days->span->first_day - 1) * DAY_S), 0, icaltimezone_get_utc_timezone());
    struct icaltimetype to = icaltime_from_timet_with_zone(
        (time_t)((days->span->last_day + 2) * DAY_S), 0, icaltimezone_get_utc_timezone());
    icalcomponent_foreach_recurrence(event, from, to, take_occurrence, days);
    if (days->is_out_of_memory)
        return E_NOMEM;
    if (days->window_count > CALENDAR_WINDOWS_MAX)
        *why = TR("it has more than 1000 timed events in that time; give fewer --years");
    else if (days->occurrences > OCCURRENCES_MAX)
        *why = TR("it has too many events");
    else
        return OK;
    return status_invalid();
}

static enum status take_calendar(struct days *days, icalcomponent *calendar, const char **why)
{
    struct icalcompiter at = icalcomponent_begin_component(calendar, ICAL_VEVENT_COMPONENT);
    enum status st = OK;
    if (st == OK)
        st = find_changed(days, calendar);
    for (icalcomponent *event; st == OK && (event = icalcompiter_deref(&at));
         icalcompiter_next(&at))
        st = take_event(days, event, why);
    return st;
}

/* A file is a VCALENDAR, or several one after the other. */
static enum status take_all(struct days *days, icalcomponent *root, const char **why)
{
    icalcomponent_kind kind = root ? icalcomponent_isa(root) : ICAL_NO_COMPONENT;
    enum status st = OK;
    *why = TR("there is no calendar (BEGIN:VCALENDAR) in it");
    if (kind == ICAL_VCALENDAR_COMPONENT)
        return take_calendar(days, root, why);
    icalcomponent *calendar =
        kind == ICAL_XROOT_COMPONENT
            ? icalcomponent_get_first_component(root, ICAL_VCALENDAR_COMPONENT)
            : NULL;
    if (!calendar)
        return status_invalid();
    for (; st == OK && calendar;
         calendar = icalcomponent_get_next_component(root, ICAL_VCALENDAR_COMPONENT))
        st = take_calendar(days, calendar, why);
    return st;
}

static bool append(json_t *list, int64_t first, int64_t last)
{
    struct calendar_date date = {.first = (int32_t)first, .last = (int32_t)last};
    struct strbuf text;
    strbuf_init(&text);
    calendar_print_date(&date, &text);
    bool is_added =
        strbuf_status(&text) == OK && json_array_append_new(list, json_string(text.text)) == 0;
    strbuf_release(&text);
    return is_added;
}

static json_t *list_dates(const struct days *days)
{
    json_t *list = json_array();
    bool is_whole = list != NULL;
    for (int64_t day = days->span->first_day; is_whole && day <= days->span->last_day; day++) {
        int64_t last = day;
        if (!is_marked(days, day))
            continue;
        while (last < days->span->last_day && is_marked(days, last + 1))
            last++;
        is_whole = append(list, day, last);
        day = last;
    }
    if (is_whole)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *list_windows(const struct days *days)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < days->window_count; i++) {
        struct strbuf text;
        strbuf_init(&text);
        window_print(&days->windows[i], &text);
        if (strbuf_status(&text) != OK ||
            json_array_append_new(list, json_string(text.text)) != 0) {
            json_decref(list);
            list = NULL;
        }
        strbuf_release(&text);
    }
    return list;
}

enum status ical_dates_read(const char *text, const struct ical_span *span, json_t **ret,
                            const char **why)
{
    size_t count = (size_t)(span->last_day - span->first_day + 1);
    struct days days = {.span = span, .bits = calloc(count / 8 + 1, 1)};
    if (!days.bits)
        return E_NOMEM;
    icalcomponent *root = icalparser_parse_string(text);
    enum status st = take_all(&days, root, why);
    if (st == OK) {
        *ret = json_pack("{s:o, s:o}", "dates", list_dates(&days), "windows", list_windows(&days));
        st = *ret ? OK : E_NOMEM;
    }
    if (root)
        icalcomponent_free(root);
    free(days.changed);
    free(days.windows);
    free(days.bits);
    return st;
}
