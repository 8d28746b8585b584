#include "crontab/shadow.h"

#include <string.h>

enum {
    MINUTE = 60,
    CUT_AT = 900, /* syslog cuts long lines */
};

const char *shadow_label(const struct job *job)
{
    for (size_t i = 0; i < job->labels.count; i++) {
        if (strcmp(job->labels.items[i].name, SHADOW_LABEL) == 0)
            return job->labels.items[i].value;
    }
    return "";
}

/* What cron gives to its shell. */
static const char *command_of(const struct job *job)
{
    bool is_other_shell =
        job->command && job->command[0] && job->command[1] && strcmp(job->command[1], "-c") == 0;
    return job->script ? job->script : is_other_shell ? job->command[2] : NULL;
}

bool shadow_is_start(const struct job *job, const struct cron_start *start, const char *user)
{
    const char *command = command_of(job), *owner = job->user ? job->user : user;
    if (!command || (owner && strcmp(owner, start->user) != 0))
        return false;
    size_t length = strlen(command), logged = strlen(start->command);
    while (length && strchr(" \t\n", command[length - 1]))
        length--;
    if (length == logged)
        return strncmp(command, start->command, length) == 0;
    return logged >= CUT_AT && logged < length && strncmp(command, start->command, logged) == 0;
}

static bool is_same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* "sh", "-c" and the command of cron, whose first word may be another path. */
static bool is_same_command(const struct job *job, const struct job *line)
{
    if (job->script || line->script)
        return is_same_text(job->script, line->script);
    if (!job->command || !line->command || !job->command[0] || !line->command[0])
        return false;
    return is_same_text(job->command[1], line->command[1]) &&
           is_same_text(job->command[1] ? job->command[2] : NULL,
                        line->command[1] ? line->command[2] : NULL);
}

bool shadow_is_line(const struct job *job, const struct job *line)
{
    return job->schedule_count && line->schedule_count && is_same_text(job->user, line->user) &&
           strcmp(job->schedules[0], line->schedules[0]) == 0 && is_same_command(job, line);
}

static void add(struct shadow_report *report, int64_t at_s, bool is_cron, enum shadow_why why)
{
    report->only_cron += is_cron;
    report->only_peal += !is_cron;
    if (report->count < SHADOW_DIFFERENCES_MAX)
        report->items[report->count++] = (struct shadow_difference){at_s, is_cron, why};
}

/* Why cron has not started a tick. */
static enum shadow_why find_why(const struct schedule_set *schedules, const struct cron_log *log,
                                int64_t tick_s)
{
    for (size_t i = 0; i < schedules->count; i++) {
        if (schedule_next(schedules->items[i], tick_s - 1) == tick_s &&
            schedule_tick_note(schedules->items[i], tick_s).kind != TICK_PLAIN)
            return SHADOW_CLOCK;
    }
    for (size_t i = 0; i < log->count; i++) {
        if (log->starts[i].at_s >= tick_s && log->starts[i].at_s < tick_s + MINUTE)
            return SHADOW_OTHERS;
    }
    return SHADOW_SILENT;
}

static bool is_reboot(const struct schedule_set *schedules)
{
    for (size_t i = 0; i < schedules->count; i++) {
        if (schedule_kind(schedules->items[i]) == SCHEDULE_REBOOT)
            return true;
    }
    return false;
}

void shadow_compare(const struct job *job, const struct schedule_set *schedules,
                    const struct cron_log *log, const char *user, int64_t from_s, int64_t until_s,
                    struct shadow_report *ret)
{
    enum shadow_why stray = is_reboot(schedules) ? SHADOW_REBOOT : SHADOW_NO_TICK;
    int64_t tick_s = schedule_set_next(schedules, from_s - 1, NULL);
    int64_t late_s = MINUTE + job->jitter_s; /* RANDOM_DELAY */
    *ret = (struct shadow_report){.equal = 0};
    for (size_t i = 0; i < log->count; i++) {
        const struct cron_start *start = &log->starts[i];
        if (start->at_s < from_s || start->at_s > until_s || !shadow_is_start(job, start, user))
            continue;
        while (tick_s <= until_s && tick_s + late_s <= start->at_s) {
            add(ret, tick_s, false, find_why(schedules, log, tick_s));
            tick_s = schedule_set_next(schedules, tick_s, NULL);
        }
        if (tick_s > until_s || start->at_s < tick_s) {
            add(ret, start->at_s, true, stray);
            continue;
        }
        ret->equal++;
        tick_s = schedule_set_next(schedules, tick_s, NULL);
    }
    for (; tick_s <= until_s; tick_s = schedule_set_next(schedules, tick_s, NULL))
        add(ret, tick_s, false, find_why(schedules, log, tick_s));
}
