/* peal state: is the agent running, and is it well? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/client.h"
#include "client/quiet/maintenance.h"
#include "client/starts.h"
#include "data_folder.h"
#include "print/state_words.h"
#include "service/daemon.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    enum output output;
};

/* One that has just been started does not answer yet. */
static enum exit_code not_answering(struct client *client, enum output output)
{
    const char *data = client_data(client);
    pid_t pid = daemon_find(data);
    const char *state = pid ? "not answering" : "stopped";
    if (output == OUTPUT_JSON || output == OUTPUT_YAML) {
        json_t *value = json_pack("{ssssso}", "state", state, "data", data, "pid",
                                  pid ? json_integer(pid) : json_null());
        enum exit_code code = value ? output_print(value, output) : cli_fail(E_NOMEM);
        json_decref(value);
        if (code != EXIT_OK)
            return code;
    } else if (pid) {
        printf(tr("not answering (pid %d, data %s)"), (int)pid, data);
        putchar('\n');
    } else {
        printf(tr("not running (data %s)"), data);
        putchar('\n');
    }
    return pid ? EXIT_UNREACHABLE : EXIT_NOT_FOUND;
}

static void print_health(const char *label, const json_t *health)
{
    if (!json_is_true(json_object_get(health, "ok")))
        cli_line(8, label, "not well: %s", answer_text(health, "detail"));
}

/* Another agent has its name: that is said in place of how the store is. */
static bool is_shut_out(const json_t *agent)
{
    return strcmp(answer_text(agent, "state"), "shut_out") == 0;
}

/* Reasons that no other line is about. */
static bool is_own_line(const char *reason)
{
    static const char *const told[] = {"disk_full", "store_away", "restored", "shut_out",
                                       "clock_doubted"};
    for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
        if (strcmp(reason, told[i]) == 0)
            return false;
    return true;
}

static void print_starts(const json_t *agent)
{
    if (!starts_are_ok(agent) && is_own_line(starts_reason(agent)))
        cli_line(8, "why", "%s", starts_detail(agent));
}

static void print_user(const json_t *agent)
{
    const char *problem = starts_user_problem(agent);
    if (problem)
        cli_line(8, "user", "%s: peal restart --default-user NAME, or a user for each job",
                 problem);
}

/* Of an agent that is alone there is nothing to tell. */
static void print_cluster(const json_t *agent)
{
    const char *url = answer_text(json_object_get(agent, "store"), "url");
    const char *leader = answer_text(agent, "leader");
    if (strchr(url, ':'))
        cli_line(8, "store", "%s", url);
    int64_t nodes = answer_int(agent, "nodes", 1);
    if (nodes > 1 && *leader)
        cli_line(8, "nodes", "%" PRId64 ", %s leads", nodes, leader);
    else if (nodes > 1)
        cli_line(8, "nodes", "%" PRId64 ", nobody leads", nodes);
}

/* An older agent says nothing of its clock. */
static void print_clock(const json_t *clock)
{
    struct strbuf at;
    int64_t step_ms = answer_int(clock, "step_ms", 0);
    if (json_is_false(json_object_get(clock, "ok")))
        cli_line(8, "clock", "%s", answer_text(clock, "detail"));
    if (!step_ms)
        return;
    strbuf_init(&at);
    when_print_full(answer_time(clock, "stepped_at"), &at);
    cli_line(8, "steps", "the last of %" PRId64 ", by %+.3f s: %s", answer_int(clock, "steps", 0),
             (double)step_ms / 1000, at.text);
    strbuf_release(&at);
}

static void print_word(const json_t *agent)
{
    const char *state = answer_text(agent, "state");
    int64_t pid = answer_int(agent, "pid", 0);
    if (is_shut_out(agent))
        printf(tr("shut out (pid %" PRId64 ")"), pid);
    else if (strcmp(state, "running") == 0 && !starts_are_ok(agent))
        printf(tr("running, but nothing can start (pid %" PRId64 ")"), pid);
    else
        printf(tr("%s (pid %" PRId64 ")"), agent_word(state), pid);
    putchar('\n');
}

static void print_state(const json_t *agent)
{
    struct strbuf since;
    strbuf_init(&since);
    when_print_full(answer_time(agent, "started_at"), &since);
    print_word(agent);
    cli_line(8, "since", "%s", since.text);
    cli_line(8, "data", "%s", answer_text(agent, "data"));
    cli_line(8, "node", "%s", answer_text(agent, "node"));
    cli_line(8, "version", "%s", answer_text(agent, "version"));
    cli_line(8, "jobs", "%" PRId64 ", %" PRId64 " running", answer_int(agent, "jobs", 0),
             answer_int(agent, "running", 0));
    print_cluster(agent);
    maintenance_print_active(8, json_object_get(agent, "maintenance"));
    if (is_shut_out(agent))
        cli_line(8, "why", "%s", answer_text(json_object_get(agent, "store"), "detail"));
    else
        print_health("store", json_object_get(agent, "store"));
    print_health("history", json_object_get(agent, "history"));
    print_clock(json_object_get(agent, "clock"));
    print_starts(agent);
    print_user(agent);
    strbuf_release(&since);
}

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    enum output output = request->output;
    struct reply reply = {0};
    enum status st = client_try(client, &(struct client_request){.path = "/agent"}, &reply);
    bool can_see = !client_is_remote(client) && !data_folder_is_closed(client_data(client));
    if (st == E_UNREACHABLE && can_see)
        return not_answering(client, output);
    enum exit_code code = client_report(client, st, &reply);
    if (code == EXIT_OK && (output == OUTPUT_JSON || output == OUTPUT_YAML))
        code = output_print(reply.body, output);
    else if (code == EXIT_OK)
        print_state(reply.body);
    if (code == EXIT_OK && !starts_are_ok(reply.body))
        code = EXIT_NO_STARTS;
    reply_release(&reply);
    return code;
}

const struct command cmd_state = {
    .name = "state",
    .summary = "whether the agent is running and can start jobs",
    .examples = EXAMPLES({"peal state", NULL}, {"peal state -o json | jq .running", NULL}),
    .notes =
        "Exit status: 0 running, 3 not running, 5 no answer, 8 running, but this node can't start "
        "runs: the disk is full, the store can't be reached or was restored, the clock is not "
        "trusted, the node is drained or shut out, the spawner is missing, or the agent is "
        "about to stop. The output says what to do.",
    .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_SHORT_TEXT),
                    OPTION_GROUP(request, base, client_options)),
    .request_size = sizeof(struct request),
    .with_agent = show,
};
