/* peal delete: jobs that run no more. */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "client/client.h"
#include "jobs/job_match.h"

static const struct option options[] = {
    CLIENT_OPTIONS,
    MATCH_OPTIONS,
    {0},
};

/* Looks first, so that a mistyped name is told with its suggestion. */
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

static enum exit_code delete_jobs(struct client *client, int count, char **names, bool yes)
{
    enum exit_code worst = EXIT_OK;
    if (!confirmed(yes, "Delete %s%s?", names[0], count > 1 ? " and the others" : "")) {
        fputs("nothing was deleted\n", stderr);
        return EXIT_ERROR;
    }
    for (int i = 0; i < count && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code = delete_job(client, names[i]);
        if (code != EXIT_OK)
            worst = code;
    }
    return worst;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct job_match match;
    struct client *client;
    enum exit_code code = job_match_open(self, argc, argv, "which job?", &match, &client);
    if (code != EXIT_OK)
        return code;
    code = match.is_given ? job_match_run(client, &match, "delete", "deleted")
                          : delete_jobs(client, argc - optind, argv + optind, match.yes);
    client_close(client);
    return code;
}

const struct command cmd_delete = {
    .name = "delete",
    .summary = "delete jobs; they can be brought back for a week",
    .help = "Examples:\n"
            "  peal delete backup\n"
            "  peal delete old1 old2 --yes\n"
            "  peal delete --label team=gone --dry-run\n"
            "\n"
            "Usage: peal delete NAME... | FILTER [options]\n"
            "\n"
            "A run that is under way goes on. Bring a job back with: peal undelete NAME\n"
            "\n"
            "Options:\n" MATCH_HELP CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
