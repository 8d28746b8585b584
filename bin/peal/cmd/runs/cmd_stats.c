/* peal stats: how many runs ended how, and how long they took. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/listing.h"
#include "cli/when.h"

struct request {
    struct request_base base;
    const char *job, *span;
    struct when_text since, until;
    enum output output;
};

static const char *const spans[] = {"hour", "day", NULL};

static const struct option_row options[] = {
    OPTION_WORD(request, span, 0, "span", "S", spans, "hour (default) or day, in UTC",
                .field = "span"),
    OPTION_WHEN(request, since, "since", "from this time on", .field = "from"),
    OPTION_WHEN(request, until, "until", "until this time", .field = "to"),
    OPTION_OUTPUT(request, output, OUTPUT_TEXT),
    OPTION_GROUP(request, base, client_options),
    {0},
};

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

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    static const char *const headers[] = {"FROM",    "OK",      "FAILED", "TIMED OUT", "KILLED",
                                          "LOST",    "SKIPPED", "MISSED", "P50",       "P95",
                                          "LONGEST", "LATE",    NULL};
    static const struct list_form form = {
        .name = "from", .headers = headers, .none = "no runs", .add_row = add_span};
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/stats?");
    url_options(&path, options, request);
    enum exit_code code = request->job ? url_job_param(client, request->job, &path) : EXIT_OK;
    if (code == EXIT_OK)
        code = cli_fail(strbuf_status(&path));
    if (code == EXIT_OK)
        code = list_show(client, path.text, request->output, &form);
    strbuf_release(&path);
    return code;
}

const struct command cmd_stats = {
    .name = "stats",
    .summary = "how many runs ended how, and how long they took",
    .examples = EXAMPLES({"peal stats", NULL}, {"peal stats backup --span day", NULL},
                         {"peal stats --since 3d -o json | jq 'map(.failed) | add'", NULL}),
    .notes = "By hour, of the last day; or by day, of the last 30. Spans without a run are left "
             "out. P50 and P95 are exact to an eighth; LATE is how late runs started on average.",
    .more = WHEN_TEXT,
    .arguments =
        ROWS(ARGUMENT(request, job, "JOB", .is_optional = true, .complete = COMPLETE_JOBS)),
    .options = options,
    .too_many = "one job at a time",
    .request_size = sizeof(struct request),
    .with_agent = show,
};
