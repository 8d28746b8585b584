/* peal versions: what a job's definition was, and who changed it. */
#include "cli/listing.h"
#include "cli/when.h"
#include "print/state_words.h"
#include "text/tr.h"

enum { COUNT_DEFAULT = 20, COUNT_MAX = 100000 };

struct request {
    struct request_base base;
    const char *job;
    int64_t count;
    enum output output;
};

static void print_current(const json_t *version, struct strbuf *out)
{
    strbuf_adds(out, json_is_true(json_object_get(version, "current")) ? tr("current") : "");
}

static void print_action(const json_t *version, struct strbuf *out)
{
    strbuf_adds(out, action_word(answer_text(version, "action")));
}

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    static const struct list_column columns[] = {
        COLUMN("REVISION", "revision", .form = COLUMN_NUMBER),
        COLUMN("AT", "at", .form = COLUMN_TIME),
        COLUMN("BY", "actor"),
        COLUMN_BY("ACTION", print_action),
        COLUMN_BY("IS", print_current),
        COLUMN("DETAIL", "detail"),
        {0},
    };
    static const struct list_form form = {.name = "revision", .columns = columns};
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
    .summary = "the revisions of a job and their authors",
    .examples = EXAMPLES({"peal versions backup", NULL}, {"peal diff backup --revision 17", NULL},
                         {"peal rollback backup 17", NULL}),
    .notes = "Newest first, as far back as the audit log reaches; also for a deleted job that can "
             "still be restored.",
    .arguments = ROWS(ARGUMENT(request, job, "JOB", .complete = COMPLETE_JOBS)),
    .options = ROWS(OPTION_NUMBER(request, count, 'n', "count", 1, COUNT_MAX,
                                  "the maximum number of rows (20)"),
                    OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                    OPTION_GROUP(request, base, client_options)),
    .wrong_count = ONE_JOB,
    .request_size = sizeof(struct request),
    .defaults = &(const struct request){.count = COUNT_DEFAULT},
    .with_agent = show,
};
