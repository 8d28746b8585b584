/* peal link: lets a browser in, once. */
#include <stdio.h>

#include "cli/when.h"
#include "client/client.h"

static const struct option options[] = {DATA_OPTION, {0}};

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    const char *data = NULL;
    struct client *client = NULL;
    json_t *answer = NULL;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        data = optarg;
    }
    if (argc - optind > 1)
        return cli_usage(self, "unexpected \"%s\"", argv[optind + 1]);
    json_t *body = json_pack("{s:s*}", "name", argv[optind]);
    enum exit_code code = body ? client_open(data, &client) : cli_fail(E_NOMEM);
    if (code == EXIT_OK) {
        code = client_post(client, "/links", body, &answer);
        client_close(client);
    }
    json_decref(body);
    if (code == EXIT_OK) {
        printf("%s\n", answer_text(answer, "url"));
        fputs("It is good for once, within ten minutes.\n", stderr);
    }
    json_decref(answer);
    return code;
}

const struct command cmd_link = {
    .name = "link",
    .summary = "a link that opens the console logged in, once",
    .help =
        "Examples:\n"
        "  peal link                         as an admin, without an account\n"
        "  peal link anna                    as that user, who has forgotten the password\n"
        "\n"
        "Usage: peal link [NAME]\n"
        "\n"
        "Only on the machine of the agent, by its own user or root. The link is good for once,\n"
        "within ten minutes. Exit status 4: the agent listens on no address.\n"
        "\n"
        "Options:\n"
        "  --data DIR       the agent's data folder (else $PEAL_DATA, else the default)\n",
    .getopt_rows = options,
    .old_run = run,
};
