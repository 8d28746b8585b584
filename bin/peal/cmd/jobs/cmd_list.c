/* peal list: all jobs, what runs next, and how the last run ended. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/job_table.h"

struct request {
    struct request_base base;
    const char *label, *query;
    bool paused, failed, deleted;
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
    OPTION_FLAG(request, paused, 0, "paused", "only paused jobs"),
    OPTION_FLAG(request, failed, 0, "failed", "only jobs whose last run was not ok"),
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
    return !request->failed || (*last && strcmp(last, "ok") != 0);
}

static void filter(const struct request *request, json_t *jobs)
{
    for (size_t i = json_array_size(jobs); i-- > 0;) {
        if (!is_wanted(request, json_array_get(jobs, i)))
            json_array_remove(jobs, i);
    }
}

static bool is_filtered(const struct request *request)
{
    return request->label || request->query || request->paused || request->failed ||
           request->deleted;
}

static enum exit_code list(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf path;
    json_t *jobs = NULL;
    strbuf_init(&path);
    enum exit_code code = url_query(client, "/jobs?", options, request, NULL, &path);
    if (code == EXIT_OK)
        code = client_list(client, path.text, 0, &jobs);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    filter(request, jobs);
    if (json_array_size(jobs) == 0 && request->output <= OUTPUT_WIDE)
        fputs(is_filtered(request) ? "no such jobs\n"
                                   : "no jobs; add one: peal add NAME SCHEDULE -- COMMAND\n",
              stderr);
    else
        code = jobs_print(client, jobs, request->output);
    json_decref(jobs);
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
