/* peal calendar: named sets of dates on which jobs do not run. */
#include <stdio.h>
#include <string.h>

#include "calendar_codec.h"
#include "cli/json_out.h"
#include "cli/listing.h"
#include "cli/when.h"
#include "jobs/input_file.h"

enum { OPTION_WEEKDAY = OPTION_LONG_ONLY, OPTION_NOTES, NEXT_TO_LABEL = 12 };

static const struct option options[] = {
    {"file", required_argument, NULL, 'f'},
    {"weekday", required_argument, NULL, OPTION_WEEKDAY},
    {"notes", required_argument, NULL, OPTION_NOTES},
    {"yes", no_argument, NULL, 'y'},
    OUTPUT_OPTION,
    CLIENT_OPTIONS,
    {0},
};

struct request {
    const struct command *self;
    const char *data, *name, *file, *notes;
    json_t *weekdays; /* a list of texts */
    bool yes;
    enum output output;
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

static enum exit_code read_words(const struct request *request, char **dates, int count,
                                 json_t **ret)
{
    struct calendar_definition definition;
    struct job_error error = {0};
    json_t *list = json_array(), *body;
    for (int i = 0; i < count; i++)
        json_array_append_new(list, json_text(dates[i]));
    body = json_pack("{s:o, s:O}", "dates", list, "weekdays", request->weekdays);
    if (body && request->notes)
        json_object_set_new(body, "notes", json_text(request->notes));
    if (!body)
        return cli_fail(E_NOMEM);
    enum status st = calendar_decode_json(body, request->name, &definition, &error);
    if (st != OK) {
        json_decref(body);
        return st == E_INVALID ? refuse("", &error) : cli_fail(st);
    }
    calendar_definition_release(&definition);
    *ret = body;
    return EXIT_OK;
}

static enum exit_code set(struct client *client, const struct request *request, char **dates,
                          int count)
{
    json_t *body = NULL;
    struct reply reply = {0};
    bool has_words = count || request->notes || json_array_size(request->weekdays);
    if (request->file && has_words)
        return cli_usage(request->self, "dates on the command line, or -f FILE, not both");
    if (!request->file && !has_words)
        return cli_usage(request->self, "which dates? Give some, or --weekday, or -f FILE");
    enum exit_code code =
        request->file ? read_file(request, &body) : read_words(request, dates, count, &body);
    if (code == EXIT_OK)
        code = send(client, "PUT", request->name, body, &reply);
    if (code == EXIT_OK)
        fprintf(stderr, "%s: %s, in use by %d job%s\n", request->name,
                reply.status == 201 ? "made" : "set",
                (int)json_integer_value(json_object_get(reply.body, "job_count")),
                json_integer_value(json_object_get(reply.body, "job_count")) == 1 ? "" : "s");
    reply_release(&reply);
    json_decref(body);
    return code;
}

/* ---- delete ---- */

static enum exit_code remove_calendar(struct client *client, const struct request *request)
{
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

static enum exit_code list(struct client *client, const struct request *request)
{
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
static enum exit_code show(struct client *client, const struct request *request)
{
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

/* Some with commas between. */
static bool take_weekdays(struct request *request, const char *text)
{
    while (*text) {
        char name[32];
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof(name), "%.*s", (int)length, text);
        if (json_array_append_new(request->weekdays, json_text(name)) != 0)
            return false;
        text += length;
        text += *text == ',';
    }
    return true;
}

static bool take_option(struct request *request, int opt)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case 'f':
        request->file = optarg;
        return true;
    case OPTION_WEEKDAY:
        return take_weekdays(request, optarg);
    case OPTION_NOTES:
        request->notes = optarg;
        return true;
    case 'y':
        return request->yes = true;
    case 'o':
        return output_take(request->self, optarg, &request->output);
    default:
        return false;
    }
}

enum action { LIST, SHOW, SET, DELETE };

static enum exit_code act(struct client *client, struct request *request, enum action action,
                          char **dates, int count)
{
    switch (action) {
    case LIST:
        return list(client, request);
    case SHOW:
        return show(client, request);
    case SET:
        return set(client, request, dates, count);
    case DELETE:
        return remove_calendar(client, request);
    }
    return EXIT_USAGE;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    static const char *const actions[] = {"list", "show", "set", "delete", NULL};
    struct request request = {.self = self, .weekdays = json_array()};
    struct client *client;
    enum exit_code code = EXIT_USAGE;
    int opt, action;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(&request, opt))
            goto out;
    }
    char **words = argv + optind;
    int count = argc - optind;
    if (count == 0) {
        cli_usage(self, "what about calendars? peal calendar list, show, set or delete");
        goto out;
    }
    if (!cli_choice(self, "peal calendar", words[0], actions, &action))
        goto out;
    if (action == LIST ? count != 1 : count < 2 || (action != SET && count > 2)) {
        cli_usage(self, action == LIST ? "peal calendar list takes no name" : "name one calendar");
        goto out;
    }
    request.name = words[1];
    code = client_open(request.data, &client);
    if (code == EXIT_OK) {
        code = act(client, &request, (enum action)action, words + 2, count - 2);
        client_close(client);
    }
out:
    json_decref(request.weekdays);
    return code;
}

const struct command cmd_calendar = {
    .name = "calendar",
    .summary = "dates on which jobs do not run",
    .help =
        "Examples:\n"
        "  peal calendar set holidays 12-25 2027-01-01 2026-10-01/2026-10-07\n"
        "  peal calendar set weekends --weekday sat,sun\n"
        "  peal calendar set holidays -f holidays.yaml\n"
        "  peal calendar show holidays -o yaml\n"
        "  peal add report '0 9 * * *' --calendar holidays -- report\n"
        "\n"
        "Usage: peal calendar set NAME [DATE...] [--weekday D,...] [--notes TEXT]\n"
        "       peal calendar set NAME -f FILE|-\n"
        "       peal calendar show NAME [-o F]\n"
        "       peal calendar list [-o F]\n"
        "       peal calendar delete NAME [--yes]\n"
        "\n"
        "A DATE is a day, a row of them from the first to the last with a / between, or the same\n"
        "without the year, for every year. What is set takes the place of what was there; the\n"
        "jobs that name the calendar go by it from then on. One that is in use can't be deleted:\n"
        "exit status 4. A file is YAML or JSON: dates, weekdays, notes.\n"
        "\n"
        "Options:\n"
        "  -f, --file F     the calendar is in a file, or - for stdin\n"
        "  --weekday D,...  of set: mon tue wed thu fri sat sun\n"
        "  --notes TEXT     of set: what it is for\n"
        "  -y, --yes        do not ask (asked is on a terminal only)\n" OUTPUT_HELP CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
