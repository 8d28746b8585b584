/* peal delete: jobs that run no more. */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "output.h"

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"yes", no_argument, NULL, 'y'},
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
        client, &(struct call){.method = "DELETE", .path = job_path(&path, name, "")}, &reply);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    reply_release(&reply);
    fprintf(stderr, "%s: deleted; back with: peal undelete %s\n", name, name);
    return EXIT_OK;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    const char *data = NULL;
    struct client *client;
    bool yes = false;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (opt == 'y')
            yes = true;
        else
            data = optarg;
    }
    if (optind == argc)
        return cli_usage(self, "which job?");
    enum exit_code worst = client_open(data, &client);
    if (worst != EXIT_OK)
        return worst;
    int count = argc - optind;
    if (!confirmed(yes, "Delete %s%s?", argv[optind], count > 1 ? " and the others" : "")) {
        fputs("nothing was deleted\n", stderr);
        argc = optind;
        worst = EXIT_ERROR;
    }
    for (int i = optind; i < argc && worst != EXIT_UNREACHABLE; i++) {
        enum exit_code code = delete_job(client, argv[i]);
        if (code != EXIT_OK)
            worst = code;
    }
    client_close(client);
    return worst;
}

const struct command cmd_delete = {
    .name = "delete",
    .summary = "delete jobs; they can be brought back for a week",
    .help = "Examples:\n"
            "  peal delete backup\n"
            "  peal delete old1 old2 --yes\n"
            "\n"
            "Usage: peal delete NAME... [--yes]\n"
            "\n"
            "A run that is under way goes on. Bring a job back with: peal undelete NAME\n"
            "\n"
            "Options:\n"
            "  -y, --yes        do not ask (asked is on a terminal only)\n" CLIENT_HELP,
    .options = options,
    .run = run,
};
