/* peal rollback: makes an earlier definition of a job the current one. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/when.h"
#include "client/client.h"
#include "print/diff_print.h"

enum { OPTION_DRY_RUN = OPTION_LONG_ONLY };

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"dry-run", no_argument, NULL, OPTION_DRY_RUN},
    {0},
};

/* From what is current to what it would be. */
static enum exit_code preview(struct client *client, const char *job, const char *current,
                              const char *revision)
{
    bool differs = false;
    enum exit_code code = diff_print_revisions(client, job, current, revision, &differs);
    if (code == EXIT_OK && !differs)
        cli_note("%s: revision %s is the same as the current one", job, revision);
    return code;
}

/* Only over what was there a moment ago. */
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
    if (code == EXIT_OK && now == strtoll(current, NULL, 10))
        cli_note("%s: revision %lld is the same as the current one; nothing was changed", job,
                 (long long)revision);
    else if (code == EXIT_OK)
        fprintf(stderr, "%s: back to revision %lld, as revision %lld\n", job, (long long)revision,
                (long long)now);
    else if (code == EXIT_NOT_FOUND)
        fprintf(stderr, "See: peal versions %s\n", job);
    reply_release(&reply);
    json_decref(body);
    strbuf_release(&path);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    const char *data = NULL;
    bool dry_run = false;
    struct client *client;
    struct reply job;
    int64_t revision;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (opt == OPTION_DATA)
            data = optarg;
        else
            dry_run = true;
    }
    if (argc - optind != 2)
        return cli_usage(self, "which job, and which revision? peal versions JOB lists them");
    if (!cli_number(self, "REVISION", argv[optind + 1], 1, INT64_MAX, &revision))
        return EXIT_USAGE;
    enum exit_code code = client_open(data, &client);
    if (code != EXIT_OK)
        return code;
    code = client_job(client, argv[optind], &job);
    if (code == EXIT_OK) {
        char current[24];
        snprintf(current, sizeof(current), "%lld", (long long)answer_int(job.body, "revision", 0));
        code = dry_run ? preview(client, argv[optind], current, argv[optind + 1])
                       : roll_back(client, argv[optind], current, revision);
        reply_release(&job);
    }
    client_close(client);
    return code;
}

const struct command cmd_rollback = {
    .name = "rollback",
    .summary = "make an earlier definition of a job the current one",
    .help =
        "Examples:\n"
        "  peal versions backup                      which there are\n"
        "  peal rollback backup 17 --dry-run         what would change\n"
        "  peal rollback backup 17\n"
        "\n"
        "Usage: peal rollback JOB REVISION [--dry-run]\n"
        "\n"
        "The definition comes back whole, as a new revision; whether the job is paused stays as\n"
        "it is. What somebody else changes at the same moment is not overwritten.\n"
        "\n"
        "Options:\n"
        "  --dry-run        show the difference only\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
