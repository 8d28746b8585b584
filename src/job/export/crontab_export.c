#include "export/crontab_export.h"

#include <stdlib.h>
#include <string.h>

#include "definition/job_internal.h"
#include "document/shell_word.h"
#include "export/export.h"

static bool is_variable_name(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    return !strchr("0123456789", name[0]) && !name[strspn(name, letters)];
}

/* Why the job can't be one line of a crontab; NULL: it can. */
static const char *complaint(const struct job *job, bool system)
{
    if (job->paused)
        return "it is paused";
    if (export_complaint(job))
        return export_complaint(job);
    if (system && !job->user) /* a guess could grant more rights */
        return "it names no user";
    if (job->script && strchr(job->script, '\n') &&
        strchr(job->script, '\n') != job->script + strlen(job->script) - 1)
        return "its script has several lines; put it into a file";
    for (char **word = job->command; word && *word; word++) {
        if (strchr(*word, '\n'))
            return "its command holds a line end";
    }
    for (size_t i = 0; i < job->env.count; i++) {
        if (strchr(job->env.items[i].value, '\n') || !is_variable_name(job->env.items[i].name))
            return "its environment can't be written in one line";
    }
    if (job->cwd && strchr(job->cwd, '\n'))
        return "its directory holds a line end";
    return NULL;
}

/* One line of sh with the job's environment, umask, directory, nice values and command. */
static void add_command(struct strbuf *out, const struct job *job)
{
    for (size_t i = 0; i < job->env.count; i++) {
        strbuf_addf(out, "export %s=", job->env.items[i].name);
        shell_word(out, job->env.items[i].value);
        strbuf_adds(out, "; ");
    }
    if (job->umask_bits >= 0)
        strbuf_addf(out, "umask %03o; ", (unsigned)job->umask_bits);
    if (job->cwd) {
        strbuf_adds(out, "cd ");
        shell_word(out, job->cwd);
        strbuf_adds(out, " && ");
    }
    if (job->nice)
        strbuf_addf(out, "nice -n %d ", job->nice);
    if (job->ionice.class == IONICE_IDLE)
        strbuf_adds(out, "ionice -c 3 ");
    if (job->ionice.class == IONICE_BEST_EFFORT)
        strbuf_addf(out, "ionice -c 2 -n %d ", job->ionice.level);
    bool has_nice = job->nice || job->ionice.class != IONICE_DEFAULT;
    if (job->kind == JOB_SHELL && (has_nice || job->cwd || job->env.count)) {
        strbuf_adds(out, "bash -c ");
        size_t length = strcspn(job->script, "\n");
        char *line = strndup(job->script, length);
        if (line)
            shell_word(out, line);
        else
            out->failed = true;
        free(line);
    } else if (job->kind == JOB_SHELL) {
        strbuf_add(out, job->script, strcspn(job->script, "\n"));
    }
    for (char **word = job->command; word && *word; word++) {
        strbuf_adds(out, word == job->command ? "" : " ");
        shell_word(out, *word);
    }
}

/* Escapes the command or its input: an unescaped `%` is a line end to cron. */
static void add_escaped(struct strbuf *out, const char *text, bool is_input)
{
    for (; *text; text++) {
        if (*text == '%')
            strbuf_adds(out, "\\%");
        else if (*text == '\n' && is_input)
            strbuf_addc(out, '%');
        else
            strbuf_addc(out, *text);
    }
}

static void add_input(struct strbuf *out, const char *text)
{
    const char *end = text + strlen(text);
    strbuf_addc(out, '%');
    add_escaped(out, text, true);
    if (end - text > 1 && end[-1] == '\n' && end[-2] != '\n')
        strbuf_truncate(out, out->length - 1); /* cron adds the last line end */
}

/* Appends a line; further lines of the text become comments. */
static void add_commented(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        strbuf_addc(out, *text);
        if (*text == '\n')
            strbuf_adds(out, "# ");
    }
    strbuf_addc(out, '\n');
}

/* Appends the schedule in cron's syntax. Returns why cron can't express it; NULL: it can. */
static const char *add_schedule(struct strbuf *out, const struct schedule *schedule)
{
    switch (schedule_kind(schedule)) {
    case SCHEDULE_REBOOT:
        strbuf_adds(out, "@reboot");
        return NULL;
    case SCHEDULE_EVERY:
        return "cron has no fixed rate";
    case SCHEDULE_AFTER:
        return "cron can't count from the end of the last run";
    case SCHEDULE_AT:
        return "cron has no single instant; at(1) does";
    case SCHEDULE_MANUAL:
        return "it runs only when asked";
    case SCHEDULE_CRON:
        break;
    }
    size_t begin = out->length;
    cron_expr_print(schedule_cron(schedule), out);
    int blanks = 0;
    for (const char *c = out->text + begin; *c; c++)
        blanks += *c == ' ';
    const char *reason = blanks != 4 ? "cron has neither seconds nor years" : NULL;
    if (!reason && strpbrk(out->text + begin, "LW#+?"))
        reason = "cron has no L, W, # and +";
    if (reason)
        strbuf_truncate(out, begin);
    return reason;
}

static void add_after(struct strbuf *out, const struct job *job)
{
    strbuf_adds(out, job->after_count ? "# left out: cron can't wait for " : "");
    for (size_t i = 0; i < job->after_count; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "", job->after[i].job);
    strbuf_adds(out, job->after_count ? "\n" : "");
}

/* A comment for each field of the job that cron lacks. */
static void add_remarks(struct strbuf *out, const struct job *job, bool system)
{
    static const struct export_target cron = {"cron", CARRIES_ALLOW};
    export_remarks(job, &cron, out);
    if (job->user && !system) {
        strbuf_adds(out, "# not in a user's crontab: user ");
        strbuf_adds(out, job->user);
        strbuf_addc(out, '\n');
    }
}

struct exporter {
    struct strbuf *out;
    struct zone_db *zones;
    bool system;
    const struct zone *zone; /* of the last CRON_TZ line */
};

static enum status export_schedule(struct exporter *ex, const struct job *job, size_t index,
                                   const char *reason)
{
    struct schedule *schedule = NULL;
    struct strbuf line, command;
    enum status st = job_schedule_parse(job, index, false, ex->zones, &schedule, NULL);
    if (st != OK)
        return st;
    strbuf_init(&line);
    strbuf_init(&command);
    const char *cron_reason = add_schedule(&line, schedule);
    if (cron_reason)
        strbuf_adds(&line, job->schedules[index]);
    reason = reason ? reason : cron_reason;
    if (!reason && schedule_zone(schedule) != ex->zone &&
        schedule_kind(schedule) == SCHEDULE_CRON) {
        ex->zone = schedule_zone(schedule);
        strbuf_addf(ex->out, "CRON_TZ=%s\n", zone_name(ex->zone));
    }
    if (reason)
        strbuf_addf(ex->out, "# left out: %s\n# ", reason);
    if (ex->system)
        strbuf_addf(&line, " %s", job->user ? job->user : "-");
    strbuf_addc(&line, ' ');
    add_command(&command, job);
    add_escaped(&line, command.text, false);
    if (job->stdin_text)
        add_input(&line, job->stdin_text);
    add_commented(ex->out, line.text);
    if (line.failed || command.failed)
        st = E_NOMEM;
    strbuf_release(&line);
    strbuf_release(&command);
    schedule_free(schedule);
    return st;
}

enum status crontab_export(struct job *const *jobs, size_t count, bool system,
                           struct zone_db *zones, struct strbuf *out)
{
    struct exporter ex = {.out = out, .zones = zones, .system = system};
    strbuf_adds(out, "# Written by peal. cron starts a job also while its last run is under way,\n"
                     "# and never makes good what it missed. CRON_TZ needs cronie.\n"
                     "SHELL=/bin/bash\n");
    for (size_t i = 0; i < count; i++) {
        strbuf_addf(out, "\n# %s\n", jobs[i]->name);
        add_remarks(out, jobs[i], system);
        add_after(out, jobs[i]);
        for (size_t k = 0; k < jobs[i]->schedule_count; k++) {
            enum status st = export_schedule(&ex, jobs[i], k, complaint(jobs[i], system));
            if (st != OK)
                return st;
        }
    }
    return strbuf_status(out);
}
