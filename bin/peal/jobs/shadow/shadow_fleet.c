/* peal shadow report --fleet: the jobs beside the logs of many machines. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/listing.h"
#include "jobs/foreign/fleet_source.h"
#include "jobs/shadow/shadow_report.h"
#include "text/tr.h"
#include "timestamp.h"

enum { STRANGE_MAX = 20 };

static const char *const counts[] = {"jobs", "equal", "only_cron", "only_peal", "others", NULL};

struct report {
    const struct fleet_comparison *request;
    struct reading reading;
    struct job_list jobs; /* of the agent */
    struct fleet_lines lines;
    bool is_table, is_different;
    json_t *hosts, *differences, *missing, *all;
};

/* A host that is compared. */
struct host {
    struct report *report;
    const char *name;
    struct cron_log log;
    struct shadow_span span;
    json_t *row, *jobs, *others;
    json_int_t sums[sizeof(counts) / sizeof(counts[0])];
};

/* ---- which jobs are those of a host ---- */

/* Is the name one of "db-1,web-1"? */
static bool is_among(const char *hosts, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = hosts; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    }
    return false;
}

static bool is_same_line(const struct job *job, const struct job *line)
{
    return shadow_is_line(job, line) && strcmp(job->timezone, line->timezone) == 0;
}

/* Jobs of one host name it, those of several have a line in the crontabs of each. */
static bool is_of(const struct report *report, const struct job *job, const char *host)
{
    static const char one[] = "host=";
    if (job->where && strncmp(job->where, one, strlen(one)) == 0)
        return strcmp(job->where + strlen(one), host) == 0;
    for (size_t i = 0; i < report->lines.jobs.count; i++) {
        if (is_among(report->lines.hosts[i], host) &&
            is_same_line(job, report->lines.jobs.items[i]))
            return true;
    }
    return false;
}

/* What anacron starts is not in cron's log. */
static bool is_of_anacron(const struct job *job)
{
    return job->catch_up == CATCH_UP_LAST;
}

/* ---- a host ---- */

static enum status add_difference(struct report *report, const char *host, const char *job,
                                  json_t *difference)
{
    if (json_object_set_new(difference, "host", json_string(host)) != 0 ||
        json_object_set_new(difference, "job", json_string(job)) != 0 ||
        json_array_append(report->differences, difference) != 0)
        return E_NOMEM;
    return OK;
}

static enum exit_code add_row(struct host *host, const struct job *job, json_t *row, json_t *found)
{
    struct report *report = host->report;
    json_t *each;
    size_t i;
    enum status st = OK;
    host->sums[0]++;
    for (size_t k = 1; k < 4; k++)
        host->sums[k] += answer_int(row, counts[k], 0);
    if (!report->is_table)
        return cli_fail(json_object_set(row, "differences", found) == 0 &&
                                json_array_append(host->jobs, row) == 0
                            ? OK
                            : E_NOMEM);
    json_array_foreach (found, i, each) {
        if (st == OK)
            st = add_difference(report, host->name, job->name, each);
    }
    return cli_fail(st);
}

static enum exit_code compare_job(struct host *host, const struct job *job)
{
    json_t *row = NULL, *found = NULL;
    enum exit_code code = shadow_compare_job(&host->report->reading, job, &host->log, host->span,
                                             host->report->is_table, &row, &found);
    if (code == EXIT_OK)
        code = add_row(host, job, row, found);
    json_decref(row);
    json_decref(found);
    return code;
}

static bool is_known(const struct host *host, const struct cron_start *start)
{
    const struct report *report = host->report;
    for (size_t i = 0; i < report->jobs.count; i++) {
        const struct job *job = report->jobs.items[i];
        if (shadow_is_start(job, start, NULL) && is_of(report, job, host->name))
            return true;
    }
    return false;
}

/* A command that cron has started, and no job is its shadow. */
static enum exit_code add_strange(struct host *host, const struct cron_start *start)
{
    struct strbuf at, why;
    enum status st = OK;
    if (host->sums[4]++ >= STRANGE_MAX)
        return EXIT_OK;
    strbuf_init(&at);
    strbuf_init(&why);
    timestamp_print_utc(start->at_s, &at);
    strbuf_addf(&why, tr("no job has the command of %s: %s"), start->user, start->command);
    json_t *row =
        why.failed || at.failed
            ? NULL
            : json_pack("{s:s, s:s%, s:s%, s:s, s:s%}", "at", at.text, "user", start->user,
                        strlen(start->user), "command", start->command, strlen(start->command),
                        "only", "cron", "why", why.text, why.length);
    if (row && host->report->is_table)
        st = add_difference(host->report, host->name, "-", row);
    else if (!row || json_object_del(row, "only") != 0 || json_object_del(row, "why") != 0 ||
             json_array_append(host->others, row) != 0)
        st = E_NOMEM;
    json_decref(row);
    strbuf_release(&at);
    strbuf_release(&why);
    return cli_fail(st);
}

static enum exit_code compare_log(struct host *host)
{
    const struct report *report = host->report;
    enum exit_code code = EXIT_OK;
    host->span = shadow_span_of(&host->log, report->request->since, report->request->until);
    for (size_t i = 0; i < report->jobs.count && code == EXIT_OK; i++) {
        const struct job *job = report->jobs.items[i];
        if (!is_of_anacron(job) && is_of(report, job, host->name))
            code = compare_job(host, job);
    }
    for (size_t i = 0; i < host->log.count && code == EXIT_OK; i++) {
        const struct cron_start *start = &host->log.starts[i];
        if (start->at_s >= host->span.from_s && start->at_s <= host->span.until_s &&
            !is_known(host, start))
            code = add_strange(host, start);
    }
    return code;
}

/* *ret_problem: why the host can't be compared; NULL: it can. */
static enum exit_code read_log(struct host *host, const char **ret_problem)
{
    const struct report *report = host->report;
    struct strbuf path, zone;
    strbuf_init(&path);
    strbuf_init(&zone);
    strbuf_addf(&path, "%s/%s/cron.log", report->request->folder, host->name);
    bool is_there = access(path.text, F_OK) == 0;
    enum exit_code code =
        fleet_source_zone(report->request->folder, host->name, &report->reading, &zone);
    if (code == EXIT_OK && is_there)
        code = shadow_read_log(path.text, zone.text, &report->reading, &host->log);
    *ret_problem = !is_there          ? TR("no cron.log")
                   : !host->log.count ? TR("no line of cron in cron.log")
                                      : NULL;
    strbuf_release(&path);
    strbuf_release(&zone);
    return code;
}

/* The counts of the host, and its part of all. */
static enum exit_code finish_host(struct host *host, const char *problem)
{
    struct report *report = host->report;
    const char *shown = problem && report->is_table ? tr(problem) : problem;
    int failed =
        json_object_set_new(host->row, "problem", shown ? json_string(shown) : json_null());
    for (size_t k = 0; counts[k]; k++) {
        json_int_t sum = answer_int(report->all, counts[k], 0) + host->sums[k];
        failed |= json_object_set_new(host->row, counts[k], json_integer(host->sums[k]));
        failed |= json_object_set_new(report->all, counts[k], json_integer(sum));
        report->is_different = report->is_different || (k > 1 && host->sums[k]);
    }
    if (!report->is_table) {
        failed |= json_object_set(host->row, "compared", host->jobs);
        failed |= json_object_set(host->row, "commands", host->others);
    }
    report->is_different = report->is_different || problem;
    failed |= json_array_append(report->hosts, host->row);
    return cli_fail(failed ? E_NOMEM : OK);
}

static enum exit_code report_host(void *context, const char *name)
{
    struct host host = {.report = context,
                        .name = name,
                        .row = json_pack("{s:s}", "host", name),
                        .jobs = json_array(),
                        .others = json_array()};
    const char *problem = NULL;
    cron_log_init(&host.log);
    enum exit_code code = read_log(&host, &problem);
    if (code == EXIT_OK && !problem)
        code = compare_log(&host);
    if (code == EXIT_OK)
        code = finish_host(&host, problem);
    cron_log_release(&host.log);
    json_decref(host.row);
    json_decref(host.jobs);
    json_decref(host.others);
    return code;
}

/* ---- lines that no job stands for ---- */

static bool has_job(const struct report *report, const struct job *line)
{
    for (size_t i = 0; i < report->jobs.count; i++) {
        if (is_same_line(report->jobs.items[i], line))
            return true;
    }
    return false;
}

static enum exit_code find_missing(struct report *report)
{
    for (size_t i = 0; i < report->lines.jobs.count; i++) {
        const struct job *line = report->lines.jobs.items[i];
        if (has_job(report, line))
            continue;
        report->is_different = true;
        json_t *row = json_pack("{s:s, s:s, s:s}", "job", line->name, "hosts",
                                report->lines.hosts[i], "schedule", line->schedules[0]);
        if (!row || json_array_append_new(report->missing, row) != 0)
            return cli_fail(E_NOMEM);
    }
    return EXIT_OK;
}

/* ---- what is shown ---- */

static const struct list_column host_columns[] = {
    COLUMN("HOST", "host"),
    COLUMN("JOBS", "jobs", .form = COLUMN_NUMBER),
    COLUMN("EQUAL", "equal", .form = COLUMN_NUMBER),
    COLUMN("ONLY CRON", "only_cron", .form = COLUMN_NUMBER),
    COLUMN("ONLY PEAL", "only_peal", .form = COLUMN_NUMBER),
    COLUMN("OTHERS", "others", .form = COLUMN_NUMBER),
    COLUMN("PROBLEM", "problem"),
    {0},
};

static const struct list_column difference_columns[] = {
    COLUMN("HOST", "host"), COLUMN("JOB", "job"), COLUMN("AT", "at", .form = COLUMN_TIME),
    COLUMN("ONLY", "only"), COLUMN("WHY", "why"), {0},
};

static const struct list_column missing_columns[] = {
    COLUMN("NO JOB FOR", "job"),
    COLUMN("SCHEDULE", "schedule"),
    COLUMN("HOSTS", "hosts"),
    {0},
};

static enum exit_code print_more(const json_t *list, const struct list_column *columns,
                                 enum output output)
{
    const struct list_form form = {.name = "job", .columns = columns};
    if (!json_array_size(list))
        return EXIT_OK;
    putchar('\n');
    return list_print(list, output, &form);
}

static enum exit_code print(struct report *report)
{
    static const struct list_form form = {.name = "host", .columns = host_columns};
    enum output output = report->request->output;
    if (!report->is_table && output != OUTPUT_NAME) {
        json_t *whole = json_pack("{s:O, s:O, s:O}", "hosts", report->hosts, "all", report->all,
                                  "missing", report->missing);
        enum exit_code printed = whole ? output_print(whole, output) : cli_fail(E_NOMEM);
        json_decref(whole);
        return printed;
    }
    if (report->is_table &&
        (json_object_set_new(report->all, "host", json_string(tr("in all"))) != 0 ||
         json_array_append(report->hosts, report->all) != 0))
        return cli_fail(E_NOMEM);
    enum exit_code code = list_print(report->hosts, output, &form);
    if (code == EXIT_OK && report->is_table)
        code = print_more(report->differences, difference_columns, output);
    if (code == EXIT_OK && report->is_table)
        code = print_more(report->missing, missing_columns, output);
    return code;
}

static void tell_anacron(const struct report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->jobs.count; i++)
        count += is_of_anacron(report->jobs.items[i]);
    if (count)
        cli_note("%zu jobs of anacron are not compared: cron's log does not have them", count);
}

/* ---- the whole ---- */

static enum exit_code report_hosts(struct client *client, struct report *report)
{
    const struct fleet_comparison *request = report->request;
    enum exit_code code = shadow_read_jobs(client, &report->reading, SHADOW_CRON, &report->jobs);
    if (code == EXIT_OK && !report->jobs.count) {
        cli_error("no job is a shadow of a crontab: peal import fleet %s --shadow --apply",
                  request->folder);
        code = EXIT_NOT_FOUND;
    }
    if (code == EXIT_OK)
        code = fleet_source_lines(request->folder, &report->reading, &report->lines);
    if (code == EXIT_OK)
        code = fleet_source_hosts(request->folder, report_host, report);
    if (code == EXIT_OK)
        code = find_missing(report);
    if (code == EXIT_OK)
        code = print(report);
    if (code == EXIT_OK)
        tell_anacron(report);
    return code;
}

enum exit_code shadow_report_fleet(struct client *client, const struct fleet_comparison *request)
{
    struct report report = {
        .request = request,
        .is_table = request->output == OUTPUT_TABLE || request->output == OUTPUT_WIDE,
        .hosts = json_array(),
        .differences = json_array(),
        .missing = json_array(),
        .all = json_object(),
    };
    job_list_init(&report.jobs);
    fleet_lines_init(&report.lines);
    enum exit_code code = reading_init(&report.reading, client);
    if (code == EXIT_OK)
        code = report_hosts(client, &report);
    if (code == EXIT_OK && report.is_different)
        code = EXIT_ERROR;
    json_decref(report.hosts);
    json_decref(report.differences);
    json_decref(report.missing);
    json_decref(report.all);
    fleet_lines_release(&report.lines);
    job_list_release(&report.jobs);
    reading_release(&report.reading);
    return code;
}
