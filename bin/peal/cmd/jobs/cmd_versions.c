/* peal versions: what a job's definition was, and who changed it. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/listing.h"
#include "cli/when.h"

enum { COUNT_DEFAULT = 20, COUNT_MAX = 100000 };

static const struct option options[] = {
    CLIENT_OPTIONS,
    OUTPUT_OPTION,
    {"count", required_argument, NULL, 'n'},
    {0},
};

static void add_version(struct text_table *table, const json_t *version, bool wide)
{
    struct strbuf text;
    bool current = json_is_true(json_object_get(version, "current"));
    (void)wide;
    strbuf_init(&text);
    strbuf_addf(&text, "%" PRId64, answer_int(version, "revision", 0));
    text_table_cell(table, text.text);
    strbuf_reset(&text);
    when_print_local(answer_time(version, "at"), &text);
    text_table_cell(table, text.text);
    text_table_cell(table, answer_text(version, "actor"));
    text_table_cell(table, answer_text(version, "action"));
    text_table_cell(table, current ? "current" : "");
    text_table_cell(table, answer_text(version, "detail"));
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

static enum exit_code show(struct client *client, const char *job, int64_t count,
                           enum output output)
{
    static const char *const headers[] = {"REVISION", "AT", "BY", "ACTION", "IS", "DETAIL", NULL};
    static const struct list_form form = {
        .name = "revision", .headers = headers, .add_row = add_version};
    struct strbuf path;
    struct reply one;
    json_t *versions = NULL;
    enum exit_code code = client_job_part(client, job, "/versions?limit=1", &one);
    if (code != EXIT_OK)
        return code;
    reply_release(&one);
    strbuf_init(&path);
    code = client_list(client, job_path(&path, job, "/versions?"), (size_t)count, &versions);
    if (code == EXIT_OK)
        code = list_print(versions, output, &form);
    json_decref(versions);
    strbuf_release(&path);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    const char *data = NULL;
    int64_t count = COUNT_DEFAULT;
    enum output output = OUTPUT_TABLE;
    struct client *client;
    int opt;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == OPTION_DATA)
            data = optarg;
        else if (opt == '?' || (opt == 'o' && !output_take(self, optarg, &output)) ||
                 (opt == 'n' && !cli_number(self, "-n", optarg, 1, COUNT_MAX, &count)))
            return EXIT_USAGE;
    }
    if (argc - optind != 1)
        return cli_usage(self, "which job? One at a time");
    enum exit_code code = client_open(data, &client);
    if (code != EXIT_OK)
        return code;
    code = show(client, argv[optind], count, output);
    client_close(client);
    return code;
}

const struct command cmd_versions = {
    .name = "versions",
    .summary = "what a job's definition was, and who changed it",
    .help = "Examples:\n"
            "  peal versions backup\n"
            "  peal diff backup --revision 17\n"
            "  peal rollback backup 17\n"
            "\n"
            "Usage: peal versions JOB [options]\n"
            "\n"
            "Newest first, as far back as the audit trail is kept; also of a job that was deleted\n"
            "and can be brought back.\n"
            "\n"
            "Options:\n"
            "  -n, --count N    at most so many (20)\n" OUTPUT_HELP CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
