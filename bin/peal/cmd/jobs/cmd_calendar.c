/* peal calendar: named sets of dates on which jobs do not run. */
#include <stdio.h>
#include <string.h>

#include "calendar_codec.h"
#include "cli/json_out.h"
#include "cli/listing.h"
#include "cli/when.h"
#include "client/body.h"
#include "jobs/input_file.h"

enum { NEXT_TO_LABEL = 12 };

struct request {
    struct request_base base;
    const char *name, *file, *notes;
    struct words dates;
    struct option_list weekdays;
    bool yes;
    enum output output;
};

static const char *const weekdays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};

static const struct option_row set_options[] = {
    OPTION_TEXT(request, file, 'f', "file", "F", "the calendar is in a file, or - for stdin",
                .complete = COMPLETE_FILES),
    OPTION_ROW(take_commas, request, weekdays, struct option_list, 0, "weekday", "D,...",
               "mon tue wed thu fri sat sun", .choices = weekdays, .field = "weekdays"),
    OPTION_TEXT(request, notes, 0, "notes", "TEXT", "what it is for", .field = "notes"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static const char *calendar_path(const char *name, struct strbuf *out)
{
    strbuf_adds(out, "/calendars/");
    url_escape(out, name);
    return out->text;
}

static enum exit_code send(struct client *client, const char *method, const char *name,
                           const json_t *body, struct reply *ret)
{
    struct strbuf path;
    strbuf_init(&path);
    struct client_request call = {
        .method = method, .path = calendar_path(name, &path), .body = body};
    enum exit_code code = client_call(client, &call, ret);
    if (code == EXIT_NOT_FOUND)
        fputs("See: peal calendar list\n", stderr);
    strbuf_release(&path);
    return code;
}

/* ---- set ---- */

static enum exit_code refuse(const char *place, const struct job_error *error)
{
    if (error->line)
        fprintf(stderr, "%s:%d:%d: %s\n", place, error->line, error->column, error->message);
    else
        cli_error("%s", error->message);
    return EXIT_INVALID;
}

/* Checked here, where a file has lines and columns. */
static enum exit_code read_file(const struct request *request, json_t **ret)
{
    struct calendar_definition definition;
    struct job_error error = {0};
    struct strbuf text;
    strbuf_init(&text);
    enum exit_code code = input_file_read(request->file, &text);
    if (code == EXIT_OK) {
        enum status st =
            calendar_decode_text(text.text, text.length, request->name, &definition, &error);
        const char *place = strcmp(request->file, "-") == 0 ? "stdin" : request->file;
        code = st == E_INVALID ? refuse(place, &error) : cli_fail(st);
    }
    if (code == EXIT_OK) {
        *ret = calendar_encode_json(&definition);
        calendar_definition_release(&definition);
        code = *ret ? EXIT_OK : cli_fail(E_NOMEM);
    }
    strbuf_release(&text);
    return code;
}

static enum exit_code read_words(const struct request *request, json_t **ret)
{
    struct calendar_definition definition;
    struct job_error error = {0};
    json_t *list = json_array();
    for (int i = 0; i < request->dates.count; i++)
        json_array_append_new(list, json_text(request->dates.items[i]));
    json_t *body = json_pack("{s:o, s:[]}", "dates", list, "weekdays");
    enum exit_code code = body ? body_fill(body, set_options, request) : cli_fail(E_NOMEM);
    if (code == EXIT_OK) {
        enum status st = calendar_decode_json(body, request->name, &definition, &error);
        code = st == E_INVALID ? refuse("", &error) : cli_fail(st);
    }
    if (code != EXIT_OK) {
        json_decref(body);
        return code;
    }
    calendar_definition_release(&definition);
    *ret = body;
    return EXIT_OK;
}

static enum exit_code set(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *body = NULL;
    struct reply reply = {0};
    bool has_words = request->dates.count || request->notes || request->weekdays.count;
    if (request->file && has_words)
        return cli_usage(request->base.command, "dates on the command line, or -f FILE, not both");
    if (!request->file && !has_words)
        return cli_usage(request->base.command, "which dates? Give some, or --weekday, or -f FILE");
    enum exit_code code = request->file ? read_file(request, &body) : read_words(request, &body);
    if (code == EXIT_OK)
        code = send(client, "PUT", request->name, body, &reply);
    if (code == EXIT_OK)
        fprintf(stderr, "%s: %s, in use by %d job%s\n", request->name,
                reply.status == 201 ? "made" : "set", (int)answer_int(reply.body, "job_count", 0),
                answer_int(reply.body, "job_count", 0) == 1 ? "" : "s");
    reply_release(&reply);
    json_decref(body);
    return code;
}

/* ---- delete ---- */

static enum exit_code remove_calendar(struct client *client, void *place)
{
    const struct request *request = place;
    struct reply reply = {0};
    if (!confirmed(request->yes, "Delete the calendar %s?", request->name)) {
        fputs("Nothing was deleted.\n", stderr);
        return EXIT_OK;
    }
    enum exit_code code = send(client, "DELETE", request->name, NULL, &reply);
    if (code == EXIT_OK)
        fprintf(stderr, "%s: deleted\n", request->name);
    reply_release(&reply);
    return code;
}

/* ---- list, show ---- */

static void join(const json_t *list, const char *between, struct strbuf *out)
{
    const json_t *item;
    size_t i;
    json_array_foreach (list, i, item) {
        strbuf_adds(out, i ? between : "");
        strbuf_adds(out, json_string_value(item));
    }
}

static void add_calendar(struct text_table *table, const json_t *calendar, bool wide)
{
    struct strbuf text;
    const json_t *dates = json_object_get(calendar, "dates");
    (void)wide;
    strbuf_init(&text);
    text_table_cell(table, answer_text(calendar, "name"));
    strbuf_addf(&text, "%d", (int)json_integer_value(json_object_get(calendar, "job_count")));
    text_table_cell(table, text.text);
    strbuf_reset(&text);
    join(json_object_get(calendar, "weekdays"), ",", &text);
    text_table_cell(table, text.text);
    strbuf_reset(&text);
    strbuf_addf(&text, "%zu", json_array_size(dates));
    text_table_cell(table, text.text);
    text_table_cell(table, answer_text(calendar, "notes"));
    strbuf_release(&text);
}

static enum exit_code list(struct client *client, void *place)
{
    const struct request *request = place;
    static const char *const headers[] = {"NAME", "JOBS", "WEEKDAYS", "DATES", "NOTES", NULL};
    static const struct list_form form = {
        .name = "name",
        .headers = headers,
        .none = "no calendars; make one: peal calendar set holidays 12-25 2027-01-01",
        .add_row = add_calendar};
    return list_show(client, "/calendars", request->output, &form);
}

static void print_field(const char *label, const char *text)
{
    if (*text)
        printf("%-*s%s\n", NEXT_TO_LABEL, label, text);
}

static void print_calendar(const json_t *calendar)
{
    struct strbuf text;
    int64_t count = json_integer_value(json_object_get(calendar, "job_count"));
    size_t named = json_array_size(json_object_get(calendar, "jobs"));
    strbuf_init(&text);
    print_field("Name:", answer_text(calendar, "name"));
    print_field("Notes:", answer_text(calendar, "notes"));
    join(json_object_get(calendar, "weekdays"), ", ", &text);
    print_field("Weekdays:", text.text);
    strbuf_reset(&text);
    join(json_object_get(calendar, "dates"), "\n            ", &text);
    print_field("Dates:", text.text);
    strbuf_reset(&text);
    join(json_object_get(calendar, "jobs"), ", ", &text);
    if ((size_t)count > named)
        strbuf_addf(&text, " and %zu more", (size_t)count - named);
    print_field("Jobs:", named ? text.text : "none");
    strbuf_release(&text);
}

/* As YAML it is what `set -f` takes. */
static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    static const char *const kept[] = {"revision", "job_count", "jobs"};
    struct reply reply = {0};
    enum exit_code code = send(client, NULL, request->name, NULL, &reply);
    for (size_t i = 0; code == EXIT_OK && request->output == OUTPUT_YAML && i < 3; i++)
        json_object_del(reply.body, kept[i]);
    if (code == EXIT_OK && request->output == OUTPUT_NAME)
        printf("%s\n", request->name);
    else if (code == EXIT_OK && request->output <= OUTPUT_WIDE)
        print_calendar(reply.body);
    else if (code == EXIT_OK)
        code = output_print(reply.body, request->output);
    reply_release(&reply);
    return code;
}

/* ---- the command ---- */

static const struct option_row name[] = {
    ARGUMENT(request, name, "NAME", .complete = COMPLETE_CALENDARS),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "calendar set",
        .summary = "make a calendar, or put this in its place",
        .usage = "NAME [DATE...] [--weekday D,...] [--notes TEXT]\n"
                 "NAME -f FILE|-",
        .notes = "A DATE is a day, a row of them from the first to the last with a / between, or "
                 "the same without the year, for every year. What is set takes the place of what "
                 "was there; the jobs that name the calendar go by it from then on. A file is "
                 "YAML or JSON: dates, weekdays, notes.",
        .arguments = ROWS(ARGUMENT(request, name, "NAME", .complete = COMPLETE_CALENDARS),
                          ARGUMENTS(request, dates, "DATE", .is_optional = true)),
        .options = set_options,
        .too_few = "name one calendar",
        .with_agent = set,
    },
    {
        .name = "calendar show",
        .summary = "one calendar; as YAML it is what set -f takes",
        .arguments = name,
        .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .wrong_count = "name one calendar",
        .with_agent = show,
    },
    {
        .name = "calendar list",
        .summary = "all calendars",
        .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .too_many = "peal calendar list takes no name",
        .with_agent = list,
    },
    {
        .name = "calendar delete",
        .summary = "delete a calendar; exit status 4: it is in use",
        .arguments = name,
        .options = ROWS(OPTION_FLAG(request, yes, 'y', "yes", YES_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .wrong_count = "name one calendar",
        .with_agent = remove_calendar,
    },
    {0},
};

const struct command cmd_calendar = {
    .name = "calendar",
    .summary = "dates on which jobs do not run",
    .examples =
        EXAMPLES({"peal calendar set holidays 12-25 2027-01-01 2026-10-01/2026-10-07", NULL},
                 {"peal calendar set weekends --weekday sat,sun", NULL},
                 {"peal calendar set holidays -f holidays.yaml", NULL},
                 {"peal calendar show holidays -o yaml", NULL},
                 {"peal add report '0 9 * * *' --calendar holidays -- report", NULL}),
    .options = client_options,
    .too_few = "what about calendars? peal calendar list, show, set or delete",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
