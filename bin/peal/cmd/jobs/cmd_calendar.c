/* peal calendar: named sets of dates and windows in which jobs do not run. */
#include <stdio.h>
#include <string.h>

#include "calendar_codec.h"
#include "civil.h"
#include "cli/json_out.h"
#include "client/body.h"
#include "client/documents.h"
#include "ical/ical_dates.h"
#include "jobs/input_file.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

enum { NEXT_TO_LABEL = 12, ICAL_YEARS = 5, ICAL_YEARS_MAX = 15, PAST_DAYS = 366 };

struct request {
    struct doc_request doc;
    const char *job;
    struct when_text from, to;
    const char *file, *ical, *timezone, *notes;
    int64_t years;
    struct words dates;
    struct option_list weekdays, windows;
};

static const char *const weekdays[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};

static const struct option_row set_options[] = {
    OPTION_TEXT(request, file, 'f', "file", "F", "the calendar is in a file, or - for stdin",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(request, ical, 0, "ical", "F",
                "the events of an iCalendar file, or - for stdin: dates and windows",
                .complete = COMPLETE_FILES),
    OPTION_NUMBER(request, years, 0, "years", 1, ICAL_YEARS_MAX,
                  "how far ahead its events are taken (default: 5)"),
    OPTION_ROW(take_commas, request, weekdays, struct option_list, 0, "weekday", "D,...",
               "mon tue wed thu fri sat sun", .choices = weekdays, .field = "weekdays"),
    OPTION_LIST(request, windows, 0, "window", "W",
                "a part of days: 09:00-17:30, 'mon-fri 22:00-06:00'; may be repeated",
                .field = "windows"),
    OPTION_TEXT(request, timezone, 0, "tz", "ZONE",
                "by whose clock (default: that of each schedule)", .field = "timezone"),
    OPTION_TEXT(request, notes, 0, "notes", "TEXT", "what it is for", .field = "notes"),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

static const struct option_row preview_options[] = {
    OPTION_TEXT(request, job, 0, "job", "JOB", "of this job, also if it does not name the calendar",
                .field = "job", .complete = COMPLETE_JOBS),
    OPTION_WHEN(request, from, "from", "the start of the span (default: now)", .field = "from"),
    OPTION_WHEN(request, to, "to", "its end (default: 90 days later; at most 366)", .field = "to"),
    OPTION_OUTPUT(request, doc.output, OUTPUT_TEXT),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

/* ---- set ---- */

static enum exit_code refuse(const char *place, struct job_error *error)
{
    tr_parsed(error->message, sizeof(error->message));
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
        enum status st = calendar_decode_text(text.text, text.length, request->doc.name, NULL,
                                              &definition, &error);
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
        enum status st = calendar_decode_json(body, request->doc.name, NULL, &definition, &error);
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

/* From a year ago on, since past dates say why ticks were skipped. */
static enum exit_code read_ical(const struct request *request, json_t **ret)
{
    int64_t today = now_ms() / 1000 / DAY_S;
    int64_t years = request->years ? request->years : ICAL_YEARS;
    struct ical_span span = {today - PAST_DAYS, today + years * 366};
    struct strbuf text;
    json_t *events = NULL;
    const char *why = "";
    strbuf_init(&text);
    enum exit_code code = input_file_read(request->ical, &text);
    if (code == EXIT_OK) {
        enum status st = ical_dates_read(text.text, &span, &events, &why);
        if (st == E_INVALID)
            cli_error("%s: %s", request->ical, tr(why));
        code = st == E_INVALID ? EXIT_INVALID : cli_fail(st);
    }
    strbuf_release(&text);
    if (code != EXIT_OK)
        return code;
    if (!json_array_size(json_object_get(events, "windows"))) /* an older agent can't read them */
        json_object_del(events, "windows");
    *ret = events;
    return json_object_set_new(events, "weekdays", json_array()) == 0
               ? body_fill(events, set_options, request)
               : cli_fail(E_NOMEM);
}

static enum exit_code read_body(const struct request *request, json_t **ret)
{
    if (request->ical)
        return read_ical(request, ret);
    return request->file ? read_file(request, ret) : read_words(request, ret);
}

static enum exit_code set(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *body = NULL;
    struct reply reply = {0};
    bool has_words = request->dates.count || request->notes || request->weekdays.count ||
                     request->windows.count || request->timezone;
    if (request->ical && (request->file || request->dates.count || request->windows.count))
        return cli_usage(request->doc.base.command,
                         "the events of --ical, or dates, or -f FILE; one of them");
    if (request->years && !request->ical)
        return cli_usage(request->doc.base.command, "--years is for --ical");
    if (request->file && has_words)
        return cli_usage(request->doc.base.command,
                         "dates on the command line, or -f FILE, not both");
    if (!request->file && !request->ical && !has_words)
        return cli_usage(request->doc.base.command,
                         "which dates? Give some, or --weekday, --window, or -f FILE");
    enum exit_code code = read_body(request, &body);
    if (code == EXIT_OK)
        code = doc_call(client, &request->doc,
                        (struct client_request){.method = "PUT", .body = body}, "", &reply);
    if (code == EXIT_OK) {
        int count = (int)answer_int(reply.body, "job_count", 0);
        fprintf(stderr,
                tr(reply.status == 201 ? TR("%s: made, in use by %d job%s")
                                       : TR("%s: set, in use by %d job%s")),
                request->doc.name, count, count == 1 ? "" : "s");
        fputc('\n', stderr);
    }
    reply_release(&reply);
    json_decref(body);
    return code;
}

/* ---- list, show ---- */

static void print_count(const json_t *calendar, struct strbuf *out)
{
    strbuf_addf(out, "%zu", json_array_size(json_object_get(calendar, "dates")));
}

static void print_window_count(const json_t *calendar, struct strbuf *out)
{
    strbuf_addf(out, "%zu", json_array_size(json_object_get(calendar, "windows")));
}

static void print_field(const char *label, const char *text)
{
    if (*text)
        cli_line(NEXT_TO_LABEL - 1, label, "%s", text);
}

static void print_calendar(const json_t *calendar)
{
    struct strbuf text;
    int64_t count = json_integer_value(json_object_get(calendar, "job_count"));
    size_t named = json_array_size(json_object_get(calendar, "jobs"));
    strbuf_init(&text);
    print_field("Name:", answer_text(calendar, "name"));
    print_field("Notes:", answer_text(calendar, "notes"));
    words_print(json_object_get(calendar, "weekdays"), ", ", &text);
    print_field("Weekdays:", text.text);
    strbuf_reset(&text);
    words_print(json_object_get(calendar, "dates"), "\n            ", &text);
    print_field("Dates:", text.text);
    strbuf_reset(&text);
    words_print(json_object_get(calendar, "windows"), "\n            ", &text);
    print_field("Windows:", text.text);
    print_field("Time zone:", answer_text(calendar, "timezone"));
    strbuf_reset(&text);
    words_print(json_object_get(calendar, "jobs"), ", ", &text);
    if ((size_t)count > named)
        strbuf_addf(&text, tr(" and %zu more"), (size_t)count - named);
    print_field("Jobs:", named ? text.text : tr("none"));
    strbuf_release(&text);
}

/* ---- preview ---- */

/* 2026-12-24T12:00:00+01:00 - 2026-12-25T00:00:00+01:00 (2026-12-24 12:00-24:00) */
static void print_window(const json_t *window, const char *before, struct strbuf *out)
{
    strbuf_addf(out, "%s%s - %s (%s)", before, answer_text(window, "from"),
                answer_text(window, "to"), answer_text(window, "window"));
}

static void print_preview(const json_t *preview)
{
    const json_t *job, *tick, *window;
    size_t i, k;
    struct strbuf text;
    strbuf_init(&text);
    words_print(json_object_get(preview, "days"), " ", &text);
    print_field("Dates:", text.length ? text.text : tr("none"));
    strbuf_reset(&text);
    json_array_foreach (json_object_get(preview, "windows"), i, window) {
        print_window(window, i ? "\n            " : "", &text);
    }
    print_field("Windows:", text.text);
    strbuf_release(&text);
    json_array_foreach (json_object_get(preview, "jobs"), i, job) {
        json_int_t skipped = json_integer_value(json_object_get(job, "skipped"));
        bool has_more = json_is_true(json_object_get(job, "more"));
        const json_t *ticks = json_object_get(job, "ticks");
        putchar('\n');
        printf(tr(has_more ? TR("%s (%s): %lld ticks skipped, and perhaps more")
                           : TR("%s (%s): %lld ticks skipped")),
               answer_text(job, "job"), answer_text(job, "field"), (long long)skipped);
        putchar('\n');
        json_array_foreach (ticks, k, tick) {
            printf("  %s\n", answer_text(tick, "local"));
        }
        if ((size_t)skipped > json_array_size(ticks))
            printf("  ...\n");
    }
}

static enum exit_code preview(struct client *client, void *place)
{
    const struct request *request = place;
    struct reply reply = {0};
    struct strbuf rest;
    strbuf_init(&rest);
    strbuf_adds(&rest, "/preview?");
    url_options(&rest, preview_options, request);
    enum exit_code code =
        doc_call(client, &request->doc, (struct client_request){0}, rest.text, &reply);
    if (code == EXIT_OK && request->doc.output <= OUTPUT_WIDE)
        print_preview(reply.body);
    else if (code == EXIT_OK)
        code = output_print(reply.body,
                            request->doc.output == OUTPUT_JSON ? OUTPUT_JSON : OUTPUT_YAML);
    reply_release(&reply);
    strbuf_release(&rest);
    return code;
}

/* ---- the command ---- */

static const struct doc_form form = {
    .noun = "calendar",
    .list = {.name = "name",
             .columns =
                 (const struct list_column[]){
                     COLUMN("NAME", "name"),
                     COLUMN("JOBS", "job_count", .form = COLUMN_NUMBER),
                     COLUMN("WEEKDAYS", "weekdays", .form = COLUMN_WORDS),
                     COLUMN_BY("DATES", print_count),
                     COLUMN_BY("WINDOWS", print_window_count),
                     COLUMN("NOTES", "notes"),
                     {0},
                 },
             .none = "no calendars; make one: peal calendar set holidays 12-25 2027-01-01"},
    .print = print_calendar,
    .not_in_yaml = (const char *const[]){"revision", "job_count", "jobs", NULL}, /* as set -f */
};

static const struct option_row name[] = {
    ARGUMENT(request, doc.name, "NAME", .complete = COMPLETE_CALENDARS),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "calendar set",
        .summary = "make a calendar, or put this in its place",
        .usage = "NAME [DATE...] [--weekday D,...] [--window W]... [--tz ZONE] [--notes TEXT]\n"
                 "NAME -f FILE|-\n"
                 "NAME --ical FILE|- [--years N]",
        .notes = "A DATE is a day, a row of them from the first to the last with a / between, or "
                 "the same without the year, for every year. What is set takes the place of what "
                 "was there; the jobs that name the calendar go by it from then on. A file is "
                 "YAML or JSON: dates, weekdays, windows, timezone, notes. A window is a time of "
                 "day, of some weekdays or dates; the time that begins it belongs to it, the one "
                 "that ends it does not, and an end before the beginning is on the next day. Of an "
                 "iCalendar file the events are taken from a year ago on: those of whole days are "
                 "dates, others are windows.",
        .arguments = ROWS(ARGUMENT(request, doc.name, "NAME", .complete = COMPLETE_CALENDARS),
                          ARGUMENTS(request, dates, "DATE", .is_optional = true)),
        .options = set_options,
        .too_few = "name one calendar",
        .with_agent = set,
        .documents = &form,
    },
    DOC_SHOW(&form, "calendar", name, "one calendar; as YAML it is what set -f takes"),
    {
        .name = "calendar preview",
        .summary = "its dates and windows in a span, and the ticks of jobs that it takes out",
        .arguments = name,
        .options = preview_options,
        .wrong_count = "name one calendar",
        .with_agent = preview,
        .documents = &form,
    },
    DOC_LIST(&form, "calendar", "all calendars"),
    DOC_DELETE(&form, "calendar", name, "delete a calendar; exit status 4: it is in use"),
    {0},
};

const struct command cmd_calendar = {
    .name = "calendar",
    .summary = "dates and times at which jobs do not run",
    .examples = EXAMPLES(
        {"peal calendar set holidays 12-25 2027-01-01 2026-10-01/2026-10-07", NULL},
        {"peal calendar set weekends --weekday sat,sun", NULL},
        {"peal calendar set office --window 'mon-fri 09:00-17:30' --tz Europe/Berlin", NULL},
        {"peal calendar set holidays -f holidays.yaml", NULL},
        {"curl -s https://example.org/holidays.ics | peal calendar set holidays --ical -", NULL},
        {"peal calendar show holidays -o yaml", NULL},
        {"peal calendar preview holidays --job report", NULL},
        {"peal add report '0 9 * * *' --calendar holidays -- report", NULL}),
    .options = client_options,
    .too_few = "what about calendars? peal calendar list, show, preview, set or delete",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
