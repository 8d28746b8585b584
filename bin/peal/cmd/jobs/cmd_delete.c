/* peal delete: deletes jobs. */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "jobs/job_match.h"

/* Gets the job first, so that a mistyped name is reported with a suggestion. */
static enum exit_code delete_job(struct client *client, const char *name)
{
    struct reply reply;
    struct strbuf path;
    enum exit_code code = client_job(client, name, &reply);
    if (code != EXIT_OK)
        return code;
    reply_release(&reply);
    strbuf_init(&path);
    code = client_call(
        client, &(struct client_request){.method = "DELETE", .path = job_path(&path, name, "")},
        &reply);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    reply_release(&reply);
    fprintf(stderr, "%s: deleted; back with: peal undelete %s\n", name, name);
    return EXIT_OK;
}

static enum exit_code delete_jobs(struct client *client, const struct match_request *request)
{
    const struct words *names = &request->names;
    enum exit_code worst = EXIT_OK;
    if (!confirmed(request->match.yes, "Delete %s%s?", names->items[0],
                   names->count > 1 ? " and the others" : "")) {
        fputs("nothing was deleted\n", stderr);
        return EXIT_ERROR;
    }
    for (int i = 0; i < names->count && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code = delete_job(client, names->items[i]);
        if (code != EXIT_OK)
            worst = code;
    }
    return worst;
}

static enum exit_code delete_matched(struct client *client, void *place)
{
    const struct match_request *request = place;
    enum exit_code code = job_match_check(request);
    if (code != EXIT_OK)
        return code;
    return job_match_is_given(&request->match) ? job_match_run(client, request, "delete", "deleted")
                                               : delete_jobs(client, request);
}

const struct command cmd_delete = {
    .name = "delete",
    .summary = "delete jobs; they can be restored for a week",
    .examples = EXAMPLES({"peal delete backup", NULL}, {"peal delete old1 old2 --yes", NULL},
                         {"peal delete --label team=gone --dry-run", NULL}),
    .usage = "NAME... | FILTER [options]",
    .notes = "Current runs continue. Restore a job with: peal undelete NAME",
    .arguments = match_arguments,
    .options = match_options,
    .too_few = "which job?",
    .request_size = sizeof(struct match_request),
    .with_agent = delete_matched,
};
