/* peal export: definitions as YAML or JSON, and as jobs of other programs. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/json_out.h"
#include "cli/output.h"
#include "export/crontab_export.h"
#include "foreign/cronjob_export.h"
#include "jobs/definition.h"
#include "jobs/documents/docs_export.h"
#include "jobs/foreign/systemd_files.h"
#include "table.h"
#include "text/tr.h"

enum form { FORM_CRONTAB, FORM_YAML, FORM_JSON, FORM_SYSTEMD, FORM_KUBERNETES };

struct request {
    struct request_base base;
    enum form form;
    struct words names;
    bool system, bare;
    const char *folder;        /* of FORM_SYSTEMD; NULL: stdout */
    const char *image, *space; /* of FORM_KUBERNETES */
};

/* The jobs of these names, or all. */
static enum exit_code collect(struct client *client, const struct words *names, json_t **ret)
{
    if (names->count == 0)
        return client_list(client, "/jobs?", 0, ret);
    json_t *jobs = json_array();
    enum exit_code code = jobs ? EXIT_OK : cli_fail(E_NOMEM);
    for (int i = 0; i < names->count && code == EXIT_OK; i++) {
        struct reply reply;
        code = client_job(client, names->items[i], &reply);
        if (code != EXIT_OK)
            break;
        if (json_array_append(jobs, reply.body) != 0)
            code = cli_fail(E_NOMEM);
        reply_release(&reply);
    }
    if (code == EXIT_OK)
        *ret = jobs;
    else
        json_decref(jobs);
    return code;
}

static enum exit_code decode_all(const struct reading *reading, const json_t *found,
                                 struct job_list *jobs)
{
    const json_t *each;
    size_t i;
    jobs->items = calloc(json_array_size(found) + 1, sizeof(struct job *));
    if (!jobs->items)
        return cli_fail(E_NOMEM);
    json_array_foreach (found, i, each) {
        enum status st = definition_decode(reading, each, &jobs->items[jobs->count]);
        if (st != OK)
            return cli_fail(st);
        jobs->count++;
    }
    return EXIT_OK;
}

/* `docs` NULL: none. */
static enum status print_json(const json_t *docs, const struct job_list *jobs)
{
    json_t *list = docs ? json_copy((json_t *)docs) : json_array();
    enum status st = list ? OK : E_NOMEM;
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        if (json_array_append_new(list, job_encode_json(jobs->items[i], false)) != 0)
            st = E_NOMEM;
    }
    if (st == OK)
        st = json_print(list);
    json_decref(list);
    return st;
}

static enum status add_yaml(const json_t *docs, const struct job_list *jobs, struct strbuf *out)
{
    enum status st = OK;
    const json_t *doc;
    size_t i;
    json_array_foreach (docs, i, doc) {
        strbuf_adds(out, out->length ? "---\n" : "");
        if (st == OK)
            st = output_yaml(doc, out);
    }
    for (i = 0; i < jobs->count && st == OK; i++) {
        strbuf_adds(out, out->length ? "---\n" : "");
        st = job_encode_yaml(jobs->items[i], out);
    }
    return st;
}

static enum status print_text(const struct reading *reading, const json_t *docs,
                              const struct job_list *jobs, const struct request *request)
{
    struct strbuf text;
    strbuf_init(&text);
    enum status st =
        request->form == FORM_CRONTAB
            ? crontab_export(jobs->items, jobs->count, request->system, reading->zones, &text)
            : add_yaml(docs, jobs, &text);
    if (st == OK)
        fputs(text.text, stdout);
    strbuf_release(&text);
    return st;
}

/* "backup", of its second schedule "backup-2", as cronjob_export writes them. */
static void print_cronjob_name(const char *name, size_t schedule, struct strbuf *out)
{
    strbuf_reset(out);
    strbuf_adds(out, name);
    if (schedule)
        strbuf_addf(out, "-%zu", schedule + 1);
}

/* Are the names of all its CronJobs free? */
static bool is_free(const struct table *taken, const struct job *job, const char *name)
{
    struct strbuf each;
    bool is_taken = false;
    strbuf_init(&each);
    for (size_t i = 0; i < job->schedule_count && !is_taken; i++) {
        print_cronjob_name(name, i, &each);
        is_taken = each.failed || table_find(taken, each.text);
    }
    strbuf_release(&each);
    return !is_taken;
}

static enum status take(struct table *taken, const struct job *job, const char *name)
{
    struct strbuf each;
    enum status st = OK;
    strbuf_init(&each);
    for (size_t i = 0; i < job->schedule_count && st == OK; i++) {
        print_cronjob_name(name, i, &each);
        st = strbuf_status(&each);
        if (st == OK && !table_add(taken, each.text, each.length + 1))
            st = E_NOMEM;
    }
    strbuf_release(&each);
    return st;
}

/* "team/a" and "Team-A" would have the same name there, and the second schedule of "a" that of
 * "a/2". */
static enum status choose_name(struct table *taken, const struct job *job, struct strbuf *name)
{
    enum { NUMBERS_MAX = 1000000 };
    struct strbuf plain;
    strbuf_init(&plain);
    cronjob_name(job->name, &plain);
    for (int number = 1; number < NUMBERS_MAX && !plain.failed && !name->failed; number++) {
        char digits[16] = "";
        if (number > 1)
            snprintf(digits, sizeof(digits), "-%d", number);
        size_t room = CRONJOB_NAME_MAX + 2 - strlen(digits); /* "-2" is always room for */
        strbuf_reset(name);
        strbuf_addf(name, "%.*s%s", (int)room, plain.text, digits);
        if (is_free(taken, job, name->text))
            break;
    }
    enum status st = strbuf_status(&plain);
    if (st == OK)
        st = strbuf_status(name);
    strbuf_release(&plain);
    return st == OK ? take(taken, job, name->text) : st;
}

static enum status print_cronjobs(const struct reading *reading, const struct job_list *jobs,
                                  const struct request *request)
{
    static const struct table_type by_text = {.key_at = 0};
    const struct cronjob_options options = {.image = request->image,
                                            .space = request->space,
                                            .from_s = time(NULL),
                                            .zones = reading->zones};
    struct strbuf text, name;
    struct table taken;
    enum status st = OK;
    strbuf_init(&text);
    strbuf_init(&name);
    table_init(&taken, &by_text);
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        const struct job *job = jobs->items[i];
        assert(job);
        st = choose_name(&taken, job, &name);
        if (st == OK)
            st = cronjob_export(job, name.text, &options, &text);
    }
    if (st == OK)
        fputs(text.text, stdout);
    table_release_items(&taken);
    strbuf_release(&name);
    strbuf_release(&text);
    return st;
}

static enum exit_code print_jobs(const struct request *request, const struct reading *reading,
                                 const json_t *docs, const struct job_list *jobs)
{
    switch (request->form) {
    case FORM_JSON:
        return cli_fail(print_json(docs, jobs));
    case FORM_SYSTEMD:
        return systemd_files_write(jobs, reading, request->folder);
    case FORM_KUBERNETES:
        return cli_fail(print_cronjobs(reading, jobs, request));
    case FORM_CRONTAB:
    case FORM_YAML:
        break;
    }
    return cli_fail(print_text(reading, docs, jobs, request));
}

static bool has_documents(enum form form)
{
    return form == FORM_YAML || form == FORM_JSON;
}

/* An option of another form would be ignored. */
static enum exit_code check_options(const struct request *request)
{
    if (request->folder && request->form != FORM_SYSTEMD)
        return cli_usage(request->base.command, "--dir is for systemd");
    if ((request->image || request->space) && request->form != FORM_KUBERNETES)
        return cli_usage(request->base.command, "--image and --namespace are for kubernetes");
    if (request->bare && !has_documents(request->form))
        return cli_usage(request->base.command, "--bare is for yaml and json");
    return EXIT_OK;
}

/* What the jobs need, so that an agent that has nothing takes the file. */
static enum exit_code add_needed(struct client *client, const struct request *request,
                                 const struct reading *reading, struct job_list *jobs,
                                 json_t **ret_docs)
{
    bool all = request->names.count == 0;
    if (request->bare || !has_documents(request->form))
        return EXIT_OK;
    enum exit_code code = all ? EXIT_OK : docs_export_add_jobs(client, reading, jobs);
    if (code == EXIT_OK)
        code = docs_export(client, jobs, all, reading->zones, ret_docs);
    if (code == EXIT_OK)
        docs_export_tell_secrets(jobs);
    return code;
}

static enum exit_code export_jobs(struct client *client, void *place)
{
    const struct request *request = place;
    struct reading reading;
    struct job_list jobs;
    json_t *found = NULL, *docs = NULL;
    job_list_init(&jobs);
    enum exit_code code = check_options(request);
    if (code != EXIT_OK)
        return code;
    code = reading_init(&reading, client);
    if (code == EXIT_OK)
        code = collect(client, &request->names, &found);
    if (code == EXIT_OK)
        code = decode_all(&reading, found, &jobs);
    if (code == EXIT_OK)
        code = add_needed(client, request, &reading, &jobs, &docs);
    if (code == EXIT_OK)
        code = print_jobs(request, &reading, docs, &jobs);
    json_decref(found);
    json_decref(docs);
    job_list_release(&jobs);
    reading_release(&reading);
    return code;
}

static const char *const forms[] = {"crontab", "yaml", "json", "systemd", "kubernetes", NULL};

const struct command cmd_export = {
    .name = "export",
    .summary = "definitions as YAML, JSON, a crontab, timers or CronJobs",
    .examples = EXAMPLES(
        {"peal export yaml > jobs.yaml", NULL}, {"peal export crontab backup report", NULL},
        {"peal export systemd backup --dir units", "a .timer and a .service for each job"},
        {"peal export kubernetes --image busybox:1.36", NULL},
        {"peal export json | jq length", NULL}),
    .usage = "crontab|systemd|kubernetes|yaml|json [NAME...] [options]",
    .notes =
        "All jobs, unless names are given. Fields that a crontab, a timer or a CronJob has no "
        "syntax for become comments; a job that can't be one is left out, with the reason. The "
        "ticks of a timer or a CronJob are compared with those of the job for a year. YAML and "
        "JSON "
        "have the groups, calendars and channels of the jobs in front of them, and the jobs that "
        "named ones wait for or run as steps; without names all there is, maintenance to come "
        "included. Passwords and tokens are never in it: channels refer to environment variables, "
        "and keep what the agent has where those are not set (docs/NOTIFY.md).",
    .arguments =
        ROWS({.name = "FORM",
              .value = TR("the form"),
              .take = take_choice,
              .place = OPTION_PLACE(request, form, unsigned),
              .choices = forms},
             ARGUMENTS(request, names, "NAME", .is_optional = true, .complete = COMPLETE_JOBS)),
    .options =
        ROWS(OPTION_FLAG(request, system, 0, "system",
                         "a crontab with a user in every line, like /etc/crontab"),
             OPTION_FLAG(request, bare, 0, "bare",
                         "only the jobs, without the groups, calendars and channels they need"),
             OPTION_TEXT(request, folder, 0, "dir", "DIR",
                         "write the units of systemd into this folder", .complete = COMPLETE_FILES),
             OPTION_TEXT(request, image, 0, "image", "IMAGE",
                         "the image for jobs that are no containers"),
             OPTION_TEXT(request, space, 0, "namespace", "NS", "the namespace of the CronJobs"),
             OPTION_GROUP(request, base, client_options)),
    .too_few = "which format? crontab, systemd, kubernetes, yaml or json",
    .request_size = sizeof(struct request),
    .with_agent = export_jobs,
};
