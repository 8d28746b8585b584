/* peal audit: who changed what. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"

enum { OPTION_JOB = OPTION_LONG_ONLY, OPTION_ACTOR, OPTION_ACTION };

static const struct option options[] = {
    LIST_OPTIONS,
    {"query", required_argument, NULL, 'q'},
    {"job", required_argument, NULL, OPTION_JOB},
    {"actor", required_argument, NULL, OPTION_ACTOR},
    {"action", required_argument, NULL, OPTION_ACTION},
    {0},
};

static bool take_option(const struct command *self, int opt, struct list_request *request)
{
    switch (opt) {
    case 'q':
        url_param(&request->path, "q", optarg);
        return true;
    case OPTION_JOB:
        url_param(&request->path, "job", optarg);
        return true;
    case OPTION_ACTOR:
        url_param(&request->path, "actor", optarg);
        return true;
    case OPTION_ACTION:
        url_param(&request->path, "action", optarg);
        return true;
    default:
        return list_option(self, opt, request);
    }
}

/* ---- the table ---- */

/* "job backup"; of a run its job, too: "run 01J... of backup". */
static void print_target(const json_t *change, struct strbuf *out)
{
    const json_t *target = json_object_get(change, "target");
    const char *name = answer_text(target, "name"), *job = answer_text(change, "job");
    strbuf_addf(out, "%s %s", answer_text(target, "kind"), name);
    if (*job && strcmp(job, name) != 0)
        strbuf_addf(out, " of %s", job);
}

static void add_change(struct text_table *table, const json_t *change, bool wide)
{
    int64_t revision = answer_int(change, "revision", 0);
    struct strbuf text;
    strbuf_init(&text);
    when_print_local(answer_time(change, "at"), &text);
    text_table_cell(table, text.text);
    text_table_cell(table, answer_text(change, "actor"));
    text_table_cell(table, answer_text(change, "via"));
    text_table_cell(table, answer_text(change, "address"));
    text_table_cell(table, answer_text(change, "action"));
    strbuf_reset(&text);
    print_target(change, &text);
    text_table_cell(table, text.text);
    strbuf_reset(&text);
    if (revision)
        strbuf_addf(&text, "%" PRId64, revision);
    text_table_cell(table, text.text);
    text_table_cell(table, answer_text(change, "detail"));
    if (wide)
        text_table_cell(table, answer_text(change, "request_id"));
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

static enum exit_code show(const struct list_request *request)
{
    static const char *const narrow_headers[] = {"AT",     "BY",       "VIA",    "FROM", "ACTION",
                                                 "TARGET", "REVISION", "DETAIL", NULL};
    static const char *const wide_headers[] = {"AT",     "BY",       "VIA",    "FROM",    "ACTION",
                                               "TARGET", "REVISION", "DETAIL", "REQUEST", NULL};
    static const struct list_form form = {.name = "id",
                                          .headers = narrow_headers,
                                          .wide_headers = wide_headers,
                                          .none = "no changes",
                                          .add_row = add_change};
    struct client *client;
    json_t *changes = NULL;
    enum exit_code code = cli_fail(strbuf_status(&request->path));
    if (code == EXIT_OK)
        code = client_open(request->data, &client);
    if (code != EXIT_OK)
        return code;
    code = client_list(client, request->path.text, (size_t)request->count, &changes);
    if (code == EXIT_OK)
        code = list_print(changes, request->output, &form);
    json_decref(changes);
    client_close(client);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct list_request request = {.count = LIST_COUNT_DEFAULT};
    enum exit_code code = EXIT_USAGE;
    int opt;
    strbuf_init(&request.path);
    strbuf_adds(&request.path, "/audit?");
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            goto out;
    }
    code = optind < argc ? cli_usage(self, "unexpected \"%s\"; a job goes with --job", argv[optind])
                         : show(&request);
out:
    strbuf_release(&request.path);
    return code;
}

const struct command cmd_audit = {
    .name = "audit",
    .summary = "who changed what",
    .help = "Examples:\n"
            "  peal audit\n"
            "  peal audit --job backup --since 7d\n"
            "  peal audit --actor ann --action delete,rollback\n"
            "  peal audit -q 192.0.2.7 -o json | jq '.[].after.command'\n"
            "\n"
            "Usage: peal audit [options]\n"
            "\n"
            "Newest first. -o json has the definitions before and after, too.\n"
            "\n"
            "Options:\n"
            "  -n, --count N    at most so many (20)\n"
            "  -q, --query S    a part of who, what, job, address or detail\n"
            "  --job NAME, --actor NAME\n"
            "  --action A,...   create, change, delete, undelete, pause, resume, skip_next,\n"
            "                   rollback, run, retry, kill, backfill, drain, undrain,\n"
            "                   calendar_create, calendar_change, calendar_delete, login, ...\n"
            "  --since T, --until T\n" OUTPUT_HELP CLIENT_HELP "\n" WHEN_HELP,
    .getopt_rows = options,
    .old_run = run,
};
