/* peal shadow: imported jobs beside the crontab that still runs, until they take over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "client/batch/batch.h"
#include "crontab/crontab.h"
#include "crontab/shadow.h"
#include "jobs/definition.h"
#include "jobs/foreign/crontab_file.h"
#include "jobs/input_file.h"
#include "text/tr.h"
#include "timestamp.h"

static const char marker[] = "#peal# "; /* of a line that peal has taken over */
static const char cron_name[] = "crontab";

struct request {
    struct request_base base;
    const char *file, *user; /* a crontab */
    bool system;
    const char *log;
    struct when_text since, until;
    enum output output;
};

/* ---- the jobs ---- */

/* All jobs of the agent that have this value of the label. */
static enum exit_code read_jobs(struct client *client, const struct reading *reading,
                                const char *label, struct job_list *jobs)
{
    json_t *found = NULL;
    const json_t *each;
    size_t i;
    enum exit_code code = client_list(client, "/jobs?", 0, &found);
    json_array_foreach (found, i, each) {
        struct job *job = NULL;
        if (code != EXIT_OK)
            break;
        const char *value =
            json_string_value(json_object_get(json_object_get(each, "labels"), SHADOW_LABEL));
        if (!value || strcmp(value, label) != 0)
            continue;
        code = cli_fail(definition_decode(reading, each, &job));
        if (code == EXIT_OK)
            code = cli_fail(array_grow(&jobs->items, jobs->count, sizeof(job)));
        if (code == EXIT_OK)
            jobs->items[jobs->count++] = job;
        else
            job_free(job);
    }
    json_decref(found);
    return code;
}

static enum status set_label(struct job *job, const char *value)
{
    for (size_t i = 0; i < job->labels.count; i++) {
        if (strcmp(job->labels.items[i].name, SHADOW_LABEL) == 0)
            return job_set_text(&job->labels.items[i].value, value);
    }
    return job_pairs_add(&job->labels, SHADOW_LABEL, value);
}

/* ---- report ---- */

static const char *why_word(const struct shadow_difference *difference)
{
    static const char *const words[] = {
        [SHADOW_NO_TICK] = TR("not a tick of the job's schedule"),
        [SHADOW_REBOOT] = TR("a boot, which peal counts by itself"),
        [SHADOW_SILENT] = TR("cron has logged nothing then"),
        [SHADOW_OTHERS] = TR("cron has logged other commands then"),
        [SHADOW_CLOCK] = TR("the clock is set forward or back there"),
    };
    return words[difference->why];
}

static json_t *differences_json(const struct job *job, const struct shadow_report *report,
                                bool is_table)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < report->count; i++) {
        const struct shadow_difference *each = &report->items[i];
        struct strbuf at;
        strbuf_init(&at);
        timestamp_print_utc(each->at_s, &at);
        const char *why = why_word(each);
        json_t *item = json_pack("{s:s, s:s, s:s}", "at", at.text, "only",
                                 each->is_cron ? "cron" : "peal", "why", is_table ? tr(why) : why);
        if (is_table)
            json_object_set_new(item, "job", json_string(job->name));
        json_array_append_new(list, item);
        strbuf_release(&at);
    }
    return list;
}

struct comparison {
    const struct cron_log *log;
    int64_t from_s, until_s;
    bool is_table, is_different;
    json_t *rows, *differences;
};

static enum exit_code compare(const struct reading *reading, const struct job *job,
                              struct comparison *all)
{
    struct schedule_set schedules;
    struct shadow_report report = {.equal = 0};
    schedule_set_init(&schedules);
    enum status st = job_schedules(job, reading->zones, &schedules, NULL);
    if (st == OK) {
        shadow_compare(job, &schedules, all->log, NULL, all->from_s, all->until_s, &report);
        json_t *found = differences_json(job, &report, all->is_table);
        json_t *row = json_pack("{s:s, s:I, s:I, s:I}", "job", job->name, "equal",
                                (json_int_t)report.equal, "only_cron", (json_int_t)report.only_cron,
                                "only_peal", (json_int_t)report.only_peal);
        if (all->is_table)
            json_array_extend(all->differences, found);
        else
            json_object_set(row, "differences", found);
        st = found && json_array_append_new(all->rows, row) == 0 ? OK : E_NOMEM;
        json_decref(found);
    }
    all->is_different = all->is_different || report.only_cron || report.only_peal;
    schedule_set_release(&schedules);
    return cli_fail(st);
}

static enum exit_code print_report(const struct request *request, const struct comparison *all)
{
    static const struct list_column columns[] = {
        COLUMN("JOB", "job"),
        COLUMN("EQUAL", "equal", .form = COLUMN_NUMBER),
        COLUMN("ONLY CRON", "only_cron", .form = COLUMN_NUMBER),
        COLUMN("ONLY PEAL", "only_peal", .form = COLUMN_NUMBER),
        {0}};
    static const struct list_column more[] = {COLUMN("JOB", "job"),
                                              COLUMN("AT", "at", .form = COLUMN_TIME),
                                              COLUMN("ONLY", "only"),
                                              COLUMN("WHY", "why"),
                                              {0}};
    static const struct list_form form = {
        .name = "job", .columns = columns, .none = "no job is a shadow of a crontab"};
    static const struct list_form form_of_more = {.name = "job", .columns = more};
    enum exit_code code = list_print(all->rows, request->output, &form);
    if (code != EXIT_OK || !all->is_table || !json_array_size(all->differences))
        return code;
    putchar('\n');
    return list_print(all->differences, request->output, &form_of_more);
}

static bool when_seconds(const struct when_text *when, int64_t *inout_s)
{
    int64_t at_ms;
    if (!*when->text || !when_parse(when->text, &at_ms))
        return false;
    *inout_s = at_ms / 1000;
    return true;
}

static enum exit_code read_log(const struct request *request, const struct reading *reading,
                               struct cron_log *log)
{
    struct strbuf text;
    const struct zone *zone = zone_utc();
    struct strbuf name;
    strbuf_init(&text);
    strbuf_init(&name);
    (void)zone_db_local_name(reading->zones, &name);
    if (zone_db_get(reading->zones, name.text, &zone, NULL) != OK)
        zone = zone_utc();
    enum exit_code code = input_file_read(request->log, &text);
    if (code == EXIT_OK)
        code = cli_fail(cron_log_read(text.text, text.length, zone, time(NULL), log));
    if (code == EXIT_OK && !log->count) {
        cli_error("%s has no line of cron like: CRON[123]: (root) CMD (backup)", request->log);
        code = EXIT_INVALID;
    }
    cron_log_sort(log);
    strbuf_release(&name);
    strbuf_release(&text);
    return code;
}

static enum exit_code report(struct client *client, void *place)
{
    enum { MINUTE = 60 };
    const struct request *request = place;
    struct reading reading;
    struct job_list jobs;
    struct cron_log log;
    if (!request->log)
        return cli_usage(request->base.command, "which log? --log FILE, or - for stdin");
    struct comparison all = {.log = &log, .rows = json_array(), .differences = json_array()};
    job_list_init(&jobs);
    cron_log_init(&log);
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = read_log(request, &reading, &log);
    if (code == EXIT_OK)
        code = read_jobs(client, &reading, SHADOW_CRON, &jobs);
    all.is_table = request->output == OUTPUT_TABLE || request->output == OUTPUT_WIDE;
    all.from_s = log.first_s - log.first_s % MINUTE;
    all.until_s = log.last_s;
    (void)when_seconds(&request->since, &all.from_s);
    (void)when_seconds(&request->until, &all.until_s);
    for (size_t i = 0; i < jobs.count && code == EXIT_OK; i++)
        code = compare(&reading, jobs.items[i], &all);
    if (code == EXIT_OK)
        code = print_report(request, &all);
    if (code == EXIT_OK && all.is_different)
        code = EXIT_ERROR;
    json_decref(all.rows);
    json_decref(all.differences);
    cron_log_release(&log);
    job_list_release(&jobs);
    reading_release(&reading);
    return code;
}

/* ---- take-over, and back ---- */

static bool is_same_text(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

/* The job of the agent that this line of the crontab is: same user, schedule and command. */
static struct job *find_job(const struct job_list *jobs, const struct job *line)
{
    for (size_t i = 0; i < jobs->count; i++) {
        struct job *job = jobs->items[i];
        bool has_words = job->command && line->command && job->command[0] && line->command[0];
        if (is_same_text(job->user, line->user) && is_same_text(job->script, line->script) &&
            job->schedule_count && strcmp(job->schedules[0], line->schedules[0]) == 0 &&
            (job->script || (has_words && is_same_text(job->command[1], line->command[1]) &&
                             is_same_text(job->command[1] ? job->command[2] : NULL,
                                          line->command[1] ? line->command[2] : NULL))))
            return job;
    }
    return NULL;
}

struct change {
    const char *from, *to; /* values of the label */
    bool takes;            /* else gives back */
};

static bool has_job(const struct job_list *jobs, const struct job *job)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (jobs->items[i] == job)
            return true;
    }
    return false;
}

/* The lines of the text that are jobs with this label, as `is_taken[line]`, and those jobs. */
static enum exit_code find_lines(const struct request *request, const struct reading *reading,
                                 const struct strbuf *text, const struct job_list *all,
                                 bool *is_taken, struct job_list *ret)
{
    struct crontab crontab;
    struct parse_error err = {0};
    const struct crontab_options options = {.system = request->system,
                                            .user = request->system ? NULL : request->user,
                                            .default_tz = reading->default_tz.text};
    crontab_init(&crontab);
    enum status st =
        crontab_import(text->text, text->length, &options, reading->zones, &crontab, &err);
    if (st == E_INVALID || st == E_TOO_LARGE)
        cli_error("%s: %s", request->file ? request->file : cron_name, err.message);
    for (size_t i = 0; i < crontab.jobs.count && st == OK; i++) {
        struct job *job = find_job(all, crontab.jobs.items[i]);
        if (!job)
            continue;
        is_taken[crontab.lines[i]] = true;
        if (has_job(ret, job))
            continue;
        st = array_grow(&ret->items, ret->count, sizeof(job));
        if (st == OK)
            ret->items[ret->count++] = job; /* the agent's, which `all` owns */
    }
    crontab_release(&crontab);
    return st == E_INVALID || st == E_TOO_LARGE ? EXIT_INVALID : cli_fail(st);
}

static bool is_marked(const char *line)
{
    return strncmp(line, marker, strlen(marker)) == 0;
}

/* The text without the marks of lines that were taken over, line by line. */
static void unmark(const struct strbuf *text, struct strbuf *out)
{
    for (const char *at = text->text; *at;) {
        size_t length = strcspn(at, "\n");
        const char *begin = is_marked(at) ? at + strlen(marker) : at;
        strbuf_add(out, begin, length - (size_t)(begin - at));
        at += length;
        if (*at)
            strbuf_addc(out, *at++);
    }
}

/* The text in which those lines have the mark, or have it no more. */
static void mark(const struct strbuf *text, const bool *is_taken, bool takes, struct strbuf *out)
{
    int line = 1;
    for (const char *at = text->text; *at; line++) {
        size_t length = strcspn(at, "\n");
        bool has_mark = is_marked(at);
        const char *begin = has_mark && is_taken[line] ? at + strlen(marker) : at;
        strbuf_adds(out, takes && is_taken[line] ? marker : "");
        strbuf_add(out, begin, length - (size_t)(begin - at));
        at += length;
        if (*at)
            strbuf_addc(out, *at++);
    }
}

static enum exit_code put_labels(struct client *client, const struct job_list *jobs,
                                 const struct change *change)
{
    struct batch batch;
    enum exit_code code = EXIT_OK;
    for (size_t i = 0; i < jobs->count && code == EXIT_OK; i++)
        code = cli_fail(set_label(jobs->items[i], change->to));
    if (code != EXIT_OK)
        return code;
    code = batch_init(&batch, jobs);
    if (code == EXIT_OK)
        code = batch_apply(client, &batch, false, NULL);
    batch_release(&batch);
    return code;
}

/* They are paused before they lose the label, and resumed once they have it: whatever fails in a
 * take-over, the way back undoes it. */
static enum exit_code change_jobs(struct client *client, const struct job_list *jobs,
                                  const struct change *change)
{
    enum exit_code code = EXIT_OK;
    for (size_t i = 0; i < jobs->count && code == EXIT_OK; i++) {
        jobs->items[i]->paused = true;
        if (!change->takes)
            code = client_job_action(client, jobs->items[i]->name, "pause", NULL, NULL);
    }
    if (code == EXIT_OK)
        code = put_labels(client, jobs, change);
    for (size_t i = 0; i < jobs->count && change->takes && code == EXIT_OK; i++)
        code = client_job_action(client, jobs->items[i]->name, "resume", NULL, NULL);
    return code;
}

/* Never both: cron's lines go before the jobs come, and come after the jobs have gone. */
static enum exit_code change_both(struct client *client, const struct request *request,
                                  const struct change *change, const struct strbuf *before,
                                  const struct strbuf *after, const struct job_list *jobs)
{
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = change->takes
                              ? crontab_back_up(request->file, request->user, before, &path)
                              : change_jobs(client, jobs, change);
    if (code == EXIT_OK)
        code = crontab_write(request->file, request->user, after);
    if (code == EXIT_OK && change->takes) {
        code = change_jobs(client, jobs, change);
        if (code != EXIT_OK && crontab_write(request->file, request->user, before) == EXIT_OK)
            cli_error("the crontab is as it was before");
    }
    if (code == EXIT_OK && change->takes)
        cli_note("the crontab as it was before the first take-over: %s", path.text);
    strbuf_release(&path);
    return code;
}

static enum exit_code change_text(struct client *client, const struct request *request,
                                  const struct reading *reading, const struct change *change,
                                  const struct job_list *all, const struct strbuf *before)
{
    struct strbuf plain, after;
    struct job_list jobs;
    size_t lines = 2;
    strbuf_init(&plain);
    strbuf_init(&after);
    job_list_init(&jobs);
    for (const char *at = before->text; (at = strchr(at, '\n')); at++)
        lines++;
    bool *is_taken = calloc(lines + 1, sizeof(*is_taken));
    if (change->takes)
        strbuf_add(&plain, before->text, before->length);
    else
        unmark(before, &plain);
    enum exit_code code = is_taken && !plain.failed ? EXIT_OK : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = find_lines(request, reading, &plain, all, is_taken, &jobs);
    if (code == EXIT_OK && !jobs.count) {
        cli_error("no line of the crontab is a job with the label %s=%s", SHADOW_LABEL,
                  change->from);
        code = EXIT_NOT_FOUND;
    }
    if (code == EXIT_OK) {
        mark(before, is_taken, change->takes, &after);
        code = cli_fail(strbuf_status(&after));
    }
    if (code == EXIT_OK)
        code = change_both(client, request, change, before, &after, &jobs);
    free(jobs.items); /* whose jobs are those of `all` */
    free(is_taken);
    strbuf_release(&plain);
    strbuf_release(&after);
    return code;
}

static enum exit_code change_crontab(struct client *client, const struct request *request,
                                     const struct change *change)
{
    struct reading reading;
    struct job_list all;
    struct strbuf before;
    if (request->system && (request->user || !request->file))
        return cli_usage(request->base.command, "--system is for a FILE, and without --user");
    job_list_init(&all);
    strbuf_init(&before);
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = read_jobs(client, &reading, change->from, &all);
    if (code == EXIT_OK)
        code = crontab_read(request->file, request->user, &before);
    if (code == EXIT_OK)
        code = change_text(client, request, &reading, change, &all, &before);
    strbuf_release(&before);
    job_list_release(&all);
    reading_release(&reading);
    return code;
}

static enum exit_code take_over(struct client *client, void *place)
{
    static const struct change change = {SHADOW_CRON, SHADOW_TAKEN, true};
    return change_crontab(client, place, &change);
}

static enum exit_code give_back(struct client *client, void *place)
{
    static const struct change change = {SHADOW_TAKEN, SHADOW_CRON, false};
    return change_crontab(client, place, &change);
}

/* ---- the command ---- */

static const struct option_row crontab_options[] = {
    OPTION_TEXT(request, user, 0, "user", "USER",
                "the crontab of this user; with FILE, the user of its jobs"),
    OPTION_FLAG(request, system, 0, "system", "lines have a user in the sixth field"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

#define CRONTAB                                                                                    \
    ROWS(ARGUMENT(request, file, "FILE", .is_optional = true, .complete = COMPLETE_FILES))

static const struct command subcommands[] = {
    {
        .name = "shadow report",
        .summary = "has cron started what the jobs would have started?",
        .options =
            ROWS(OPTION_TEXT(request, log, 0, "log", "FILE|-",
                             "the log in which cron has its lines", .complete = COMPLETE_FILES),
                 OPTION_WHEN(request, since, "since", "ticks from then on"),
                 OPTION_WHEN(request, until, "until", "ticks up to then"),
                 OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                 OPTION_GROUP(request, base, client_options)),
        .with_agent = report,
    },
    {
        .name = "shadow takeover",
        .summary = "comment the lines out in the crontab, and resume their jobs",
        .arguments = CRONTAB,
        .options = crontab_options,
        .too_many = "one file at a time",
        .with_agent = take_over,
    },
    {
        .name = "shadow back",
        .summary = "pause the jobs, and give the lines back to cron",
        .arguments = CRONTAB,
        .options = crontab_options,
        .too_many = "one file at a time",
        .with_agent = give_back,
    },
    {0},
};

const struct command cmd_shadow = {
    .name = "shadow",
    .summary = "imported jobs beside the crontab that still runs",
    .examples = EXAMPLES(
        {"peal import crontab --shadow --apply", "the jobs are scheduled, and nothing is started"},
        {"journalctl -t CRON -o short-iso | peal shadow report --log -", NULL},
        {"peal shadow takeover", "from now on peal runs them"},
        {"peal shadow back", "the way back"}),
    .notes =
        "The jobs of `peal import crontab --shadow` are paused, and have the label shadow=cron: "
        "each tick is recorded as skipped. The report compares their ticks with what cron has "
        "logged, from the first of its lines to the last. Exit status 1: there are "
        "differences.",
    .options = client_options,
    .too_few = "which command? peal shadow report, takeover or back",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
