/* peal add: a job in one line. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/client.h"
#include "client/starts.h"
#include "function/run_limits.h"
#include "jobs/definition.h"
#include "jobs/job_options.h"
#include "jobs/schedule_args.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

struct request {
    struct request_base base;
    const char *name;
    struct words schedules, command;
    struct job_options fields;
    bool replace;
    json_t *definition;
};

static const struct option_row options[] = {
    OPTION_MADE(request, fields, job_option_rows),
    OPTION_FLAG(request, replace, 0, "replace", "change the job if there is one of this name"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

/* ---- the definition ---- */

static json_t *make_command(const struct words *words)
{
    json_t *list = json_array();
    for (int i = 0; i < words->count; i++) {
        if (json_array_append_new(list, json_string(words->items[i])) == 0)
            continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static enum exit_code set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0)
        return EXIT_OK;
    cli_error("--%s: not text in UTF-8", key);
    return EXIT_USAGE;
}

static enum exit_code make_definition(const struct request *request)
{
    json_t *definition = request->definition;
    enum exit_code code = job_options_fill(definition, &request->fields);
    if (code == EXIT_OK)
        code = set(definition, "name", json_string(request->name));
    if (code == EXIT_OK && request->command.count)
        code = set(definition, "command", make_command(&request->command));
    return code;
}

/* Parses each schedule here, where a caret can show the mistake. */
static enum exit_code take_schedules(const struct request *request, const struct reading *reading)
{
    const struct schedule_args args = {.job = request->name};
    struct schedule_reader reader;
    struct specs specs;
    json_t *list = json_array();
    specs_init(&specs);
    enum exit_code code = schedule_reader_init(&reader, request->base.command, &args);
    if (code == EXIT_OK)
        code = cli_fail(specs_add_args(&specs, request->schedules.count, request->schedules.items));
    reader.options.default_tz = reading->default_tz.text;
    reader.options.tz = json_string_value(json_object_get(request->definition, "timezone"));
    reader.options.job_uid = NULL;
    for (size_t i = 0; i < specs.count && code == EXIT_OK; i++) {
        struct schedule *schedule;
        code = spec_parse(&specs, &specs.items[i], &reader, &schedule);
        if (code != EXIT_OK)
            break;
        code = cli_fail(schedule_print_warnings(schedule, now_ms() / 1000, tr_language(), ""));
        schedule_free(schedule);
        if (json_array_append_new(list, json_string(specs.items[i].text)) != 0)
            code = cli_fail(E_NOMEM);
    }
    if (code == EXIT_OK && json_object_set(request->definition, "schedules", list) != 0)
        code = cli_fail(E_NOMEM);
    json_decref(list);
    specs_release(&specs);
    schedule_reader_release(&reader);
    return code;
}

/* The whole definition, as the agent will check it, so that a mistake does not need the agent. */
static enum exit_code check(const struct request *request, const struct reading *reading)
{
    struct job *job;
    struct job_error err = {0};
    enum status st = job_decode_json(request->definition, false, reading->default_tz.text,
                                     reading->zones, &job, &err);
    if (st == OK) {
        job_free(job);
        return EXIT_OK;
    }
    if (st != E_INVALID)
        return cli_fail(st);
    tr_parsed(err.message, sizeof(err.message));
    cli_error("%s", err.message);
    return EXIT_INVALID;
}

static void print_next(struct client *client, const struct request *request, const char *result)
{
    const char *name = request->name;
    struct strbuf text;
    json_t *answer = NULL;
    strbuf_init(&text);
    definition_after(request->definition, &text);
    if (text.length) {
        fprintf(stderr, tr("%s: %s; runs %s"), name, result, text.text);
        fputc('\n', stderr);
        strbuf_release(&text);
        return;
    }
    job_path(&text, name, "/next?n=1");
    int64_t next_ms = NO_TIME;
    if (client_get(client, text.text, &answer) == EXIT_OK)
        next_ms = answer_time(json_array_get(json_object_get(answer, "fires"), 0), "at");
    strbuf_truncate(&text, 0);
    if (next_ms != NO_TIME)
        when_print_full(next_ms, &text);
    fprintf(stderr, tr("%s: %s; next run: %s"), name, result,
            next_ms == NO_TIME ? tr("none by itself") : text.text);
    fputc('\n', stderr);
    json_decref(answer);
    strbuf_release(&text);
}

/* An HTTP call is nobody's process. */
static bool needs_user(const json_t *definition)
{
    return !json_object_get(definition, "http") && !json_object_get(definition, "user");
}

static unsigned limits_of(const json_t *definition)
{
    const json_t *limits = json_object_get(definition, "limits");
    unsigned needs = 0;
    for (int i = 0; i < CONTROLLERS; i++)
        if (json_object_get(limits, strchr(controller_limit((enum run_controller)i), '.') + 1))
            needs |= 1u << i;
    return needs;
}

static enum exit_code put(struct client *client, const struct request *request)
{
    const char *name = request->name;
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    struct client_request call = {
        .method = "PUT",
        .path = job_path(&path, name, ""),
        .body = request->definition,
        .if_none_match = !request->replace,
    };
    enum exit_code code;
    enum status st = client_try(client, &call, &reply);
    if (st == OK && (reply.status == 409 || reply.status == 412)) {
        cli_error("there is a job named \"%s\" already; change it with --replace, or: "
                  "peal edit %s",
                  name, name);
        code = EXIT_CONFLICT;
    } else {
        code = client_report(client, st, &reply);
    }
    if (code == EXIT_OK) {
        print_next(client, request, tr(reply.status == 201 ? TR("created") : TR("replaced")));
        starts_warn(client, needs_user(request->definition));
        starts_warn_of_limits(client, limits_of(request->definition));
    }
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

static enum exit_code check_words(const struct request *request)
{
    const struct command *self = request->base.command;
    bool has_after = json_object_get(request->definition, "after") != NULL;
    bool has_script = json_object_get(request->definition, "shell") != NULL;
    bool has_http = json_object_get(request->definition, "http") != NULL;
    if (!request->schedules.count && !has_after)
        return cli_usage(self, "when? Give a schedule, or @manual, or --after JOB");
    if (request->schedules.count && has_after)
        return cli_usage(self, "a schedule and --after are one too many");
    if (!request->command.count && !has_script && !has_http)
        return cli_usage(self,
                         "what? Give a command after --, a script with --shell, or a URL with "
                         "--http");
    if ((request->command.count != 0) + has_script + has_http > 1)
        return cli_usage(self, "one of a command after --, --shell and --http is enough");
    return EXIT_OK;
}

static enum exit_code check_and_put(struct client *client, const struct request *request)
{
    struct reading reading;
    enum exit_code code = reading_init(&reading, client);
    if (code == EXIT_OK && request->schedules.count)
        code = take_schedules(request, &reading);
    if (code == EXIT_OK)
        code = check(request, &reading);
    if (code == EXIT_OK)
        code = put(client, request);
    reading_release(&reading);
    return code;
}

static enum exit_code add(struct client *client, void *place)
{
    struct request *request = place;
    request->definition = json_object();
    enum exit_code code = request->definition ? make_definition(request) : cli_fail(E_NOMEM);
    if (code == EXIT_OK)
        code = check_words(request);
    if (code == EXIT_OK)
        code = check_and_put(client, request);
    json_decref(request->definition);
    return code;
}

const struct command cmd_add = {
    .name = "add",
    .summary = "add a job: name, schedule, command",
    .examples = EXAMPLES(
        {"peal add backup '30 2 * * *' -- /usr/local/bin/backup --full", NULL},
        {"peal add beat '@every 10s' --http https://example.org/beat", NULL},
        {"peal add report '0 9 * * MON-FRI' --tz Europe/Berlin --timeout 10m -- report", NULL},
        {"peal add mail --after report -- /usr/local/bin/mail-report", NULL}),
    .usage = "NAME SCHEDULE... [options] -- COMMAND [ARGUMENT...]\n"
             "NAME SCHEDULE... [options] --shell SCRIPT\n"
             "NAME SCHEDULE... [options] --http URL\n"
             "NAME --after JOB... [options] -- COMMAND [ARGUMENT...]",
    .more = "More fields: docs/JOBS.md, with `peal edit` or `peal apply`.",
    .arguments = ROWS(ARGUMENTS(request, command, "COMMAND", .is_after_dashes = true),
                      ARGUMENT(request, name, "NAME"),
                      ARGUMENTS(request, schedules, "SCHEDULE", .is_optional = true)),
    .options = options,
    .too_few = "which name?",
    .request_size = sizeof(struct request),
    .with_agent = add,
};
