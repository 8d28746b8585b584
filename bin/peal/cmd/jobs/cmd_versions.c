/* peal versions: what a job's definition was, and who changed it. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/listing.h"
#include "cli/when.h"

enum { COUNT_DEFAULT = 20, COUNT_MAX = 100000 };

struct request {
    struct request_base base;
    const char *job;
    int64_t count;
    enum output output;
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

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    static const char *const headers[] = {"REVISION", "AT", "BY", "ACTION", "IS", "DETAIL", NULL};
    static const struct list_form form = {
        .name = "revision", .headers = headers, .add_row = add_version};
    struct strbuf path;
    struct reply one;
    json_t *versions = NULL;
    enum exit_code code = client_job_part(client, request->job, "/versions?limit=1", &one);
    if (code != EXIT_OK)
        return code;
    reply_release(&one);
    strbuf_init(&path);
    code = client_list(client, job_path(&path, request->job, "/versions?"), (size_t)request->count,
                       &versions);
    if (code == EXIT_OK)
        code = list_print(versions, request->output, &form);
    json_decref(versions);
    strbuf_release(&path);
    return code;
}

const struct command cmd_versions = {
    .name = "versions",
    .summary = "what a job's definition was, and who changed it",
    .examples = EXAMPLES({"peal versions backup", NULL}, {"peal diff backup --revision 17", NULL},
                         {"peal rollback backup 17", NULL}),
    .notes = "Newest first, as far back as the audit trail is kept; also of a job that was "
             "deleted and can be brought back.",
    .arguments = ROWS(ARGUMENT(request, job, "JOB", .complete = COMPLETE_JOBS)),
    .options = ROWS(
        OPTION_NUMBER(request, count, 'n', "count", 1, COUNT_MAX, "at most so many (20)"),
        OPTION_OUTPUT(request, output, OUTPUT_TEXT), OPTION_GROUP(request, base, client_options)),
    .wrong_count = ONE_JOB,
    .request_size = sizeof(struct request),
    .defaults = &(const struct request){.count = COUNT_DEFAULT},
    .with_agent = show,
};
