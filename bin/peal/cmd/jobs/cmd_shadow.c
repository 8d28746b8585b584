/* peal shadow: imported jobs beside the crontab that still runs, until they take over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cli/listing.h"
#include "client/batch/batch.h"
#include "crontab/crontab.h"
#include "definition/selector.h"
#include "jobs/foreign/crontab_file.h"
#include "jobs/shadow/shadow_report.h"
#include "text/tr.h"

static const char marker[] = "#peal# "; /* of a line that peal has taken over */
static const char cron_name[] = "crontab";

struct request {
    struct request_base base;
    const char *file, *user; /* a crontab */
    bool system;
    const char *log, *fleet, *host;
    struct when_text since, until;
    enum output output;
};

/* ---- the jobs ---- */

static enum status set_label(struct job *job, const char *value)
{
    for (size_t i = 0; i < job->labels.count; i++) {
        if (strcmp(job->labels.items[i].name, SHADOW_LABEL) == 0)
            return job_set_text(&job->labels.items[i].value, value);
    }
    return job_pairs_add(&job->labels, SHADOW_LABEL, value);
}

/* ---- report ---- */

struct comparison {
    struct cron_log log;
    struct shadow_span span;
    bool is_table, is_different;
    json_t *rows, *differences;
};

static enum exit_code compare(const struct reading *reading, const struct job *job,
                              struct comparison *all)
{
    json_t *row = NULL, *found = NULL;
    enum exit_code code =
        shadow_compare_job(reading, job, &all->log, all->span, all->is_table, &row, &found);
    if (code == EXIT_OK) {
        all->is_different =
            all->is_different || answer_int(row, "only_cron", 0) || answer_int(row, "only_peal", 0);
        if (all->is_table)
            json_array_extend(all->differences, found);
        else
            json_object_set(row, "differences", found);
        code = cli_fail(json_array_append(all->rows, row) == 0 ? OK : E_NOMEM);
    }
    json_decref(row);
    json_decref(found);
    return code;
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

static enum exit_code read_log(const struct request *request, const struct reading *reading,
                               struct cron_log *log)
{
    struct strbuf zone;
    strbuf_init(&zone);
    (void)zone_db_local_name(reading->zones, &zone);
    enum exit_code code = shadow_read_log(request->log, zone.text, reading, log);
    if (code == EXIT_OK && !log->count) {
        cli_error("%s has no line of cron like: CRON[123]: (root) CMD (backup)", request->log);
        code = EXIT_INVALID;
    }
    strbuf_release(&zone);
    return code;
}

static enum exit_code report_machine(struct client *client, const struct request *request)
{
    struct reading reading;
    struct job_list jobs;
    struct comparison all = {.rows = json_array(), .differences = json_array()};
    job_list_init(&jobs);
    cron_log_init(&all.log);
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = read_log(request, &reading, &all.log);
    if (code == EXIT_OK)
        code = shadow_read_jobs(client, &reading, SHADOW_CRON, &jobs);
    all.is_table = request->output == OUTPUT_TABLE || request->output == OUTPUT_WIDE;
    all.span = shadow_span_of(&all.log, &request->since, &request->until);
    for (size_t i = 0; i < jobs.count && code == EXIT_OK; i++)
        code = compare(&reading, jobs.items[i], &all);
    if (code == EXIT_OK)
        code = print_report(request, &all);
    if (code == EXIT_OK && all.is_different)
        code = EXIT_ERROR;
    json_decref(all.rows);
    json_decref(all.differences);
    cron_log_release(&all.log);
    job_list_release(&jobs);
    reading_release(&reading);
    return code;
}

static enum exit_code report(struct client *client, void *place)
{
    const struct request *request = place;
    if (request->log && request->fleet)
        return cli_usage(request->base.command, "--log and --fleet exclude each other");
    if (request->fleet)
        return shadow_report_fleet(client, &(struct fleet_comparison){.folder = request->fleet,
                                                                      .since = &request->since,
                                                                      .until = &request->until,
                                                                      .output = request->output});
    if (!request->log)
        return cli_usage(request->base.command,
                         "which log? --log FILE, or - for stdin; or --fleet DIR");
    return report_machine(client, request);
}

/* ---- take-over, and back ---- */

/* "host=db-1" of another host: its line is in another crontab. */
static bool is_elsewhere(const struct job *job, const char *host)
{
    return job->where && strncmp(job->where, "host=", 5) == 0 && strcmp(job->where + 5, host) != 0;
}

/* The job of the agent that this line of the crontab is. */
static struct job *find_job(const struct job_list *jobs, const struct job *line, const char *host)
{
    for (size_t i = 0; i < jobs->count; i++) {
        struct job *job = jobs->items[i];
        if (!is_elsewhere(job, host) && shadow_is_line(job, line))
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

/* What is done with the lines of a crontab. */
struct lines {
    bool *is_taken; /* by their numbers */
    size_t count;
    struct job_list jobs; /* whose label changes; the agent's, which another list owns */
};

/* The lines of the text that are such jobs. A job that is spread over the hosts of a fleet has the
 * label already if its line was taken over, or given back, on another of them. */
static enum exit_code find_lines(const struct request *request, const struct reading *reading,
                                 const struct strbuf *text, const struct change *change,
                                 const struct job_list *all, struct lines *ret)
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
        struct job *job = find_job(all, crontab.jobs.items[i], request->host);
        if (!job)
            continue;
        ret->is_taken[crontab.lines[i]] = true;
        ret->count++;
        if (has_job(&ret->jobs, job) || strcmp(shadow_label(job), change->from) != 0)
            continue;
        st = array_grow(&ret->jobs.items, ret->jobs.count, sizeof(job));
        if (st == OK)
            ret->jobs.items[ret->jobs.count++] = job;
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
    if (code != EXIT_OK || !jobs->count)
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

/* ---- of a fleet ---- */

/* {"disk": "ssd", "zone": ""} as disk=ssd,zone */
static void print_labels(const json_t *node, struct strbuf *out)
{
    const char *name;
    json_t *value;
    json_object_foreach (json_object_get(node, "labels"), name, value) {
        const char *text = json_string_value(value);
        strbuf_addf(out, "%s%s%s%s", out->length ? "," : "", name, text && *text ? "=" : "",
                    text ? text : "");
    }
}

/* Would the job run on another node than that of this host? Its crontab still has the line, since
 * this is the first take-over. */
static enum exit_code check_node(const struct job *job, const json_t *node, const char *host)
{
    const char *named = json_string_value(json_object_get(json_object_get(node, "labels"), "host"));
    enum exit_code code = EXIT_OK;
    struct strbuf labels;
    strbuf_init(&labels);
    print_labels(node, &labels);
    if (labels.failed) {
        code = cli_fail(E_NOMEM);
    } else if (selector_matches(job->where ? job->where : "", labels.text) &&
               (!named || strcmp(named, host) != 0)) {
        cli_error("%s would also run on the node %s, whose crontab has its line still: give a node "
                  "the label %s after the take-over on its host",
                  job->name, answer_text(node, "node"), job->where ? job->where : "-");
        code = EXIT_CONFLICT;
    }
    strbuf_release(&labels);
    return code;
}

static enum exit_code check_nodes(struct client *client, const struct job_list *jobs,
                                  const char *host)
{
    json_t *answer = NULL;
    const json_t *node;
    size_t i;
    bool is_fleet = false;
    for (size_t k = 0; k < jobs->count; k++)
        is_fleet = is_fleet || jobs->items[k]->spread;
    enum exit_code code = is_fleet ? client_get(client, "/nodes", &answer) : EXIT_OK;
    json_array_foreach (json_object_get(answer, "items"), i, node) {
        for (size_t k = 0; k < jobs->count && code == EXIT_OK; k++) {
            if (jobs->items[k]->spread)
                code = check_node(jobs->items[k], node, host);
        }
    }
    json_decref(answer);
    return code;
}

static void tell_fleet(const struct job_list *jobs, bool takes)
{
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job = jobs->items[i];
        if (job->spread && takes)
            cli_note("%s runs on each node with the label %s: this one can have it now", job->name,
                     job->where);
        else if (job->spread)
            cli_note("%s is paused for all of its hosts: give the lines of the others back, too",
                     job->name);
    }
}

/* ---- the whole ---- */

static enum exit_code change_lines(struct client *client, const struct request *request,
                                   const struct change *change, const struct strbuf *before,
                                   const struct lines *lines)
{
    struct strbuf after;
    strbuf_init(&after);
    mark(before, lines->is_taken, change->takes, &after);
    enum exit_code code = cli_fail(strbuf_status(&after));
    if (code == EXIT_OK && change->takes)
        code = check_nodes(client, &lines->jobs, request->host);
    if (code == EXIT_OK)
        code = change_both(client, request, change, before, &after, &lines->jobs);
    if (code == EXIT_OK)
        tell_fleet(&lines->jobs, change->takes);
    strbuf_release(&after);
    return code;
}

static enum exit_code change_text(struct client *client, const struct request *request,
                                  const struct reading *reading, const struct change *change,
                                  const struct job_list *all, const struct strbuf *before)
{
    struct strbuf plain;
    size_t count = 2;
    for (const char *at = before->text; (at = strchr(at, '\n')); at++)
        count++;
    struct lines lines = {.is_taken = calloc(count + 1, sizeof(bool))};
    if (!lines.is_taken)
        return cli_fail(E_NOMEM);
    strbuf_init(&plain);
    job_list_init(&lines.jobs);
    if (change->takes)
        strbuf_add(&plain, before->text, before->length);
    else
        unmark(before, &plain);
    enum exit_code code = cli_fail(strbuf_status(&plain));
    if (code == EXIT_OK)
        code = find_lines(request, reading, &plain, change, all, &lines);
    if (code == EXIT_OK && !lines.count) {
        cli_error("no line of the crontab is a job with the label %s=%s", SHADOW_LABEL,
                  change->from);
        code = EXIT_NOT_FOUND;
    }
    if (code == EXIT_OK)
        code = change_lines(client, request, change, before, &lines);
    free(lines.jobs.items);
    free(lines.is_taken);
    strbuf_release(&plain);
    return code;
}

/* Those with the label, and those that are spread and have the other one by now. */
static enum exit_code read_jobs(struct client *client, const struct reading *reading,
                                const struct change *change, struct job_list *jobs)
{
    enum exit_code code = shadow_read_jobs(client, reading, change->from, jobs);
    size_t count = jobs->count;
    if (code == EXIT_OK)
        code = shadow_read_jobs(client, reading, change->to, jobs);
    for (size_t i = count; i < jobs->count;) {
        if (jobs->items[i]->spread) {
            i++;
            continue;
        }
        job_free(jobs->items[i]);
        jobs->items[i] = jobs->items[--jobs->count];
    }
    return code;
}

static enum exit_code change_crontab(struct client *client, struct request *request,
                                     const struct change *change)
{
    struct reading reading;
    struct job_list all;
    struct strbuf before;
    char machine[256] = "";
    if (request->system && (request->user || !request->file))
        return cli_usage(request->base.command, "--system is for a FILE, and without --user");
    gethostname(machine, sizeof(machine) - 1);
    request->host = request->host ? request->host : machine;
    job_list_init(&all);
    strbuf_init(&before);
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = read_jobs(client, &reading, change, &all);
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
    OPTION_TEXT(request, host, 0, "host", "HOST",
                "the host of these lines, in a fleet (default: this machine's name)"),
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
                 OPTION_TEXT(request, fleet, 0, "fleet", "DIR",
                             "the crontabs and logs of many machines, as collect-crontabs --log "
                             "gathers them",
                             .complete = COMPLETE_FILES),
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
        {"peal shadow report --fleet fleet", "of many machines, one by one and in all"},
        {"peal shadow takeover", "from now on peal runs them"},
        {"peal shadow back", "the way back"}),
    .notes = "The jobs of `peal import crontab --shadow` and `peal import fleet --shadow` are "
             "paused, and "
             "have the label shadow=cron: "
             "each tick is recorded as skipped. The report compares their ticks with what cron has "
             "logged, from the first of its lines to the last. Exit status 1: there are "
             "differences, or hosts that could not be compared.",
    .options = client_options,
    .too_few = "which command? peal shadow report, takeover or back",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
