/* peal stats: how many runs ended how, and how long they took. */
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
    OPTION_WHEN(request, since, "since", "start of the time range", .field = "from"),
    OPTION_WHEN(request, until, "until", "end of the time range", .field = "to"),
    OPTION_OUTPUT(request, output, OUTPUT_TEXT),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    static const struct list_column columns[] = {
        COLUMN("FROM", "from", .form = COLUMN_TIME),
        COLUMN("OK", "ok", .form = COLUMN_NUMBER_IF),
        COLUMN("FAILED", "failed", .form = COLUMN_NUMBER_IF),
        COLUMN("TIMED OUT", "timed_out", .form = COLUMN_NUMBER_IF),
        COLUMN("KILLED", "killed", .form = COLUMN_NUMBER_IF),
        COLUMN("LOST", "lost", .form = COLUMN_NUMBER_IF),
        COLUMN("SKIPPED", "skipped", .form = COLUMN_NUMBER_IF),
        COLUMN("MISSED", "missed", .form = COLUMN_NUMBER_IF),
        COLUMN("P50", "p50_ms", .form = COLUMN_TAKEN),
        COLUMN("P95", "p95_ms", .form = COLUMN_TAKEN),
        COLUMN("LONGEST", "max_ms", .form = COLUMN_TAKEN),
        COLUMN("LATE", "mean_late_ms", .form = COLUMN_TAKEN),
        {0},
    };
    static const struct list_form form = {.name = "from", .columns = columns, .none = "no runs"};
    struct strbuf path;
    strbuf_init(&path);
    enum exit_code code = url_query(client, "/stats?", options, request, request->job, &path);
    if (code == EXIT_OK)
        code = list_show(client, path.text, request->output, &form);
    strbuf_release(&path);
    return code;
}

const struct command cmd_stats = {
    .name = "stats",
    .summary = "counts and durations of runs",
    .examples = EXAMPLES({"peal stats", NULL}, {"peal stats backup --span day", NULL},
                         {"peal stats --since 3d -o json | jq 'map(.failed) | add'", NULL}),
    .notes = "Per hour for the last day, or per day for the last 30 days. Spans without runs are "
             "omitted. P50 and P95 are exact to an eighth; LATE is the mean start delay.",
    .more = WHEN_TEXT,
    .arguments =
        ROWS(ARGUMENT(request, job, "JOB", .is_optional = true, .complete = COMPLETE_JOBS)),
    .options = options,
    .too_many = "one job at a time",
    .request_size = sizeof(struct request),
    .with_agent = show,
};
