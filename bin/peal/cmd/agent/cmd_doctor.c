/* peal doctor: what is well, what is not, and what to do about it. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/json_out.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "data_folder.h"
#include "service/daemon.h"
#include "service/doctor.h"
#include "text/tr.h"

/* ---- the report ---- */

static void print_line(enum check_result verdict, const char *name, const char *text,
                       const char *next)
{
    enum { WIDTH = 4 };
    static const char *const words[] = {TR("ok"), TR("warn"), TR("FAIL")};
    static const int colours[] = {32, 33, 31};
    const char *word = tr(words[verdict]);
    int blanks = WIDTH - text_width(word);
    if (terminal_of(stdout).colour)
        printf("\033[%dm%s\033[0m", colours[verdict], word);
    else
        printf("%s", word);
    printf("%*s", 2 + (blanks > 0 ? blanks : 0), "");
    printf(tr("%s: %s"), name, text);
    putchar('\n');
    if (next)
        printf("      -> %s\n", next);
    fflush(stdout);
}

const char *report_tr(const struct report *report, const char *english)
{
    return report->checks ? english : tr(english);
}

void report_add(struct report *report, enum check_result verdict, const char *name,
                const char *next, const char *format, ...)
{
    static const char *const words[] = {"ok", "warn", "fail"};
    struct strbuf text;
    va_list args;
    strbuf_init(&text);
    va_start(args, format);
    strbuf_addv(&text, report_tr(report, format), args);
    va_end(args);
    if (verdict > report->worst)
        report->worst = verdict;
    if (!report->checks)
        print_line(verdict, tr(name), text.text, next ? tr(next) : NULL);
    else if (json_array_append_new(report->checks,
                                   json_pack("{s:s, s:o, s:o, s:o}", "verdict", words[verdict],
                                             "check", json_text(name), "text", json_text(text.text),
                                             "next", next ? json_text(next) : json_null())) != 0)
        report->failed = true;
    strbuf_release(&text);
}

/* ---- the command ---- */

struct request {
    struct request_base base;
    const char *store, *config;
    enum output output;
};

static enum exit_code look(struct client *client, const struct request *request,
                           struct report *report)
{
    struct agent_config config;
    struct parse_error err;
    char *url = NULL;
    const char *folder = client_data(client);
    bool is_closed = data_folder_is_closed(folder); /* then nothing can be said of the agent */
    enum exit_code code = daemon_configure_store(request->config, request->store, &config);
    if (code != EXIT_OK)
        goto out;
    doctor_folder(report, folder);
    if (!is_closed && !doctor_agent(report, client, &url)) {
        url = data_folder_recall(folder, "store");
        doctor_history(report, folder);
    }
    if (!config.has_store && url && agent_config_set_store(&config, url, &err) != OK)
        report_add(report, CHECK_FAIL, "store", NULL, "%s: %s", url, err.message);
    if (config.store.kind == STORE_OF_ETCD)
        doctor_etcd(report, &config);
    else if (config.store.kind == STORE_OF_POSTGRES)
        doctor_postgres(report, &config);
    else if (config.store.kind == STORE_OF_REDIS)
        doctor_redis(report, &config);
    else if (config.store.shared || !is_closed)
        doctor_sqlite(report, config.store.shared ? config.store.shared : folder);
out:
    free(url);
    agent_config_release(&config);
    return code;
}

/* Of another machine only what its agent says of itself can be seen, and a store that is named. */
static enum exit_code look_from_elsewhere(struct client *client, const struct request *request,
                                          struct report *report)
{
    struct agent_config config;
    json_t *agent = NULL;
    char *url = NULL;
    enum exit_code code = daemon_configure_store(request->config, request->store, &config);
    if (code == EXIT_OK)
        code = client_get(client, "/agent", &agent);
    bool is_there = code == EXIT_OK && doctor_agent(report, client, &url);
    if (is_there && config.store.kind == STORE_OF_ETCD)
        doctor_etcd(report, &config);
    else if (is_there && config.store.kind == STORE_OF_POSTGRES)
        doctor_postgres(report, &config);
    else if (is_there && config.store.kind == STORE_OF_REDIS)
        doctor_redis(report, &config);
    json_decref(agent);
    free(url);
    agent_config_release(&config);
    return code;
}

static enum exit_code diagnose(struct client *client, void *place)
{
    const struct request *request = place;
    bool is_json = request->output == OUTPUT_JSON || request->output == OUTPUT_YAML;
    struct report report = {.checks = is_json ? json_array() : NULL};
    if (is_json && !report.checks)
        return cli_fail(E_NOMEM);
    enum exit_code code = client_is_remote(client) ? look_from_elsewhere(client, request, &report)
                                                   : look(client, request, &report);
    if (code == EXIT_OK && report.failed)
        code = cli_fail(E_NOMEM);
    if (code == EXIT_OK && is_json)
        code = output_print(report.checks, request->output);
    json_decref(report.checks);
    return code == EXIT_OK && report.worst == CHECK_FAIL ? EXIT_ERROR : code;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "check the agent, its data, the store and the history",
    .examples =
        EXAMPLES({"peal doctor", NULL},
                 {"peal doctor --store etcd://etcd-1,etcd-2,etcd-3", "before a node is started"},
                 {"peal doctor -o json | jq '.[] | select(.verdict != \"ok\")'", NULL}),
    .notes =
        "One line per check: ok, warn or FAIL, and what to do. Checks the data folder, the agent, "
        "its spawner and clock, its history, and the store: for SQLite, the integrity of the "
        "database; for etcd, each server; for PostgreSQL and Redis, how it is set up, its "
        "connections, room and clock; for all three, latency, and whether this user has the "
        "permissions "
        "that peal needs, by writing and removing a key below PREFIX/doctor/. With --url: what "
        "that agent reports, and the store if one is named. Exit status 1: a check has failed.",
    .options = ROWS(
        OPTION_TEXT(
            request, store, 0, "store", "URL",
            "the store to check (else from the configuration file, $PEAL_STORE, the agent)"),
        OPTION_TEXT(
            request, config, 0, "config", "FILE",
            "a configuration file with the user and certificates of etcd or Redis (docs/CONFIG.md)",
            .complete = COMPLETE_FILES),
        OPTION_OUTPUT(request, output, OUTPUT_SHORT_TEXT),
        OPTION_GROUP(request, base, client_options)),
    .request_size = sizeof(struct request),
    .with_agent = diagnose,
};
