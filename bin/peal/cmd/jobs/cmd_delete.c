/* peal delete: deletes jobs. */
#include <stdio.h>

#include "cli/output.h"
#include "jobs/check/dependents.h"
#include "jobs/job_match.h"
#include "text/tr.h"

static enum exit_code delete_job(struct client *client, const char *name)
{
    struct reply reply;
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = client_call(
        client, &(struct client_request){.method = "DELETE", .path = job_path(&path, name, "")},
        &reply);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    reply_release(&reply);
    fprintf(stderr, tr("%s: deleted; back with: peal undelete %s"), name, name);
    fputc('\n', stderr);
    return EXIT_OK;
}

/* Drops the names of jobs that do not exist, which are reported, and warns of jobs that wait for
 * the others. */
static enum exit_code look(struct client *client, const struct words *names, json_t *found)
{
    enum exit_code worst = EXIT_OK;
    for (int i = 0; i < names->count; i++) {
        if (json_object_set_new(found, names->items[i], json_true()) != 0)
            return cli_fail(E_NOMEM);
    }
    for (int i = 0; i < names->count && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code = dependents_warn_of(client, names->items[i], found);
        if (code != EXIT_OK) {
            json_object_del(found, names->items[i]);
            worst = code;
        }
    }
    return worst;
}

static enum exit_code delete_found(struct client *client, const struct match_request *request,
                                   json_t *found)
{
    const char *name;
    const json_t *value;
    const char *first = json_object_iter_key(json_object_iter(found));
    enum exit_code worst =
        json_object_size(found) > 1
            ? confirm_deletion(request->match.yes, "Delete %s and the others?", first)
            : confirm_deletion(request->match.yes, "Delete %s?", first);
    if (worst != EXIT_OK)
        return worst;
    json_object_foreach (found, name, value) {
        enum exit_code code = worst == EXIT_UNREACHABLE ? worst : delete_job(client, name);
        if (code != EXIT_OK)
            worst = code;
    }
    return worst;
}

static enum exit_code delete_jobs(struct client *client, const struct match_request *request)
{
    json_t *found = json_object();
    enum exit_code worst = found ? look(client, &request->names, found) : cli_fail(E_NOMEM);
    if (json_object_size(found) && worst != EXIT_UNREACHABLE) {
        enum exit_code code = delete_found(client, request, found);
        if (code != EXIT_OK)
            worst = code;
    }
    json_decref(found);
    return worst;
}

static enum exit_code delete_matched(struct client *client, void *place)
{
    const struct match_request *request = place;
    enum exit_code code = job_match_check(request);
    if (code != EXIT_OK)
        return code;
    return job_match_is_given(&request->match)
               ? job_match_run(client, request, "delete", TR("deleted"))
               : delete_jobs(client, request);
}

const struct command cmd_delete = {
    .name = "delete",
    .summary = "delete jobs; they can be restored for a week",
    .examples = EXAMPLES({"peal delete backup", NULL}, {"peal delete old1 old2 --yes", NULL},
                         {"peal delete --label team=gone --dry-run", NULL}),
    .usage = "NAME... | FILTER [options]",
    .notes = "Current runs continue. Restore a job with: peal undelete NAME. Asks on a terminal; "
             "elsewhere --yes is needed. Jobs that wait for a deleted one (after) are named.",
    .arguments = match_arguments,
    .options = match_options,
    .too_few = "which job?",
    .request_size = sizeof(struct match_request),
    .with_agent = delete_matched,
};
