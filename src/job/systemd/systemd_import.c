/* Timers of systemd: when their jobs are due. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "document/utf8.h"
#include "duration.h"
#include "schedule.h"
#include "systemd/systemd_build.h"
#include "systemd/time_span.h"
#include "systemd/timer_calendar.h"

enum { USEC = 1000000, JITTER_MAX_S = 86400 };

/* ---- notes ---- */

enum status systemd_note(struct systemd_build *build, struct systemd_timer *timer,
                         const struct unit_line *line, enum foreign_severity severity,
                         const char *format, ...)
{
    va_list args;
    struct strbuf text;
    strbuf_init(&text);
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    enum status st = strbuf_status(&text);
    build->foreign.file = line                  ? line->file
                          : timer->timer->count ? timer->timer->lines[0].file
                                                : NULL;
    timer->is_lost = timer->is_lost || severity == FOREIGN_ERROR;
    if (st == OK)
        st = foreign_note(&build->foreign, &timer->who, line ? &line->at : NULL, severity, "%s",
                          text.text);
    strbuf_release(&text);
    return st;
}

enum status systemd_fail(struct systemd_build *build, struct systemd_timer *timer,
                         const struct unit_line *line, const struct parse_error *err)
{
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addf(&text, "%s: %s (at column %d of the text)", line->name, err->message, err->column);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = systemd_note(build, timer, line, FOREIGN_ERROR, "%s", text.text);
    strbuf_release(&text);
    return st;
}

enum status systemd_note_rest(struct systemd_build *build, struct systemd_timer *timer,
                              const struct unit *unit, const char *section,
                              const char *const *known)
{
    enum status st = OK;
    for (size_t i = 0; i < unit->count && st == OK; i++) {
        const struct unit_line *line = &unit->lines[i];
        const char *const *each = known;
        if (strcmp(line->section, section) != 0 || !*line->value)
            continue;
        while (*each && strcmp(*each, line->name) != 0)
            each++;
        if (!*each)
            st = systemd_note(build, timer, line, FOREIGN_WARNING, "%s=%.60s is not converted",
                              line->name, line->value);
    }
    return st;
}

/* ---- values ---- */

enum status systemd_set(json_t *definition, const char *name, json_t *value)
{
    return json_object_set_new(definition, name, value) == 0 ? OK : E_NOMEM;
}

enum status systemd_set_seconds(json_t *definition, const char *name, int64_t seconds)
{
    struct strbuf text;
    strbuf_init(&text);
    duration_print(seconds, &text);
    enum status st = strbuf_status(&text);
    if (st == OK)
        st = systemd_set(definition, name, json_string(text.text));
    strbuf_release(&text);
    return st;
}

enum status systemd_seconds(struct systemd_build *build, struct systemd_timer *timer,
                            const struct unit_line *line, int64_t *ret_s)
{
    struct parse_error err = {0};
    int64_t us;
    enum status st = time_span_read(line->value, &us, &err);
    if (st == E_INVALID)
        return systemd_fail(build, timer, line, &err);
    if (st == OK)
        *ret_s = us == SPAN_INFINITE ? -1 : (us + USEC - 1) / USEC;
    return st;
}

/* ---- when ---- */

/* The schedules of a timer; those of calendar events have their zones beside them. */
struct times {
    json_t *schedules, *zones; /* "" for the default */
    size_t calendars, monotonic;
    bool repeats; /* OnUnitActiveSec or OnUnitInactiveSec */
};

static enum status add_time(struct times *times, const char *text, const char *zone)
{
    return json_array_append_new(times->schedules, json_string(text)) == 0 &&
                   json_array_append_new(times->zones, json_string(zone)) == 0
               ? OK
               : E_NOMEM;
}

static enum status add_calendar(struct systemd_build *build, struct systemd_timer *timer,
                                const struct unit_line *line, struct times *times)
{
    struct timer_calendar calendar;
    struct parse_error err = {0};
    struct strbuf text;
    enum status st = timer_calendar_read(line->value, build->foreign.zones, &calendar, &err);
    if (st == E_INVALID)
        return systemd_fail(build, timer, line, &err);
    if (st != OK)
        return st;
    strbuf_init(&text);
    timer_calendar_schedule(&calendar, &text);
    st = strbuf_status(&text);
    if (st == OK)
        st = add_time(times, text.text, calendar.zone ? calendar.zone : "");
    strbuf_release(&text);
    times->calendars++;
    return st;
}

/* "@every 15min" and "@after 15min" as peal writes them. */
static enum status add_interval(struct systemd_build *build, struct systemd_timer *timer,
                                const struct unit_line *line, const char *macro,
                                struct times *times)
{
    struct strbuf text;
    int64_t seconds = 0;
    enum status st = systemd_seconds(build, timer, line, &seconds);
    if (st != OK || timer->is_lost)
        return st;
    if (seconds < 1)
        return systemd_note(build, timer, line, FOREIGN_ERROR, "an interval is 1s or more");
    strbuf_init(&text);
    strbuf_adds(&text, macro);
    duration_print(seconds, &text);
    st = strbuf_status(&text);
    if (st == OK)
        st = add_time(times, text.text, "");
    strbuf_release(&text);
    times->repeats = true;
    times->monotonic++;
    return st;
}

static enum status add_boot(struct systemd_build *build, struct systemd_timer *timer,
                            const struct unit_line *line, struct times *times)
{
    times->monotonic++;
    if (times->repeats)
        return systemd_note(build, timer, line, FOREIGN_WARNING,
                            "%s=%.40s is left out: the job repeats anyway, at times that do not "
                            "depend on the boot",
                            line->name, line->value);
    enum status st = systemd_note(build, timer, line, FOREIGN_WARNING,
                                  "%s=%.40s: the job runs as soon as the node's agent has started "
                                  "after a boot, without that delay",
                                  line->name, line->value);
    return st == OK ? add_time(times, "@reboot", "") : st;
}

static enum status add_monotonic(struct systemd_build *build, struct systemd_timer *timer,
                                 const struct unit_line *line, bool is_first_pass,
                                 struct times *times)
{
    bool is_active = strcmp(line->name, "OnUnitActiveSec") == 0;
    bool is_inactive = strcmp(line->name, "OnUnitInactiveSec") == 0;
    if ((is_active || is_inactive) != is_first_pass)
        return OK;
    if (is_active) {
        enum status st = add_interval(build, timer, line, "@every ", times);
        return st == OK && !timer->is_lost
                   ? systemd_note(build, timer, line, FOREIGN_INFO,
                                  "OnUnitActiveSec=%.40s is counted from 1970, the same on all "
                                  "nodes, and not from the last start",
                                  line->value)
                   : st;
    }
    if (is_inactive)
        return add_interval(build, timer, line, "@after ", times);
    if (strcmp(line->name, "OnBootSec") == 0 || strcmp(line->name, "OnStartupSec") == 0)
        return add_boot(build, timer, line, times);
    return systemd_note(build, timer, line, FOREIGN_WARNING,
                        "OnActiveSec=%.40s is left out: a job has no time after its activation",
                        line->value);
}

static bool is_monotonic(const char *name)
{
    static const char *const names[] = {"OnActiveSec", "OnBootSec", "OnStartupSec",
                                        "OnUnitActiveSec", "OnUnitInactiveSec"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* An empty value of any of them drops all times before it. */
static size_t first_time(const struct unit *timer)
{
    size_t first = 0;
    for (size_t i = 0; i < timer->count; i++) {
        const struct unit_line *line = &timer->lines[i];
        if (strcmp(line->section, "Timer") == 0 && !*line->value &&
            (is_monotonic(line->name) || strcmp(line->name, "OnCalendar") == 0))
            first = i + 1;
    }
    return first;
}

/* Those that repeat come first: whether a boot counts depends on them. */
static enum status read_times(struct systemd_build *build, struct systemd_timer *timer,
                              struct times *times)
{
    enum status st = OK;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = first_time(timer->timer);
             i < timer->timer->count && st == OK && !timer->is_lost; i++) {
            const struct unit_line *line = &timer->timer->lines[i];
            if (strcmp(line->section, "Timer") != 0)
                continue;
            if (!pass && strcmp(line->name, "OnCalendar") == 0)
                st = add_calendar(build, timer, line, times);
            else if (is_monotonic(line->name))
                st = add_monotonic(build, timer, line, pass == 0, times);
            else
                continue;
            timer->when = timer->when ? timer->when : line;
        }
    }
    if (st == OK && !timer->is_lost && !json_array_size(times->schedules))
        st = systemd_note(build, timer, NULL, FOREIGN_ERROR,
                          "it has no time at which a job could run");
    return st;
}

/* ---- zones ---- */

/* Does some tick fall into a gap of the zone within 30 years? systemd passes over such a time; peal
 * starts it at the end of the gap unless it is told not to. */
static bool falls_into_gap(const struct schedule *schedule)
{
    enum { YEARS = 30 };
    static const int64_t from_s = 1767225600; /* 2026 */
    const struct zone *zone = schedule_zone(schedule);
    int64_t until_s = from_s + YEARS * INT64_C(31557600);
    for (int64_t at_s = zone_span_at(zone, from_s).end_s; at_s < until_s;) {
        struct zone_span span = zone_span_at(zone, at_s);
        if (span.offset_s > span.previous_offset_s && schedule_next(schedule, at_s - 1) == at_s &&
            schedule_tick_note(schedule, at_s).kind == TICK_MOVED)
            return true;
        at_s = span.end_s;
    }
    return false;
}

static enum status check_gap(struct systemd_build *build, const char *text, const char *zone,
                             bool *inout_is_any)
{
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule = NULL;
    options.default_tz = *zone ? zone : build->foreign.options->default_tz;
    enum status st = schedule_parse(text, &options, build->foreign.zones, &schedule, NULL);
    if (st == E_NOMEM)
        return st;
    if (schedule && schedule_kind(schedule) == SCHEDULE_CRON)
        *inout_is_any = *inout_is_any || falls_into_gap(schedule);
    schedule_free(schedule);
    return OK; /* what is wrong with it the decoder says */
}

/* One zone for all stands beside the schedules; several stand in them. */
static enum status set_zones(struct systemd_build *build, struct times *times, json_t *definition)
{
    const char *first = json_string_value(json_array_get(times->zones, 0));
    bool is_same = true;
    enum status st = OK;
    for (size_t i = 0; i < json_array_size(times->zones); i++)
        is_same = is_same && strcmp(json_string_value(json_array_get(times->zones, i)), first) == 0;
    if (is_same)
        return *first ? systemd_set(definition, "timezone", json_string(first)) : OK;
    for (size_t i = 0; i < json_array_size(times->zones) && st == OK; i++) {
        const char *zone = json_string_value(json_array_get(times->zones, i));
        const char *tz = build->foreign.options->default_tz;
        json_t *text = json_sprintf("CRON_TZ=%s %s",
                                    *zone ? zone
                                    : tz  ? tz
                                          : "UTC",
                                    json_string_value(json_array_get(times->schedules, i)));
        if (json_array_set_new(times->schedules, i, text) != 0)
            st = E_NOMEM;
    }
    return st;
}

static enum status set_schedules(struct systemd_build *build, struct times *times,
                                 json_t *definition)
{
    bool is_moved = false;
    enum status st = OK;
    for (size_t i = 0; i < json_array_size(times->schedules) && st == OK; i++)
        st = check_gap(build, json_string_value(json_array_get(times->schedules, i)),
                       json_string_value(json_array_get(times->zones, i)), &is_moved);
    if (st == OK)
        st = set_zones(build, times, definition);
    if (st == OK && json_array_size(times->schedules) == 1)
        st = systemd_set(definition, "schedule", json_incref(json_array_get(times->schedules, 0)));
    else if (st == OK)
        st = systemd_set(definition, "schedules", json_incref(times->schedules));
    return st == OK && is_moved ? systemd_set(definition, "dst", json_string("skip")) : st;
}

/* ---- the other settings of a timer ---- */

static enum status set_jitter(struct systemd_build *build, struct systemd_timer *timer,
                              json_t *definition)
{
    const struct unit_line *line = unit_get(timer->timer, "Timer", "RandomizedDelaySec");
    int64_t seconds = 0;
    enum status st = line ? systemd_seconds(build, timer, line, &seconds) : OK;
    if (st != OK || timer->is_lost || seconds < 1)
        return st;
    if (seconds > JITTER_MAX_S) {
        seconds = JITTER_MAX_S;
        st = systemd_note(build, timer, line, FOREIGN_WARNING,
                          "RandomizedDelaySec=%.40s: a jitter is a day at most", line->value);
    }
    if (st == OK && !unit_is_true(unit_get(timer->timer, "Timer", "FixedRandomDelay")))
        st = systemd_note(
            build, timer, line, FOREIGN_INFO,
            "RandomizedDelaySec: systemd draws the delay anew each time, a jitter stays "
            "the same for the job");
    return st == OK ? systemd_set_seconds(definition, "jitter", seconds) : st;
}

static enum status note_timer(struct systemd_build *build, struct systemd_timer *timer)
{
    static const char *const lost[] = {"WakeSystem", "OnClockChange", "OnTimezoneChange"};
    static const char *const known[] = {
        "OnActiveSec",       "OnBootSec",     "OnStartupSec",      "OnUnitActiveSec",
        "OnUnitInactiveSec", "OnCalendar",    "AccuracySec",       "RandomizedDelaySec",
        "FixedRandomDelay",  "Persistent",    "RemainAfterElapse", "Unit",
        "WakeSystem",        "OnClockChange", "OnTimezoneChange",  NULL};
    enum status st = OK;
    for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]) && st == OK; i++) {
        const struct unit_line *line = unit_get(timer->timer, "Timer", lost[i]);
        if (unit_is_true(line))
            st = systemd_note(build, timer, line, FOREIGN_WARNING, "%s=%.60s is not converted",
                              line->name, line->value);
    }
    return st == OK ? systemd_note_rest(build, timer, timer->timer, "Timer", known) : st;
}

static enum status set_timer(struct systemd_build *build, struct systemd_timer *timer,
                             json_t *definition)
{
    struct times times = {.schedules = json_array(), .zones = json_array()};
    enum status st = times.schedules && times.zones ? read_times(build, timer, &times) : E_NOMEM;
    if (st == OK && !timer->is_lost)
        st = set_schedules(build, &times, definition);
    bool is_persistent =
        times.calendars && unit_is_true(unit_get(timer->timer, "Timer", "Persistent"));
    if (st == OK && !timer->is_lost && !is_persistent)
        st = systemd_set(definition, "catch_up", json_string("skip"));
    if (st == OK && !timer->is_lost)
        st = set_jitter(build, timer, definition);
    if (st == OK && !timer->is_lost)
        st = note_timer(build, timer);
    json_decref(times.schedules);
    json_decref(times.zones);
    return st;
}

/* ---- the job ---- */

static const struct node *at_field(const struct foreign_task *task, const char *path)
{
    const struct systemd_timer *timer =
        (const struct systemd_timer *)((const char *)task - offsetof(struct systemd_timer, who));
    static const char *const of_service[] = {"/command", "/shell", "/env",    "/cwd",   "/user",
                                             "/umask",   "/nice",  "/limits", "/expect"};
    for (size_t i = 0; i < sizeof(of_service) / sizeof(of_service[0]); i++) {
        if (strncmp(path, of_service[i], strlen(of_service[i])) == 0)
            return timer->what ? &timer->what->at : NULL;
    }
    return timer->when ? &timer->when->at : NULL;
}

/* The file of the line that a refused field came from. */
static const char *file_of_lost(const struct foreign *out, const struct systemd_timer *timer)
{
    const struct foreign_note *note = &out->notes[out->note_count - 1];
    bool is_service =
        timer->what && note->line == timer->what->at.line && note->column == timer->what->at.column;
    return is_service ? timer->what->file : timer->when ? timer->when->file : NULL;
}

static enum status add_job(struct systemd_build *build, struct systemd_timer *timer,
                           const char *wish, json_t *definition)
{
    static const struct foreign_origin origin = {at_field};
    struct foreign *out = build->foreign.out;
    bool is_done = false;
    const char *name, *prefix = build->foreign.options->prefix;
    enum status st = foreign_name(&build->foreign, wish, "", &name);
    if (st == OK && strcmp(name + (prefix ? strlen(prefix) : 0), wish) != 0)
        st = systemd_note(build, timer, NULL, FOREIGN_INFO, "the job is named \"%.128s\"", name);
    if (st == OK)
        st = systemd_set(definition, "name", json_string(name));
    if (st == OK)
        st = foreign_add(&build->foreign, &timer->who, definition, &origin, &is_done);
    if (st == OK && !is_done)
        out->notes[out->note_count - 1].file = file_of_lost(out, timer);
    return st;
}

/* "sync@home.service" is there as "sync@.service", as a rule. */
static enum status find_service(struct systemd_build *build, struct systemd_timer *timer,
                                struct strbuf *name)
{
    const struct unit_line *line = unit_get(timer->timer, "Timer", "Unit");
    if (line)
        strbuf_adds(name, line->value);
    else
        strbuf_addf(name, "%.*s.service", (int)(strlen(timer->timer->name) - strlen(".timer")),
                    timer->timer->name);
    enum status st = strbuf_status(name);
    if (st != OK)
        return st;
    timer->names.unit = name->text;
    timer->service = unit_find(build->units, name->text);
    const char *sign = strchr(name->text, '@');
    if (!timer->service && sign) {
        struct strbuf pattern;
        strbuf_init(&pattern);
        strbuf_add(&pattern, name->text, (size_t)(sign - name->text) + 1);
        strbuf_adds(&pattern, ".service");
        st = strbuf_status(&pattern);
        if (st == OK)
            timer->service = unit_find(build->units, pattern.text);
        strbuf_release(&pattern);
    }
    if (st == OK && !timer->service)
        st = systemd_note(build, timer, line, FOREIGN_ERROR,
                          "its service %.80s is not among the files", name->text);
    return st;
}

static enum status add_timer(struct systemd_build *build, const struct unit *unit)
{
    struct node whole = unit->count ? unit->lines[0].at : (struct node){.kind = NODE_NULL};
    struct systemd_timer timer = {.timer = unit,
                                  .names.is_user = build->options->is_user,
                                  .who = {.node = &whole, .name = unit->name}};
    struct strbuf service;
    char *wish = strndup(unit->name, strlen(unit->name) - strlen(".timer"));
    json_t *definition = json_object();
    strbuf_init(&service);
    enum status st = wish && definition ? find_service(build, &timer, &service) : E_NOMEM;
    if (st == OK && !timer.is_lost)
        st = set_timer(build, &timer, definition);
    if (st == OK && !timer.is_lost)
        st = systemd_set_service(build, &timer, definition);
    if (st == OK && !timer.is_lost)
        st = add_job(build, &timer, wish, definition);
    json_decref(definition);
    strbuf_release(&service);
    free(wish);
    return st;
}

/* A timer that is only a template, or masked by an empty file, runs nothing. */
static bool is_timer(const struct unit *unit)
{
    size_t length = strlen(unit->name), type = strlen(".timer");
    return unit->count && length > type && strcmp(unit->name + length - type, ".timer") == 0 &&
           unit->name[length - type - 1] != '@';
}

/* ---- files ---- */

static enum status refuse_line(void *context, const char *file, int line, const char *why)
{
    struct systemd_build *build = context;
    const struct node at = {.kind = NODE_NULL, .line = line, .column = 1};
    build->foreign.file = file;
    return foreign_note(&build->foreign, NULL, &at, FOREIGN_WARNING, "%s", why);
}

static enum status read_files(struct systemd_build *build, const struct systemd_file *files,
                              size_t count, struct unit_set *units, struct parse_error *reterr)
{
    enum status st = OK;
    bool is_any = true;
    for (size_t i = 0; i < count && st == OK; i++) {
        st = utf8_check(files[i].text, files[i].length, reterr);
        if (st == OK)
            st = unit_set_read(units, files[i].path, files[i].text, files[i].length, refuse_line,
                               build, &is_any);
        if (st == OK && !is_any)
            return parse_fail(reterr, 0,
                              "expected units of systemd: *.timer and *.service files, or what "
                              "`systemctl cat` prints");
    }
    return st;
}

enum status systemd_import(const struct systemd_file *files, size_t count,
                           const struct systemd_options *options, struct zone_db *zones,
                           struct foreign *ret, struct parse_error *reterr)
{
    struct unit_set units;
    struct systemd_build build = {.options = options, .units = &units};
    size_t timers = 0;
    foreign_build_init(&build.foreign, &options->foreign, zones, ret);
    unit_set_init(&units);
    enum status st = read_files(&build, files, count, &units, reterr);
    for (size_t i = 0; i < units.count && st == OK; i++) {
        if (!is_timer(units.units[i]) ||
            (options->only && strcmp(options->only, units.units[i]->name) != 0))
            continue;
        timers++;
        st = add_timer(&build, units.units[i]);
    }
    if (st == OK && !timers)
        st = parse_fail(reterr, 0, "no timer is among the files");
    foreign_sort_notes(ret);
    unit_set_release(&units);
    foreign_build_release(&build.foreign);
    return st;
}
