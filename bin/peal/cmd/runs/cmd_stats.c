/* peal stats: how many runs ended how, and how long they took. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/listing.h"
#include "cli/when.h"

enum { OPTION_SPAN = OPTION_LONG_ONLY };

static const struct option options[] = {
    CLIENT_OPTIONS,
    OUTPUT_OPTION,
    {"span", required_argument, NULL, OPTION_SPAN},
    {"since", required_argument, NULL, OPTION_SINCE},
    {"until", required_argument, NULL, OPTION_UNTIL},
    {0},
};

static bool take_span(const struct command *self, struct list_request *request)
{
    static const char *const spans[] = {"hour", "day", NULL};
    int choice;
    if (!cli_choice(self, "--span", optarg, spans, &choice))
        return false;
    url_param(&request->path, "span", spans[choice]);
    return true;
}

static bool take_option(const struct command *self, int opt, struct list_request *request)
{
    switch (opt) {
    case OPTION_SPAN:
        return take_span(self, request);
    case OPTION_SINCE:
        return when_param(self, "--since", optarg, "from", &request->path);
    case OPTION_UNTIL:
        return when_param(self, "--until", optarg, "to", &request->path);
    default:
        return list_option(self, opt, request);
    }
}

/* ---- the table ---- */

static void add_count(struct text_table *table, const json_t *span, const char *name)
{
    char text[24] = "";
    int64_t count = answer_int(span, name, 0);
    if (count)
        snprintf(text, sizeof(text), "%" PRId64, count);
    text_table_cell(table, text);
}

static void add_taken(struct text_table *table, const json_t *span, const char *name)
{
    struct strbuf text;
    strbuf_init(&text);
    when_print_taken(0, answer_int(span, name, NO_TIME), &text);
    text_table_cell(table, text.text);
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

static void add_span(struct text_table *table, const json_t *span, bool wide)
{
    static const char *const counts[] = {"ok",   "failed",  "timed_out", "killed",
                                         "lost", "skipped", "missed"};
    static const char *const times[] = {"p50_ms", "p95_ms", "max_ms", "mean_late_ms"};
    struct strbuf from;
    (void)wide;
    strbuf_init(&from);
    when_print_local(answer_time(span, "from"), &from);
    text_table_cell(table, from.text);
    strbuf_release(&from);
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
        add_count(table, span, counts[k]);
    for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++)
        add_taken(table, span, times[k]);
}

static enum exit_code show(const char *job, struct list_request *request)
{
    static const char *const headers[] = {"FROM",    "OK",      "FAILED", "TIMED OUT", "KILLED",
                                          "LOST",    "SKIPPED", "MISSED", "P50",       "P95",
                                          "LONGEST", "LATE",    NULL};
    static const struct list_form form = {
        .name = "from", .headers = headers, .none = "no runs", .add_row = add_span};
    struct client *client;
    enum exit_code code = client_open(request->data, &client);
    if (code != EXIT_OK)
        return code;
    code = job ? url_job_param(client, job, &request->path) : EXIT_OK;
    if (code == EXIT_OK)
        code = cli_fail(strbuf_status(&request->path));
    if (code == EXIT_OK)
        code = list_show(client, request->path.text, request->output, &form);
    client_close(client);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct list_request request = {0};
    enum exit_code code = EXIT_USAGE;
    int opt;
    strbuf_init(&request.path);
    strbuf_adds(&request.path, "/stats?");
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            goto out;
    }
    code = argc - optind > 1 ? cli_usage(self, "one job at a time")
                             : show(optind < argc ? argv[optind] : NULL, &request);
out:
    strbuf_release(&request.path);
    return code;
}

const struct command cmd_stats = {
    .name = "stats",
    .summary = "how many runs ended how, and how long they took",
    .help =
        "Examples:\n"
        "  peal stats\n"
        "  peal stats backup --span day\n"
        "  peal stats --since 3d -o json | jq 'map(.failed) | add'\n"
        "\n"
        "Usage: peal stats [JOB] [options]\n"
        "\n"
        "By hour, of the last day; or by day, of the last 30. Spans without a run are left out.\n"
        "P50 and P95 are exact to an eighth; LATE is how late runs started on average.\n"
        "\n"
        "Options:\n"
        "  --span S         hour (default) or day, in UTC\n"
        "  --since T, --until T\n" OUTPUT_HELP CLIENT_HELP "\n" WHEN_HELP,
    .getopt_rows = options,
    .old_run = run,
};
