/* Paths of requests, and requests that name a job. */
#include <ctype.h>
#include <string.h>

#include "cli/suggest.h"
#include "cli/when.h"
#include "client/client.h"
#include "text/tr.h"

enum { NAMES_MAX = 5000 }; /* searched for a near one */

void url_escape(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (isalnum((unsigned char)*text) || strchr("-._~", *text))
            strbuf_addc(out, *text);
        else
            strbuf_addf(out, "%%%02X", (unsigned char)*text);
    }
}

static const char *make_path(struct strbuf *out, const char *folder, const char *name,
                             const char *rest)
{
    strbuf_reset(out);
    strbuf_adds(out, folder);
    url_escape(out, name);
    strbuf_adds(out, rest);
    return out->text;
}

void url_param(struct strbuf *path, const char *name, const char *text)
{
    strbuf_addf(path, "%s=", name);
    url_escape(path, text);
    strbuf_addc(path, '&');
}

/* The value of an option as text; "": it was not given. */
static const char *text_at(const struct option_row *row, const char *place)
{
    if (row->take == take_flag)
        return *(const bool *)place ? "true" : "";
    if (row->take == take_when)
        return place;
    const char *text = *(const char *const *)place;
    return text ? text : "";
}

void url_options(struct strbuf *path, const struct option_row *rows, const void *request)
{
    const struct option_row *row;
    struct option_walk walk = option_walk(rows);
    while ((row = option_next(&walk))) {
        if (!row->field || row->take == take_variable)
            continue;
        const char *text = text_at(row, (const char *)request + walk.place);
        if (*text)
            url_param(path, row->field, text);
    }
}

const char *job_path(struct strbuf *out, const char *name, const char *rest)
{
    return make_path(out, "/jobs/", name, rest);
}

const char *run_path(struct strbuf *out, const char *run_id, const char *rest)
{
    return make_path(out, "/runs/", run_id, rest);
}

/* Is it deleted, and can still be restored? */
static bool was_deleted(struct client *client, const char *name)
{
    struct strbuf path;
    json_t *jobs = NULL;
    const json_t *job;
    size_t i;
    bool found = false;
    strbuf_init(&path);
    strbuf_adds(&path, "/jobs?deleted=true&fields=name&");
    url_param(&path, "q", name);
    if (client_list(client, path.text, NAMES_MAX, &jobs) == EXIT_OK) {
        json_array_foreach (jobs, i, job) {
            found = found || strcmp(answer_text(job, "name"), name) == 0;
        }
    }
    json_decref(jobs);
    strbuf_release(&path);
    return found;
}

enum exit_code client_no_such(const char *noun, const char *name, const json_t *items,
                              const char *member, const char *see)
{
    struct suggestion best = suggest_start(name, strlen(name));
    const json_t *item;
    size_t i;
    json_array_foreach (items, i, item) {
        suggest_offer(&best, answer_text(item, member));
    }
    if (best.name)
        cli_error("no %s is named \"%s\"; did you mean %s?", tr(noun), name, best.name);
    else
        cli_error("no %s is named \"%s\"; see: %s", tr(noun), name, see);
    return EXIT_NOT_FOUND;
}

static enum exit_code no_job(struct client *client, const char *name, const struct reply *reply)
{
    const char *renamed_to = answer_text(reply->body, "renamed_to");
    json_t *jobs = NULL;
    if (*renamed_to) {
        cli_error("\"%s\" was renamed to \"%s\"", name, renamed_to);
        return EXIT_NOT_FOUND;
    }
    if (was_deleted(client, name)) {
        cli_error("\"%s\" was deleted; back with: peal undelete %s", name, name);
        return EXIT_NOT_FOUND;
    }
    if (client_list(client, "/jobs?", NAMES_MAX, &jobs) != EXIT_OK)
        return EXIT_NOT_FOUND;
    enum exit_code code = client_no_such(TR("job"), name, jobs, "name", "peal list");
    json_decref(jobs);
    return code;
}

static enum exit_code call_job(struct client *client, const char *name, const char *rest,
                               struct client_request request, struct reply *ret)
{
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    request.path = job_path(&path, name, rest);
    enum status st = strbuf_status(&path);
    if (st == OK)
        st = client_try(client, &request, &reply);
    enum exit_code code = st == OK && reply.status == 404 ? no_job(client, name, &reply)
                                                          : client_report(client, st, &reply);
    strbuf_release(&path);
    if (code == EXIT_OK)
        *ret = reply;
    else
        reply_release(&reply);
    return code;
}

enum exit_code client_job(struct client *client, const char *name, struct reply *ret)
{
    return call_job(client, name, "", (struct client_request){0}, ret);
}

enum exit_code client_job_part(struct client *client, const char *name, const char *rest,
                               struct reply *ret)
{
    return call_job(client, name, rest, (struct client_request){0}, ret);
}

enum exit_code client_job_action(struct client *client, const char *name, const char *action,
                                 const json_t *body, json_t **ret)
{
    struct reply reply;
    char rest[32];
    snprintf(rest, sizeof(rest), "/%s", action);
    enum exit_code code = call_job(client, name, rest,
                                   (struct client_request){.method = "POST", .body = body}, &reply);
    if (code != EXIT_OK)
        return code;
    if (ret)
        *ret = json_incref(reply.body);
    reply_release(&reply);
    return EXIT_OK;
}

enum exit_code url_job_param(struct client *client, const char *name, struct strbuf *path)
{
    struct strbuf job;
    struct reply reply = {0};
    strbuf_init(&job);
    enum status st =
        client_try(client, &(struct client_request){.path = job_path(&job, name, "")}, &reply);
    enum exit_code code = EXIT_OK;
    if (st != OK || reply.status != 404)
        code = client_report(client, st, &reply);
    else if (!was_deleted(client, name))
        code = no_job(client, name, &reply);
    reply_release(&reply);
    strbuf_release(&job);
    if (code == EXIT_OK)
        url_param(path, "job", name);
    return code;
}

enum exit_code url_query(struct client *client, const char *path, const struct option_row *rows,
                         const void *request, const char *job, struct strbuf *out)
{
    strbuf_adds(out, path);
    url_options(out, rows, request);
    enum exit_code code = job ? url_job_param(client, job, out) : EXIT_OK;
    return code == EXIT_OK ? cli_fail(strbuf_status(out)) : code;
}
