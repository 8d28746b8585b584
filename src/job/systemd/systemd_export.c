/* A job as a timer and its service. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_internal.h"
#include "duration.h"
#include "export/export.h"
#include "function/run_limits.h"
#include "systemd/calendar_print.h"
#include "systemd/systemd.h"
#include "systemd/timer_calendar.h"
#include "timestamp.h"

static const struct export_target target = {"systemd", CARRIES_TIMEOUT | CARRIES_JITTER |
                                                           CARRIES_LIMITS | CARRIES_EXIT};

void systemd_unit_name(const char *job, struct strbuf *out)
{
    for (; *job; job++) {
        unsigned char c = (unsigned char)*job;
        if (c < 0x80 && (isalnum(c) || strchr("._-", c)))
            strbuf_addc(out, *job);
        else if (c == '/')
            strbuf_addc(out, '-');
        else
            strbuf_addf(out, "\\x%02x", c); /* as systemd-escape does */
    }
}

/* ---- words ---- */

/* A word, or a text in a line, in double quotes where it needs them. */
static void add_quoted(struct strbuf *out, const char *text)
{
    static const char harmless[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:@,+-=";
    if (*text && !text[strspn(text, harmless)]) {
        strbuf_adds(out, text);
        return;
    }
    strbuf_addc(out, '"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            strbuf_addf(out, "\\%c", c);
        else if (c == '%')
            strbuf_adds(out, "%%");
        else if (c == '\n')
            strbuf_adds(out, "\\n");
        else if (c < 0x20 || c == 0x7f)
            strbuf_addf(out, "\\x%02x", c);
        else
            strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

/* A path, or a description: up to the end of the line, and never in quotes. */
static void add_line(struct strbuf *out, const char *name, const char *text)
{
    strbuf_addf(out, "%s=", name);
    for (; *text; text++) {
        strbuf_addc(out, *text == '\n' ? ' ' : *text);
        if (*text == '%')
            strbuf_addc(out, '%');
    }
    strbuf_addc(out, '\n');
}

/* With ":" no word is a variable. */
static void add_command(struct strbuf *out, const struct job *job)
{
    strbuf_adds(out, "ExecStart=:");
    if (job->kind == JOB_SHELL) {
        strbuf_adds(out, "/bin/bash -c ");
        add_quoted(out, job->script);
    }
    for (char **word = job->command; word && *word; word++) {
        strbuf_adds(out, word == job->command ? "" : " ");
        add_quoted(out, *word);
    }
    strbuf_addc(out, '\n');
}

/* ---- the service ---- */

static void add_seconds(struct strbuf *out, const char *name, int64_t seconds)
{
    strbuf_addf(out, "%s=%lld\n", name, (long long)seconds);
}

static void add_limit(struct strbuf *out, const char *name, int64_t value)
{
    if (value >= 0)
        add_seconds(out, name, value);
}

/* Of the whole service, and its turn at the disk. */
static void add_share(struct strbuf *out, const struct job *job)
{
    int64_t milli = limit_cpu_milli(&job->limits);
    add_limit(out, "MemoryMax", job->limits.total_memory_bytes);
    add_limit(out, "TasksMax", job->limits.total_processes);
    add_limit(out, "IOWeight", job->limits.io_weight);
    if (milli)
        strbuf_addf(out, "CPUQuota=%lld%%\n", (long long)(milli / 10));
    if (job->ionice.class == IONICE_IDLE)
        strbuf_adds(out, "IOSchedulingClass=idle\n");
    if (job->ionice.class == IONICE_BEST_EFFORT)
        strbuf_addf(out, "IOSchedulingClass=best-effort\nIOSchedulingPriority=%d\n",
                    job->ionice.level);
}

static void add_limits(struct strbuf *out, const struct job *job)
{
    if (job->nice)
        strbuf_addf(out, "Nice=%d\n", job->nice);
    if (job->umask_bits >= 0)
        strbuf_addf(out, "UMask=%04o\n", (unsigned)job->umask_bits);
    add_limit(out, "LimitNOFILE", job->limits.open_files);
    add_limit(out, "LimitNPROC", job->limits.processes);
    add_limit(out, "LimitCORE", job->limits.core_bytes);
    add_limit(out, "LimitAS", job->limits.memory_bytes);
    add_limit(out, "LimitCPU", job->limits.cpu_s);
    add_limit(out, "LimitFSIZE", job->limits.file_bytes);
    add_share(out, job);
}

static void add_success(struct strbuf *out, const struct job *job)
{
    for (char **code = job->expect.exit; code && *code; code++) {
        int first = atoi(*code), last = first;
        const char *dash = strchr(*code, '-');
        if (dash)
            last = atoi(dash + 1);
        for (int each = first; each <= last && each < 256; each++)
            strbuf_addf(out, "SuccessExitStatus=%d\n", each);
    }
}

static void add_service(struct strbuf *out, const struct job *job)
{
    strbuf_adds(out, "# Written by peal.\n[Unit]\n");
    add_line(out, "Description", job->notes ? job->notes : job->name);
    strbuf_adds(out, "\n[Service]\nType=oneshot\n");
    add_command(out, job);
    for (size_t i = 0; i < job->env.count; i++) {
        struct strbuf pair;
        strbuf_init(&pair);
        strbuf_addf(&pair, "%s=%s", job->env.items[i].name, job->env.items[i].value);
        strbuf_adds(out, "Environment=");
        add_quoted(out, pair.text);
        strbuf_addc(out, '\n');
        out->failed = out->failed || pair.failed;
        strbuf_release(&pair);
    }
    if (job->user)
        add_line(out, "User", job->user);
    add_line(out, "WorkingDirectory", job->cwd ? job->cwd : "-~");
    if (job->timeout_s)
        add_seconds(out, "TimeoutStartSec", job->timeout_s);
    else
        strbuf_adds(out, "TimeoutStartSec=infinity\n");
    add_seconds(out, "TimeoutStopSec", job->grace_s);
    add_limits(out, job);
    add_success(out, job);
    if (job->stdin_text)
        strbuf_adds(out, "# not in systemd: stdin\n");
}

/* ---- the timer ---- */

/* The interval of an @every that is a part of a minute, an hour, a day or a week, all of which
 * begin with 1970: as a calendar event in UTC. False: it is none. */
static bool print_interval(int64_t seconds, struct strbuf *out)
{
    enum { MINUTE = 60, HOUR = 3600, DAY = 86400, WEEK = 7 * DAY };
    if (seconds < MINUTE && MINUTE % seconds == 0)
        strbuf_addf(out, "*-*-* *:*:00/%d UTC", (int)seconds);
    else if (seconds == MINUTE)
        strbuf_adds(out, "*-*-* *:*:00 UTC");
    else if (seconds < HOUR && seconds % MINUTE == 0 && HOUR % seconds == 0)
        strbuf_addf(out, "*-*-* *:00/%d:00 UTC", (int)(seconds / MINUTE));
    else if (seconds == HOUR)
        strbuf_adds(out, "*-*-* *:00:00 UTC");
    else if (seconds < DAY && seconds % HOUR == 0 && DAY % seconds == 0)
        strbuf_addf(out, "*-*-* 00/%d:00:00 UTC", (int)(seconds / HOUR));
    else if (seconds == DAY)
        strbuf_adds(out, "*-*-* 00:00:00 UTC");
    else if (seconds == WEEK)
        strbuf_adds(out, "Thu *-*-* 00:00:00 UTC");
    else
        return false;
    return true;
}

/* The schedules that the events are, as they are read back. */
struct read_back {
    struct schedule *items[CALENDAR_EVENTS_MAX];
    size_t count;
};

static enum status read_event(const char *event, struct zone_db *zones, struct read_back *ret)
{
    struct timer_calendar calendar;
    struct schedule_options options = schedule_options_default();
    struct strbuf text;
    struct parse_error err;
    enum status st = timer_calendar_read(event, zones, &calendar, &err);
    strbuf_init(&text);
    if (st == OK)
        timer_calendar_schedule(&calendar, &text);
    if (st == OK)
        st = strbuf_status(&text);
    options.default_tz = st == OK ? calendar.zone : NULL;
    options.dst = DST_SKIP; /* as systemd */
    if (st == OK)
        st = schedule_parse(text.text, &options, zones, &ret->items[ret->count], NULL);
    ret->count += st == OK;
    strbuf_release(&text);
    return st;
}

/* Only a timer whose ticks are the schedule's is written, but for those that a change of the clock
 * moves, which a comment names. */
static enum status prove(const struct schedule *schedule, const struct calendar_events *events,
                         int64_t from_s, struct zone_db *zones, struct strbuf *out,
                         const char **ret_why)
{
    struct read_back back = {.count = 0};
    enum status st = OK;
    for (size_t i = 0; i < events->count && st == OK; i++)
        st = read_event(events->items[i].text, zones, &back);
    struct export_proof proof = {.is_equal = false};
    if (st == OK)
        proof = export_compare(schedule, back.items, back.count, from_s);
    if (st == E_INVALID || (st == OK && !proof.is_equal && !proof.is_by_clock)) {
        *ret_why = "its ticks would be other ones";
        st = OK;
    } else if (st == OK && !proof.is_equal) {
        strbuf_adds(out, "# differs where the clock is changed, first at ");
        timestamp_print_local(proof.differs_s, schedule_zone(schedule), out);
        strbuf_adds(out, ": systemd passes over a time that does not exist, and takes a time that "
                         "comes twice once\n");
    }
    for (size_t i = 0; i < back.count; i++)
        schedule_free(back.items[i]);
    return st;
}

static enum status add_events(const struct schedule *schedule, int64_t from_s,
                              struct zone_db *zones, struct strbuf *remarks, struct strbuf *out,
                              const char **ret_why)
{
    struct calendar_events events = {.items = NULL};
    enum status st = calendar_events_of(schedule_cron(schedule), zone_name(schedule_zone(schedule)),
                                        &events, ret_why);
    if (st == OK && !*ret_why)
        st = prove(schedule, &events, from_s, zones, remarks, ret_why);
    for (size_t i = 0; i < events.count && st == OK && !*ret_why; i++)
        strbuf_addf(out, "OnCalendar=%s\n", events.items[i].text);
    calendar_events_release(&events);
    return st;
}

static enum status add_time(const struct schedule *schedule, int64_t from_s, struct zone_db *zones,
                            struct strbuf *remarks, struct strbuf *out, const char **ret_why)
{
    struct strbuf event;
    switch (schedule_kind(schedule)) {
    case SCHEDULE_CRON:
        return add_events(schedule, from_s, zones, remarks, out, ret_why);
    case SCHEDULE_EVERY:
        strbuf_init(&event);
        if (schedule_start(schedule) != TIME_UNSET ||
            !print_interval(schedule_interval(schedule), &event))
            *ret_why = "systemd has no fixed rate but parts of a minute, an hour or a day";
        else
            strbuf_addf(out, "OnCalendar=%s\n", event.text);
        strbuf_release(&event);
        return OK;
    case SCHEDULE_AFTER:
        add_seconds(out, "OnBootSec", schedule_interval(schedule));
        add_seconds(out, "OnUnitInactiveSec", schedule_interval(schedule));
        return OK;
    case SCHEDULE_AT:
        strbuf_addf(out, "OnCalendar=@%lld\n", (long long)schedule_at(schedule));
        return OK;
    case SCHEDULE_REBOOT:
        strbuf_adds(remarks, "# systemd starts it also when the timer is started again\n");
        strbuf_adds(out, "OnBootSec=1\n");
        return OK;
    case SCHEDULE_MANUAL:
        return OK;
    }
    return OK;
}

static enum status add_times(const struct job *job, int64_t from_s, struct zone_db *zones,
                             struct strbuf *remarks, struct strbuf *out, const char **ret_why)
{
    enum status st = OK;
    for (size_t i = 0; i < job->schedule_count && st == OK && !*ret_why; i++) {
        struct schedule *schedule = NULL;
        struct job plain = *job; /* without what moves its ticks otherwise */
        plain.start_s = plain.end_s = TIME_UNSET;
        bool is_anchored = strncmp(job->schedules[i], "@every", 6) == 0;
        st = job_schedule_parse(is_anchored ? job : &plain, i, false, zones, &schedule, NULL);
        if (st == OK)
            st = add_time(schedule, from_s, zones, remarks, out, ret_why);
        schedule_free(schedule);
    }
    return st;
}

static void add_timer(struct strbuf *out, const struct job *job, const struct strbuf *remarks,
                      const struct strbuf *times)
{
    strbuf_addf(out, "# Written by peal, for the job %s.\n", job->name);
    export_remarks(job, &target, out);
    if (job->catch_up == CATCH_UP_ALL)
        strbuf_adds(out, "# not in systemd: catch_up: all\n");
    strbuf_adds(out, remarks->text);
    if (job->paused)
        strbuf_adds(out, "# the job is paused: nothing enables this timer\n");
    strbuf_adds(out, "[Unit]\n");
    add_line(out, "Description", job->name);
    strbuf_addf(out, "\n[Timer]\n%s", times->text);
    strbuf_adds(out, "AccuracySec=1s\n");
    if (job->catch_up != CATCH_UP_SKIP)
        strbuf_adds(out, "Persistent=true\n");
    if (job->jitter_s) {
        add_seconds(out, "RandomizedDelaySec", job->jitter_s);
        strbuf_adds(out, "FixedRandomDelay=true\n");
    }
    if (!job->paused)
        strbuf_adds(out, "\n[Install]\nWantedBy=timers.target\n");
}

/* ---- the whole ---- */

static const char *complaint(const struct job *job)
{
    const char *first = job->command ? job->command[0] : NULL;
    if (export_complaint(job))
        return export_complaint(job);
    if (job->after_count)
        return "it waits for other jobs";
    if (first && (!(*first == '/' || isalnum((unsigned char)*first)) ||
                  (*first != '/' && strchr(first, '/'))))
        return "its program is neither a path from / nor a plain name";
    if (job->cwd && strchr(job->cwd, '\n'))
        return "its directory holds a line end";
    return NULL;
}

enum status systemd_export(const struct job *job, int64_t from_s, struct zone_db *zones,
                           struct systemd_units *ret, const char **ret_why)
{
    struct strbuf remarks, times;
    *ret_why = complaint(job);
    if (*ret_why)
        return OK;
    strbuf_init(&remarks);
    strbuf_init(&times);
    enum status st = add_times(job, from_s, zones, &remarks, &times, ret_why);
    if (st == OK)
        st = strbuf_status(&remarks);
    if (st == OK)
        st = strbuf_status(&times);
    if (st == OK && !*ret_why) {
        if (times.length)
            add_timer(&ret->timer, job, &remarks, &times);
        add_service(&ret->service, job);
        st = strbuf_status(&ret->timer);
    }
    if (st == OK)
        st = strbuf_status(&ret->service);
    strbuf_release(&remarks);
    strbuf_release(&times);
    return st;
}
