/* peal add: a job in one line. */
#include <stdio.h>
#include <string.h>

#include "cli/when.h"
#include "client/client.h"
#include "jobs/definition.h"
#include "jobs/schedule_args.h"

enum {
    OPTION_SHELL = OPTION_LONG_ONLY,
    OPTION_AFTER,
    OPTION_ZONE,
    OPTION_ENV,
    OPTION_CWD,
    OPTION_USER,
    OPTION_TIMEOUT,
    OPTION_OVERLAP,
    OPTION_CATCH_UP,
    OPTION_JITTER,
    OPTION_CALENDAR,
    OPTION_WHERE,
    OPTION_LABEL,
    OPTION_OWNER,
    OPTION_NOTES,
    OPTION_NOTIFY,
    OPTION_PAUSED,
    OPTION_REPLACE,
};

static const struct option options[] = {
    CLIENT_OPTIONS,
    {"shell", required_argument, NULL, OPTION_SHELL},
    {"after", required_argument, NULL, OPTION_AFTER},
    {"tz", required_argument, NULL, OPTION_ZONE},
    {"env", required_argument, NULL, OPTION_ENV},
    {"cwd", required_argument, NULL, OPTION_CWD},
    {"user", required_argument, NULL, OPTION_USER},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"overlap", required_argument, NULL, OPTION_OVERLAP},
    {"catch-up", required_argument, NULL, OPTION_CATCH_UP},
    {"jitter", required_argument, NULL, OPTION_JITTER},
    {"calendar", required_argument, NULL, OPTION_CALENDAR},
    {"where", required_argument, NULL, OPTION_WHERE},
    {"label", required_argument, NULL, OPTION_LABEL},
    {"owner", required_argument, NULL, OPTION_OWNER},
    {"notes", required_argument, NULL, OPTION_NOTES},
    {"notify", required_argument, NULL, OPTION_NOTIFY},
    {"paused", no_argument, NULL, OPTION_PAUSED},
    {"replace", no_argument, NULL, OPTION_REPLACE},
    {0},
};

/* Options that are fields of the definition under another name or the same. */
static const struct {
    int option;
    const char *field;
} text_fields[] = {
    {OPTION_SHELL, "shell"},       {OPTION_ZONE, "timezone"},   {OPTION_CWD, "cwd"},
    {OPTION_USER, "user"},         {OPTION_TIMEOUT, "timeout"}, {OPTION_OVERLAP, "overlap"},
    {OPTION_CATCH_UP, "catch_up"}, {OPTION_JITTER, "jitter"},   {OPTION_OWNER, "owner"},
    {OPTION_NOTES, "notes"},       {OPTION_WHERE, "where"},
};

struct request {
    const char *data;
    bool replace;
    json_t *definition;
};

static bool set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) == 0)
        return true;
    cli_error("--%s: not text in UTF-8", key);
    return false;
}

/* NAME=VALUE into a map of the definition. */
static bool take_pair(const struct command *self, const char *option, json_t *definition,
                      const char *field)
{
    const char *equals = strchr(optarg, '=');
    json_t *map = json_object_get(definition, field);
    char name[256];
    if (!equals || equals == optarg || (size_t)(equals - optarg) >= sizeof(name)) {
        cli_usage(self, "%s is NAME=VALUE, not \"%s\"", option, optarg);
        return false;
    }
    snprintf(name, sizeof(name), "%.*s", (int)(equals - optarg), optarg);
    if (!map) {
        map = json_object();
        if (!map || !set(definition, field, map))
            return false;
    }
    return set(map, name, json_string(equals + 1));
}

/* Appends to a list of the definition; takes `item` over. */
static bool append(const char *option, json_t *definition, const char *field, json_t *item)
{
    json_t *list = json_object_get(definition, field);
    if (!list) {
        list = json_array();
        if (json_object_set_new(definition, field, list) != 0)
            list = NULL;
    }
    if (json_array_append_new(list, item) == 0)
        return true;
    cli_error("%s: not text in UTF-8", option);
    return false;
}

/* JOB or JOB:ON; names have no colon. */
static bool take_after(json_t *definition)
{
    int length = (int)strcspn(optarg, ":");
    json_t *item = optarg[length]
                       ? json_pack("{s:s#, s:s}", "job", optarg, length, "on", optarg + length + 1)
                       : json_pack("{s:s}", "job", optarg);
    return append("--after", definition, "after", item);
}

static bool take_option(const struct command *self, int opt, struct request *request)
{
    for (size_t i = 0; i < sizeof(text_fields) / sizeof(text_fields[0]); i++) {
        if (text_fields[i].option == opt)
            return set(request->definition, text_fields[i].field, json_string(optarg));
    }
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case OPTION_AFTER:
        return take_after(request->definition);
    case OPTION_ENV:
        return take_pair(self, "--env", request->definition, "env");
    case OPTION_LABEL:
        return take_pair(self, "--label", request->definition, "labels");
    case OPTION_CALENDAR:
        return append("--calendar", request->definition, "calendars", json_string(optarg));
    case OPTION_NOTIFY:
        return append("--notify", request->definition, "notify", json_string(optarg));
    case OPTION_PAUSED:
        return set(request->definition, "paused", json_true());
    case OPTION_REPLACE:
        return request->replace = true;
    default:
        return false;
    }
}

/* Where the job's own command starts; argc when there is no "--". */
static int find_command_start(int argc, char **argv)
{
    int i = 1;
    while (i < argc && strcmp(argv[i], "--") != 0)
        i++;
    return i;
}

static json_t *text_list(char **texts, int count)
{
    json_t *list = json_array();
    for (int i = 0; list && i < count; i++) {
        if (json_array_append_new(list, json_string(texts[i])) == 0)
            continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

/* Parses each schedule here, where a caret can show the mistake. */
static enum exit_code take_schedules(struct request *request, const char *name, int count,
                                     char **texts, const struct reading *reading)
{
    struct schedule_reader reader;
    struct specs specs;
    json_t *list = json_array();
    specs_init(&specs);
    enum exit_code code = cli_fail(schedule_reader_init(&reader));
    if (code == EXIT_OK)
        code = cli_fail(specs_add_args(&specs, count, texts));
    reader.options.default_tz = reading->default_tz.text;
    reader.options.tz = json_string_value(json_object_get(request->definition, "timezone"));
    reader.options.job_name = name;
    for (size_t i = 0; i < specs.count && code == EXIT_OK; i++) {
        struct schedule *schedule;
        code = spec_parse(&specs, &specs.items[i], &reader, &schedule);
        if (code != EXIT_OK)
            break;
        code = cli_fail(schedule_print_warnings(schedule, now_ms() / 1000, LANGUAGE_EN, ""));
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
    cli_error("%s", err.message);
    return EXIT_INVALID;
}

static void print_next(struct client *client, const struct request *request, const char *name,
                       const char *result)
{
    struct strbuf text;
    json_t *answer = NULL;
    strbuf_init(&text);
    definition_after(request->definition, &text);
    if (text.length) {
        fprintf(stderr, "%s: %s; runs %s\n", name, result, text.text);
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
    fprintf(stderr, "%s: %s; next run: %s\n", name, result,
            next_ms == NO_TIME ? "none by itself" : text.text);
    json_decref(answer);
    strbuf_release(&text);
}

static enum exit_code put(struct client *client, const char *name, const struct request *request)
{
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
    if (code == EXIT_OK)
        print_next(client, request, name, reply.status == 201 ? "created" : "replaced");
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

static enum exit_code add(const struct command *self, struct request *request, char **words,
                          int count, char **command, int command_count)
{
    bool shell = json_object_get(request->definition, "shell") != NULL;
    struct client *client;
    struct reading reading;
    if (count < 1)
        return cli_usage(self, "which name?");
    bool waits = json_object_get(request->definition, "after") != NULL;
    if (count < 2 && !waits)
        return cli_usage(self, "when? Give a schedule, or @manual, or --after JOB");
    if (count > 1 && waits)
        return cli_usage(self, "a schedule and --after are one too many");
    if (command_count == 0 && !shell)
        return cli_usage(self, "what? Give a command after --, or a script with --shell");
    if (command_count > 0 && shell)
        return cli_usage(self, "--shell and a command after -- are one too many");
    enum exit_code code = client_open(request->data, &client);
    if (code != EXIT_OK)
        return code;
    code = reading_init(&reading, client);
    if (code == EXIT_OK && !set(request->definition, "name", json_string(words[0])))
        code = EXIT_USAGE;
    if (code == EXIT_OK && !shell &&
        !set(request->definition, "command", text_list(command, command_count)))
        code = EXIT_USAGE;
    if (code == EXIT_OK && !waits)
        code = take_schedules(request, words[0], count - 1, words + 1, &reading);
    if (code == EXIT_OK)
        code = check(request, &reading);
    if (code == EXIT_OK)
        code = put(client, words[0], request);
    reading_release(&reading);
    client_close(client);
    return code;
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    struct request request = {.definition = json_object()};
    int start = find_command_start(argc, argv);
    enum exit_code code = EXIT_USAGE;
    int opt;
    if (!request.definition)
        return cli_fail(E_NOMEM);
    while ((opt = cli_option(self, start, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            goto out;
    }
    int after = start < argc ? start + 1 : argc;
    code = add(self, &request, argv + optind, start - optind, argv + after, argc - after);
out:
    json_decref(request.definition);
    return code;
}

const struct command cmd_add = {
    .name = "add",
    .summary = "add a job: name, schedule, command",
    .help = "Examples:\n"
            "  peal add backup '30 2 * * *' -- /usr/local/bin/backup --full\n"
            "  peal add beat '@every 10s' --shell 'curl -fsS https://example.org/beat'\n"
            "  peal add report '0 9 * * MON-FRI' --tz Europe/Berlin --timeout 10m -- report\n"
            "  peal add mail --after report -- /usr/local/bin/mail-report\n"
            "\n"
            "Usage: peal add NAME SCHEDULE... [options] -- COMMAND [ARGUMENT...]\n"
            "       peal add NAME SCHEDULE... [options] --shell SCRIPT\n"
            "       peal add NAME --after JOB... [options] -- COMMAND [ARGUMENT...]\n"
            "\n"
            "Options:\n"
            "  --shell SCRIPT   run by bash, or sh where there is none\n"
            "  --after JOB      instead of a schedule: when that job has ended well; may repeat,\n"
            "                   then when all have. JOB:failure, JOB:always for other ends\n"
            "  --tz ZONE        time zone of the schedules (the agent's)\n"
            "  --env K=V        a variable; may repeat\n"
            "  --cwd DIR        where it runs\n"
            "  --user USER      as whom it runs\n"
            "  --timeout D      ended after this long: 90s, 1h30m\n"
            "  --overlap P      while it still runs: skip (default), allow, queue or replace\n"
            "  --catch-up P     after an outage: last (default), skip or all\n"
            "  --jitter D       spread the starts over this span\n"
            "  --calendar NAME  not on its dates (peal calendar); may repeat\n"
            "  --where LABELS   of the nodes that may run it: zone=eu,!gpu (all)\n"
            "  --label K=V      of the job; may repeat\n"
            "  --owner WHO, --notes TEXT\n"
            "  --notify NAME    a channel that hears of failures (peal channel); may repeat\n"
            "  --paused         not before `peal resume`\n"
            "  --replace        change the job if there is one of this name\n" CLIENT_HELP "\n"
            "More fields: docs/JOBS.md, with `peal edit` or `peal apply`.\n",
    .getopt_rows = options,
    .old_run = run,
};
