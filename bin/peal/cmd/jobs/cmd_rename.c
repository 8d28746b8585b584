/* peal rename: gives a job another name; its uid, its history and its dependents stay. */
#include <stdio.h>

#include "client/client.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *from, *to;
    bool dry_run;
};

static void print_names(const json_t *names)
{
    const json_t *name;
    size_t i;
    json_array_foreach (names, i, name) {
        printf("%s\n", json_string_value(name));
    }
}

static void print_renamed(const struct request *request, const json_t *answer)
{
    const json_t *rewritten = json_object_get(answer, "rewritten");
    const json_t *left = json_object_get(answer, "left");
    size_t count = json_array_size(rewritten);
    if (request->dry_run)
        fprintf(stderr, tr("%s: would be renamed to %s; jobs whose after would be rewritten: %zu"),
                request->from, request->to, count);
    else
        fprintf(stderr, tr("%s: renamed to %s; jobs whose after was rewritten: %zu"), request->from,
                request->to, count);
    fputc('\n', stderr);
    print_names(rewritten);
    if (!json_array_size(left))
        return;
    fprintf(stderr,
            tr("jobs that still have a former name of it in their after, and keep waiting for it: "
               "%zu; repeat the command to rewrite them"),
            json_array_size(left));
    fputc('\n', stderr);
    print_names(left);
}

static enum exit_code rename_job(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *answer = NULL;
    json_t *body = json_pack("{s:s, s:b}", "name", request->to, "dry_run", request->dry_run);
    enum exit_code code = body ? client_job_action(client, request->from, "rename", body, &answer)
                               : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        print_renamed(request, answer);
    json_decref(answer);
    json_decref(body);
    return code;
}

const struct command cmd_rename = {
    .name = "rename",
    .summary = "give a job another name",
    .examples = EXAMPLES({"peal rename backup db/backup", NULL},
                         {"peal rename backup db/backup --dry-run", "only check it"}),
    .notes = "The job stays the same: its uid, its runs, its ticks, and the jobs that wait for it, "
             "whose `after` is rewritten; prints those. Repeat the command if it was interrupted. "
             "Files for `peal apply` need the new name, too: with the old one they would make a "
             "new job.",
    .arguments = ROWS(ARGUMENT(request, from, "OLD", .complete = COMPLETE_JOBS),
                      ARGUMENT(request, to, "NEW")),
    .options = ROWS(OPTION_FLAG(request, dry_run, 0, "dry-run", "only check it"),
                    OPTION_GROUP(request, base, client_options)),
    .wrong_count = "which job, and what is its new name? peal rename OLD NEW",
    .request_size = sizeof(struct request),
    .with_agent = rename_job,
};
