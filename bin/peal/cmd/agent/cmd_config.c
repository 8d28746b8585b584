/* peal config: what the agent's configuration is, where each value comes from, and whether a file
 * is right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/text_table.h"
#include "cmd/agent/config_notes.h"
#include "service/daemon.h"
#include "text/tr.h"

/* The options of `peal start` come first, so that its rows fit. */
struct request {
    struct daemon_options options;
    struct words names;
    const char *file;
    enum output output;
    bool origin;
};

/* ---- show ---- */

/* A password in a URL is shown as asterisks. */
static void print_value(const char *value, struct strbuf *out)
{
    const char *login = value ? strstr(value, "://") : NULL;
    const char *end = login ? login + strcspn(login + 3, "/?") + 3 : NULL;
    const char *at = login ? memrchr(login, '@', (size_t)(end - login)) : NULL;
    const char *colon = at ? memchr(login + 3, ':', (size_t)(at - login - 3)) : NULL;
    const char *parameter = value ? strstr(value, "password=") : NULL;
    if (colon) {
        strbuf_add(out, value, (size_t)(colon + 1 - value));
        strbuf_adds(out, "***");
        value = at;
    }
    if (parameter) {
        parameter += strlen("password=");
        strbuf_add(out, value, (size_t)(parameter - value));
        strbuf_adds(out, "***");
        value = parameter + strcspn(parameter, "&");
    }
    strbuf_adds(out, value ? value : "");
}

static json_t *describe(const struct agent_config *config, const struct setting *setting)
{
    const char *origin = agent_config_origin(config, setting);
    const char *value =
        strcmp(setting->name, "data") == 0 ? config->data : agent_config_value(config, setting);
    struct strbuf shown;
    strbuf_init(&shown);
    print_value(setting->is_secret && value ? "***" : value, &shown);
    json_t *row = shown.failed ? NULL
                               : json_pack("{s:s, s:o, s:s}", "name", setting->name, "value",
                                           value ? json_string(shown.text) : json_null(), "origin",
                                           origin ? origin : "default");
    strbuf_release(&shown);
    return row;
}

static bool is_asked(const struct words *names, const struct setting *setting)
{
    for (int i = 0; i < names->count; i++) {
        size_t length = strlen(names->items[i]);
        bool is_map =
            strncmp(setting->name, names->items[i], length) == 0 && setting->name[length] == '.';
        if (is_map || strcmp(names->items[i], setting->name) == 0)
            return true;
    }
    return names->count == 0;
}

/* Names that match nothing are mistakes. */
static enum exit_code check_names(const struct words *names)
{
    for (int i = 0; i < names->count; i++) {
        const struct words one = {&names->items[i], 1};
        const struct setting *each = settings;
        while (each->name && !is_asked(&one, each))
            each++;
        if (!each->name) {
            cli_error("there is no setting \"%s\"; peal config show lists all", names->items[i]);
            return EXIT_NOT_FOUND;
        }
    }
    return EXIT_OK;
}

static enum exit_code print_table(const json_t *rows, bool origin)
{
    static const char *const all[] = {"SETTING", "VALUE", "ORIGIN", NULL};
    static const char *const plain[] = {"SETTING", "VALUE", NULL};
    struct text_table table;
    size_t i;
    json_t *row;
    text_table_init(&table, origin ? all : plain);
    json_array_foreach (rows, i, row) {
        const char *value = json_string_value(json_object_get(row, "value"));
        text_table_cell(&table, json_string_value(json_object_get(row, "name")));
        text_table_cell(&table, value ? value : "-");
        if (origin)
            text_table_cell(&table, json_string_value(json_object_get(row, "origin")));
    }
    enum exit_code code = cli_fail(text_table_print(&table, stdout));
    text_table_release(&table);
    return code;
}

static enum exit_code show(const struct agent_config *config, const struct request *request)
{
    enum exit_code code = EXIT_OK;
    json_t *rows = json_array();
    for (const struct setting *each = settings; each->name && code == EXIT_OK; each++) {
        if (is_asked(&request->names, each) &&
            json_array_append_new(rows, describe(config, each)) != 0)
            code = cli_fail(E_NOMEM);
    }
    if (code == EXIT_OK && request->output == OUTPUT_TABLE)
        code = print_table(rows, request->origin);
    else if (code == EXIT_OK)
        code = output_print(rows, request->output);
    json_decref(rows);
    return code;
}

/* Without the values, which nothing has to be read for. */
static enum exit_code list_names(const struct words *names)
{
    for (const struct setting *each = settings; each->name; each++) {
        if (is_asked(names, each))
            puts(each->name);
    }
    return EXIT_OK;
}

static enum exit_code run_show(void *place)
{
    const struct request *request = place;
    struct agent_config config = {0};
    struct strbuf kept;
    enum exit_code code = check_names(&request->names);
    if (code != EXIT_OK || request->output == OUTPUT_NAME)
        return code == EXIT_OK ? list_names(&request->names) : code;
    strbuf_init(&kept);
    code = daemon_configure_kept(&request->options, &config, &kept);
    if (code == EXIT_OK)
        code = show(&config, request);
    strbuf_release(&kept);
    agent_config_release(&config);
    return code;
}

/* ---- validate ---- */

static enum exit_code run_validate(void *place)
{
    struct request *request = place;
    struct agent_config config = {0};
    request->options.config = request->file ? request->file : request->options.config;
    enum exit_code code = daemon_configure(&request->options, false, &config);
    if (code == EXIT_OK) {
        config_notes(&config);
        printf(tr("%sok %s"), "", config.file ? config.file : tr("the environment"));
        putchar('\n');
    }
    agent_config_release(&config);
    return code;
}

/* ---- sample ---- */

static enum exit_code run_sample(void *place)
{
    struct strbuf text;
    (void)place;
    strbuf_init(&text);
    settings_print_sample(tr_language(), &text);
    enum exit_code code = cli_fail(strbuf_status(&text));
    if (code == EXIT_OK)
        fputs(text.text, stdout);
    strbuf_release(&text);
    return code;
}

static const struct command subcommands[] = {
    {
        .name = "config show",
        .summary = "print every setting, as peal restart would use it",
        .arguments = ROWS(ARGUMENTS(request, names, "SETTING", .is_optional = true,
                                    .complete = COMPLETE_SETTINGS)),
        .options =
            ROWS(OPTION_FLAG(request, origin, 0, "origin",
                             "where each value comes from: file and line, variable, option, the "
                             "last start, or its default"),
                 OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                 OPTION_GROUP(request, options, daemon_rows)),
        .run = run_show,
    },
    {
        .name = "config validate",
        .summary = "check a configuration file, with conf.d and the environment",
        .arguments =
            ROWS(ARGUMENT(request, file, "FILE", .is_optional = true, .complete = COMPLETE_FILES)),
        .options = ROWS(OPTION_GROUP(request, options, daemon_rows)),
        .too_many = "expected: peal config validate FILE",
        .run = run_validate,
    },
    {
        .name = "config sample",
        .summary = "print a configuration file in which every setting is a comment",
        .too_many = "expected: peal config sample",
        .run = run_sample,
    },
    {0},
};

const struct command cmd_config = {
    .name = "config",
    .summary = "the agent's settings: show, check, a file to begin with",
    .examples = EXAMPLES({"peal config show --origin", NULL},
                         {"peal config show retention", "those of one map"},
                         {"peal config validate /etc/peal/peal.yaml", NULL},
                         {"peal config sample > peal.yaml", NULL}),
    .notes =
        "An option goes before the configuration file, the files *.yaml of conf.d beside it go "
        "before that file, and both before variables: PEAL_RETENTION_RUNS is the setting "
        "retention.runs, and PEAL_RETENTION_RUNS_FILE names a file with its value. Exit "
        "status 6: a value or a key is wrong; 3: there is no such file, or setting.",
    .too_few = "expected: peal config show, validate or sample",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
