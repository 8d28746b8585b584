#include "client/batch/digests.h"

#include <string.h>

#include "cli/when.h"
#include "definition/job_digest.h"
#include "job.h"

enum { FEW = 100 }; /* jobs that are asked for one by one, not by reading all */

static enum exit_code add_digests(void *context, const json_t *items, bool is_last)
{
    json_t *item;
    size_t i;
    (void)is_last;
    json_array_foreach (items, i, item) {
        if (json_object_set(context, answer_text(item, "name"), item) != 0)
            return cli_fail(E_NOMEM);
    }
    return EXIT_OK;
}

/* *ret: an older agent refuses the field. */
static enum exit_code ask_for_digests(struct client *client, enum digest_view view, bool *ret)
{
    struct reply reply = {0};
    bool is_confirmed = view == DIGESTS_CONFIRMED;
    const struct client_request request = {
        .path = is_confirmed ? "/jobs?fields=digest&limit=1&confirmed=true"
                             : "/jobs?fields=digest&limit=1"};
    enum status st = client_try(client, &request, &reply);
    enum exit_code code = EXIT_OK;
    *ret = st != OK || (reply.status != 400 && reply.status != 422);
    if (is_confirmed && *ret && (st != OK || reply.status != 200))
        code = client_report(client, st, &reply);
    reply_release(&reply);
    return code;
}

enum exit_code digests_get(struct client *client, enum digest_view view, json_t **ret)
{
    bool has_digests;
    enum exit_code code = ask_for_digests(client, view, &has_digests);
    if (code != EXIT_OK)
        return code;
    const char *path = has_digests ? "/jobs?fields=name,digest,applied_at&" : "/jobs?fields=name&";
    json_t *digests = json_object();
    code = digests ? client_pages(client, path, 0, add_digests, digests) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        *ret = digests;
    else
        json_decref(digests);
    return code;
}

enum status digests_have(const json_t *digests, const struct job *job, enum digest_author author,
                         bool *ret)
{
    const json_t *there = json_object_get(digests, job->name);
    char digest[JOB_DIGEST_TEXT];
    *ret = false;
    if (!*answer_text(there, "digest") ||
        (author == DIGEST_APPLIED && !*answer_text(there, "applied_at")))
        return OK;
    enum status st = job_digest(job, digest);
    *ret = st == OK && strcmp(answer_text(there, "digest"), digest) == 0;
    return st;
}

static enum exit_code get_each(struct client *client, const json_t *names, json_t *jobs)
{
    const json_t *name;
    size_t i;
    enum exit_code code = EXIT_OK;
    struct strbuf path;
    strbuf_init(&path);
    json_array_foreach (names, i, name) {
        const char *text = json_string_value(name);
        const struct client_request request = {.path = job_path(&path, text, "")};
        struct reply reply = {0};
        enum status st = client_try(client, &request, &reply);
        if (st == OK && reply.status == 200)
            code = cli_fail(json_object_set(jobs, text, reply.body) == 0 ? OK : E_NOMEM);
        else if (st != OK || reply.status != 404) /* else it was deleted meanwhile */
            code = client_report(client, st, &reply);
        reply_release(&reply);
        if (code != EXIT_OK)
            break;
    }
    strbuf_release(&path);
    return code;
}

static enum exit_code add_jobs(void *context, const json_t *items, bool is_last)
{
    json_t *item;
    size_t i;
    (void)is_last;
    json_array_foreach (items, i, item) {
        const char *name = answer_text(item, "name");
        if (json_object_get(context, name) && json_object_set(context, name, item) != 0)
            return cli_fail(E_NOMEM);
    }
    return EXIT_OK;
}

/* Reads all jobs, and keeps those that are asked for. */
static enum exit_code get_among_all(struct client *client, const json_t *names, json_t *jobs)
{
    const json_t *name;
    const char *key;
    void *next;
    json_t *job;
    size_t i;
    json_array_foreach (names, i, name) {
        if (json_object_set_new(jobs, json_string_value(name), json_null()) != 0)
            return cli_fail(E_NOMEM);
    }
    enum exit_code code = client_pages(client, "/jobs?", 0, add_jobs, jobs);
    json_object_foreach_safe(jobs, next, key, job)
    {
        if (json_is_null(job))
            json_object_del(jobs, key);
    }
    return code;
}

enum exit_code jobs_by_name(struct client *client, const json_t *names, json_t **ret)
{
    json_t *jobs = json_object();
    enum exit_code code = !jobs                           ? cli_fail(E_NOMEM)
                          : json_array_size(names) <= FEW ? get_each(client, names, jobs)
                                                          : get_among_all(client, names, jobs);
    if (code == EXIT_OK)
        *ret = jobs;
    else
        json_decref(jobs);
    return code;
}
