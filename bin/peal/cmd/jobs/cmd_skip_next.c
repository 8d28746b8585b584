/* peal skip-next: leave out the next ticks of a job. */
#include <stdio.h>

#include "cli/when.h"
#include "client/client.h"

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"count", required_argument, NULL, 'n'},
    {0},
};

static void print_skipped(const json_t *ticks)
{
    struct strbuf text;
    const json_t *tick;
    size_t i;
    strbuf_init(&text);
    json_array_foreach (ticks, i, tick) {
        int64_t at_ms;
        strbuf_reset(&text);
        if (when_parse(json_is_string(tick) ? json_string_value(tick) : "", &at_ms))
            when_print_local(at_ms, &text);
        printf("%s\n", text.text);
    }
    strbuf_release(&text);
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    const char *data = NULL;
    struct client *client;
    int64_t count = 1;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?')
            return EXIT_USAGE;
        if (opt == OPTION_DATA)
            data = optarg;
        else if (!cli_number(self, "-n", optarg, 0, 1000, &count))
            return EXIT_USAGE;
    }
    if (argc - optind != 1)
        return cli_usage(self, "which job? One at a time");
    enum exit_code code = client_open(data, &client);
    if (code != EXIT_OK)
        return code;
    json_t *answer = NULL;
    json_t *body = json_pack("{sI}", "count", (json_int_t)count);
    code = body ? client_job_action(client, argv[optind], "skip-next", body, &answer)
                : cli_fail(E_NOMEM);
    if (code == EXIT_OK) {
        const json_t *ticks = json_object_get(answer, "skipped");
        if (count)
            fprintf(stderr, "%s: skips %zu\n", argv[optind], json_array_size(ticks));
        else
            fprintf(stderr, "%s: skips nothing any more\n", argv[optind]);
        print_skipped(ticks);
    }
    json_decref(answer);
    json_decref(body);
    client_close(client);
    return code;
}

const struct command cmd_skip_next = {
    .name = "skip-next",
    .summary = "leave out the next run of a job",
    .help = "Examples:\n"
            "  peal skip-next backup\n"
            "  peal skip-next backup -n 3\n"
            "  peal skip-next backup -n 0     take it back\n"
            "\n"
            "Usage: peal skip-next NAME [-n N]\n"
            "\n"
            "The ticks are printed, and on record as skipped once they are due.\n"
            "\n"
            "Options:\n"
            "  -n, --count N    how many (1); 0: those that are not due yet run after "
            "all\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
