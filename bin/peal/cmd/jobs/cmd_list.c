/* peal list: all jobs, what runs next, and how the last run ended. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "print/job_table.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *label, *node, *query;
    bool paused, failed, muted, deleted;
    enum output output;
};

static bool take_label(const struct option_use *use)
{
    return strchr(use->text, '=') ? take_text(use)
                                  : option_wrong(use, " is NAME=VALUE, not \"%s\"", use->text);
}

static const struct option_row options[] = {
    OPTION_TEXT(request, query, 'q', "query", "TEXT", "only jobs whose name contains TEXT",
                .field = "q"),
    OPTION_ROW(take_label, request, label, const char *, 0, "label", "K=V",
               "only jobs with this label", .field = "label"),
    OPTION_TEXT(request, node, 0, "node", "NAME",
                "only jobs that run on this node, or ran there last", .field = "node",
                .complete = COMPLETE_NODES),
    OPTION_FLAG(request, paused, 0, "paused", "only paused jobs"),
    OPTION_FLAG(request, failed, 0, "failed", "only jobs whose last run was not ok"),
    OPTION_FLAG(request, muted, 0, "muted", "only muted and acknowledged jobs"),
    OPTION_FLAG(request, deleted, 0, "deleted", "deleted jobs, which peal undelete can restore",
                .field = "deleted"),
    OPTION_OUTPUT(request, output, OUTPUT_TEXT),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static bool is_wanted(const struct request *request, const json_t *job)
{
    const json_t *status = json_object_get(job, "status");
    const char *last = answer_text(json_object_get(status, "last"), "state");
    if (request->paused && !json_is_true(json_object_get(status, "paused")))
        return false;
    if (request->muted && !json_is_true(json_object_get(json_object_get(status, "mute"), "active")))
        return false;
    return !request->failed || (*last && strcmp(last, "ok") != 0);
}

/* The jobs of `jobs` that are wanted; NULL: out of memory. */
static json_t *filter(const struct request *request, const json_t *jobs)
{
    json_t *wanted = json_array(), *job;
    size_t i;
    json_array_foreach (jobs, i, job) {
        if (is_wanted(request, job) && json_array_append(wanted, job) != 0) {
            json_decref(wanted);
            return NULL;
        }
    }
    return wanted;
}

static bool is_filtered(const struct request *request)
{
    return request->label || request->node || request->query || request->paused ||
           request->failed || request->muted || request->deleted;
}

static void tell_none(const struct request *request)
{
    fprintf(stderr, "%s\n",
            tr(is_filtered(request) ? TR("no such jobs")
                                    : TR("no jobs; add one: peal add NAME SCHEDULE -- COMMAND")));
}

/* JSON and YAML are one value, of all jobs. */
static enum exit_code list_whole(struct client *client, const struct request *request,
                                 const char *path)
{
    json_t *jobs = NULL;
    enum exit_code code = client_list(client, path, 0, &jobs);
    if (code != EXIT_OK)
        return code;
    json_t *wanted = filter(request, jobs);
    code = wanted ? jobs_print(client, wanted, request->output) : cli_fail(E_NOMEM);
    json_decref(wanted);
    json_decref(jobs);
    return code;
}

struct listing {
    const struct request *request;
    struct list_printer printer;
    bool has_jobs;
};

/* A page of jobs. Before the first that is wanted, nothing is printed. */
static enum exit_code print_page(void *context, const json_t *items, bool is_last)
{
    struct listing *listing = context;
    json_t *wanted = filter(listing->request, items);
    enum exit_code code = cli_fail(wanted ? OK : E_NOMEM);
    listing->has_jobs = listing->has_jobs || json_array_size(wanted) > 0;
    if (code == EXIT_OK && listing->has_jobs)
        code = list_printer_add(&listing->printer, wanted, is_last);
    json_decref(wanted);
    return code;
}

static enum exit_code list_pages(struct client *client, const struct request *request,
                                 const char *path)
{
    struct listing listing = {.request = request};
    list_printer_init(&listing.printer, request->output, &jobs_form);
    enum exit_code code = client_pages(client, path, 0, print_page, &listing);
    if (code == EXIT_OK && !listing.has_jobs && request->output <= OUTPUT_WIDE)
        tell_none(request);
    list_printer_release(&listing.printer);
    return code;
}

static enum exit_code list(struct client *client, void *place)
{
    const struct request *request = place;
    bool is_whole = request->output == OUTPUT_JSON || request->output == OUTPUT_YAML;
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = url_query(client, "/jobs?", options, request, NULL, &path);
    if (code == EXIT_OK)
        code = (is_whole ? list_whole : list_pages)(client, request, path.text);
    strbuf_release(&path);
    return code;
}

const struct command cmd_list = {
    .name = "list",
    .summary = "all jobs: next run, last run, status",
    .examples = EXAMPLES({"peal list", NULL}, {"peal list --failed", NULL},
                         {"peal list --label team=ops -o wide", NULL},
                         {"peal list -o yaml > jobs.yaml", "all definitions, for peal apply"}),
    .more = "json has all fields; yaml is the definitions, as `peal apply` reads them.",
    .options = options,
    .too_many = "list takes no names; one job: peal get %s",
    .request_size = sizeof(struct request),
    .with_agent = list,
};
