#include "jobs/documents/docs_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "jobs/documents/agent_docs.h"
#include "jobs/documents/channel_secrets.h"
#include "jobs/documents/doc_needs.h"
#include "jobs/documents/doc_types.h"
#include "text/tr.h"
#include "workflow/steps.h"

/* ---- as documents of a file ---- */

static json_t *as_document(const struct agent_doc *doc, json_t *used)
{
    json_t *shown = json_deep_copy(doc->shown), *value = NULL;
    if (shown && (doc->type != DOC_CHANNEL || channel_secrets_refer(shown, doc->name, used) == OK))
        value = doc_document(doc->type, doc->name, shown);
    json_decref(shown);
    return value;
}

static void tell_hidden(const struct agent_doc *doc)
{
    struct strbuf words;
    strbuf_init(&words);
    doc_words(doc->type, doc->name, &words);
    if (doc->type == DOC_CHANNEL)
        cli_note("%s is left out: only an admin sees all of it", words.text);
    else
        cli_note("%s is left out: this version can't read it", words.text);
    strbuf_release(&words);
}

static enum status collect(const struct agent_docs *docs, const struct job_list *jobs, bool all,
                           json_t *list)
{
    json_t *used = json_object();
    enum status st = used ? OK : E_NOMEM;
    for (size_t i = 0; i < docs->count && st == OK; i++) {
        const struct agent_doc *doc = &docs->items[i];
        if (!all && !docs_are_needed(jobs, doc))
            continue;
        if (!doc->shown)
            tell_hidden(doc);
        else if (json_array_append_new(list, as_document(doc, used)) != 0)
            st = E_NOMEM;
    }
    json_decref(used);
    return st;
}

enum exit_code docs_export(struct client *client, const struct job_list *jobs, bool all,
                           struct zone_db *zones, json_t **ret)
{
    struct agent_docs docs = {NULL, 0};
    json_t *list = json_array();
    enum exit_code code =
        list ? agent_docs_read(client, (1u << DOC_TYPES) - 1, zones, &docs) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = cli_fail(collect(&docs, jobs, all, list));
    agent_docs_release(&docs);
    if (code == EXIT_OK)
        *ret = list;
    else
        json_decref(list);
    return code;
}

/* ---- jobs that jobs need ---- */

/* The names of the jobs that it waits for, or runs. */
static enum status add_names(const struct job *job, json_t *names)
{
    int failed = 0;
    for (size_t i = 0; i < job->after_count; i++)
        failed |= json_object_set_new(names, job->after[i].job, json_true());
    for (char **name = job->only_if.jobs; name && *name; name++)
        failed |= json_object_set_new(names, *name, json_true());
    for (size_t i = 0; i < job->step_count; i++) {
        const struct job_step *step = &job->steps[i];
        const char *name = step->ref ? step->ref : step->workflow;
        if (name)
            failed |= json_object_set_new(names, name, json_true());
    }
    return failed ? E_NOMEM : OK;
}

static bool is_listed(const struct job_list *jobs, const char *name)
{
    for (size_t i = 0; i < jobs->count; i++) {
        if (strcmp(jobs->items[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* One that is not there any more is left out. */
static enum exit_code add_job(struct client *client, const struct reading *reading,
                              const char *name, struct job_list *jobs)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    const struct client_request request = {.path = job_path(&path, name, "")};
    enum status st = client_try(client, &request, &reply);
    strbuf_release(&path);
    enum exit_code code = EXIT_OK;
    if (st != OK || reply.status != 404)
        code = client_report(client, st, &reply);
    if (code == EXIT_OK && reply.status != 404) {
        st = array_grow(&jobs->items, jobs->count, sizeof(*jobs->items));
        if (st == OK)
            st = definition_decode(reading, reply.body, &jobs->items[jobs->count]);
        jobs->count += st == OK;
        code = cli_fail(st);
    }
    if (code == EXIT_OK && reply.status != 404)
        cli_note("%s is in it, too: another job names it", name);
    reply_release(&reply);
    return code;
}

/* Those that were added last come first: others name them. */
static void turn_round(struct job_list *jobs, size_t asked)
{
    size_t added = jobs->count - asked;
    struct job **items = malloc((jobs->count + 1) * sizeof(*items));
    if (!items)
        return; /* the order is for people */
    for (size_t i = 0; i < added; i++)
        items[i] = jobs->items[jobs->count - 1 - i];
    memcpy(items + added, jobs->items, asked * sizeof(*items));
    free(jobs->items);
    jobs->items = items;
}

enum exit_code docs_export_add_jobs(struct client *client, const struct reading *reading,
                                    struct job_list *jobs)
{
    enum exit_code code = EXIT_OK;
    size_t asked = jobs->count;
    for (size_t i = 0; i < jobs->count && code == EXIT_OK; i++) {
        json_t *names = json_object(), *value;
        const char *name;
        code = cli_fail(names ? add_names(jobs->items[i], names) : E_NOMEM);
        json_object_foreach (names, name, value) {
            if (code == EXIT_OK && !is_listed(jobs, name))
                code = add_job(client, reading, name, jobs);
        }
        json_decref(names);
    }
    if (code == EXIT_OK)
        turn_round(jobs, asked);
    return code;
}

/* ---- what no file has ---- */

static bool has_secrets(const struct job *job)
{
    bool has_some = job->secrets != NULL;
    for (size_t i = 0; i < job->step_count && !has_some; i++)
        has_some = job->steps[i].job && job->steps[i].job->secrets;
    return has_some;
}

void docs_export_tell_secrets(const struct job_list *jobs)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count += has_secrets(jobs->items[i]);
    if (count)
        cli_note("%zu jobs name secrets, which are in no file: peal secret list, peal secret set",
                 count);
}
