/* peal rollback: makes an earlier definition of a job the current one. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/diff_print.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *job;
    int64_t revision;
    bool dry_run;
};

/* Shows the difference from the current definition. */
static enum exit_code preview(struct client *client, const char *job, const char *current,
                              const char *revision)
{
    bool differs = false;
    enum exit_code code = diff_print_revisions(client, job, current, revision, &differs);
    if (code == EXIT_OK && !differs)
        cli_note("%s: revision %s is the same as the current one", job, revision);
    return code;
}

/* With If-Match on the revision that was shown. */
static enum exit_code roll_back(struct client *client, const char *job, const char *current,
                                int64_t revision)
{
    struct strbuf path;
    struct reply reply = {0};
    json_t *body = json_pack("{s:I}", "revision", (json_int_t)revision);
    strbuf_init(&path);
    struct client_request call = {.method = "POST",
                                  .path = job_path(&path, job, "/rollback"),
                                  .body = body,
                                  .if_match = current};
    enum exit_code code = body ? client_call(client, &call, &reply) : cli_fail(E_NOMEM);
    int64_t now = code == EXIT_OK ? answer_int(reply.body, "revision", 0) : 0;
    if (code == EXIT_OK && now == strtoll(current, NULL, 10)) {
        cli_note("%s: revision %lld is the same as the current one; nothing was changed", job,
                 (long long)revision);
    } else if (code == EXIT_OK) {
        fprintf(stderr, tr("%s: back to revision %lld, as revision %lld"), job, (long long)revision,
                (long long)now);
        fputc('\n', stderr);
    } else if (code == EXIT_NOT_FOUND) {
        fprintf(stderr, tr("See: peal versions %s"), job);
        fputc('\n', stderr);
    }
    reply_release(&reply);
    json_decref(body);
    strbuf_release(&path);
    return code;
}

static enum exit_code rollback(struct client *client, void *place)
{
    const struct request *request = place;
    struct reply job;
    char current[24], revision[24];
    enum exit_code code = client_job(client, request->job, &job);
    if (code != EXIT_OK)
        return code;
    snprintf(current, sizeof(current), "%lld", (long long)answer_int(job.body, "revision", 0));
    snprintf(revision, sizeof(revision), "%lld", (long long)request->revision);
    code = request->dry_run ? preview(client, request->job, current, revision)
                            : roll_back(client, request->job, current, request->revision);
    reply_release(&job);
    return code;
}

const struct command cmd_rollback = {
    .name = "rollback",
    .summary = "restore an earlier definition of a job",
    .examples = EXAMPLES({"peal versions backup", "lists the revisions"},
                         {"peal rollback backup 17 --dry-run", "shows the changes only"},
                         {"peal rollback backup 17", NULL}),
    .notes = "The whole definition becomes a new revision; a paused job stays paused. Concurrent "
             "changes by others are not overwritten.",
    .arguments = ROWS(ARGUMENT(request, job, "JOB", .complete = COMPLETE_JOBS),
                      {.name = "REVISION",
                       .take = take_number,
                       .place = OPTION_PLACE(request, revision, int64_t),
                       .min = 1,
                       .max = INT64_MAX}),
    .options = ROWS(OPTION_FLAG(request, dry_run, 0, "dry-run", "only show the changes"),
                    OPTION_GROUP(request, base, client_options)),
    .wrong_count = "which job, and which revision? peal versions JOB lists them",
    .request_size = sizeof(struct request),
    .with_agent = rollback,
};
