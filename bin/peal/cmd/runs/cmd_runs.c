/* peal runs: what ran, when, and how it ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "print/run_table.h"
#include "text/tr.h"

struct request {
    struct list_request list;
    const char *state, *instance;
    bool ledger, steps;
};

static const struct option_row options[] = {
    OPTION_TEXT(request, state, 0, "state", "S,...",
                "queued, running, ok, failed, timed_out, killed, lost, ...", .field = "state"),
    OPTION_FLAG(request, ledger, 0, "ledger", "include ticks that did not run, with the reason",
                .field = "ledger"),
    OPTION_TEXT(request, instance, 0, "instance", "RUN",
                "the runs of this instance of a workflow: itself and its steps",
                .field = "instance"),
    OPTION_FLAG(request, steps, 0, "steps", "include the steps of workflows", .field = "steps"),
    OPTION_GROUP(request, list, list_options),
    {0},
};

static void print_params(const json_t *params)
{
    const char *name;
    json_t *value;
    printf("\n%s\n", tr("Parameters:"));
    json_object_foreach ((json_t *)params, name, value) {
        char *text = json_dumps(value, JSON_ENCODE_ANY);
        printf("  %s = %s\n", name, text ? text : "");
        free(text);
    }
}

/* What the run had other than its job says. Values of variables are left to -o json. */
static void print_rest(const json_t *run)
{
    const char *name, *before = "";
    struct strbuf names;
    json_t *value, *env = json_object_get(run, "env");
    strbuf_init(&names);
    json_object_foreach (env, name, value) {
        (void)value;
        strbuf_addf(&names, "%s%s", before, name);
        before = ", ";
    }
    if (names.length) {
        printf(tr("Environment: %s"), names.text);
        putchar('\n');
    }
    if (*answer_text(run, "timeout")) {
        printf(tr("Time limit: %s"), answer_text(run, "timeout"));
        putchar('\n');
    }
    const json_t *input = json_object_get(run, "input");
    if (json_is_object(input)) {
        printf(tr("Input: %lld bytes"),
               (long long)json_integer_value(json_object_get(input, "size")));
        putchar('\n');
    }
    strbuf_release(&names);
}

/* One run, with what was handed over. */
static enum exit_code show_run(struct client *client, const char *run_id,
                               const struct list_request *request)
{
    struct strbuf path;
    json_t *run = NULL;
    strbuf_init(&path);
    enum exit_code code = client_get(client, run_path(&path, run_id, ""), &run);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    json_t *runs = json_pack("[O]", run);
    const json_t *params = json_object_get(run, "params");
    code = runs ? runs_print(runs, request->output, nodes_are_many(client)) : cli_fail(E_NOMEM);
    if (code == EXIT_OK && request->output <= OUTPUT_WIDE && json_object_size(params))
        print_params(params);
    if (code == EXIT_OK && request->output <= OUTPUT_WIDE)
        print_rest(run);
    json_decref(runs);
    json_decref(run);
    return code;
}

/* The runs that the options ask for. */
static enum exit_code list_runs(struct client *client, const struct list_request *request)
{
    struct strbuf path;
    json_t *runs = NULL;
    strbuf_init(&path);
    enum exit_code code = url_query(client, "/runs?", options, request, request->job, &path);
    if (code == EXIT_OK)
        code = client_list(client, path.text, (size_t)request->count, &runs);
    strbuf_release(&path);
    if (code != EXIT_OK)
        return code;
    if (json_array_size(runs) == 0 && request->output <= OUTPUT_WIDE)
        fprintf(stderr, "%s\n", tr("no runs"));
    else
        code = runs_print(runs, request->output, nodes_are_many(client));
    json_decref(runs);
    return code;
}

/* The beginning of an instance's id is enough. */
static enum exit_code list_instance(struct client *client, struct request *request)
{
    struct strbuf run_id;
    strbuf_init(&run_id);
    enum exit_code code = run_by_id(client, request->instance, &run_id);
    if (code == EXIT_OK && !run_id.length) {
        cli_error("there is no run %s", request->instance);
        code = EXIT_NOT_FOUND;
    }
    if (code == EXIT_OK) {
        request->instance = run_id.text;
        code = list_runs(client, &request->list);
    }
    strbuf_release(&run_id);
    return code;
}

static enum exit_code show(struct client *client, void *place)
{
    const struct list_request *request = place;
    struct strbuf run_id;
    strbuf_init(&run_id);
    enum exit_code found = request->job ? run_by_id(client, request->job, &run_id) : EXIT_OK;
    if (found == EXIT_OK && run_id.length)
        found = show_run(client, run_id.text, request);
    bool is_shown = found != EXIT_OK || run_id.length;
    strbuf_release(&run_id);
    if (is_shown)
        return found;
    return ((struct request *)place)->instance ? list_instance(client, place)
                                               : list_runs(client, request);
}

const struct command cmd_runs = {
    .name = "runs",
    .summary = "list runs",
    .examples = EXAMPLES({"peal runs", NULL}, {"peal runs backup -n 5", NULL},
                         {"peal runs --state failed,timed_out,lost --since 24h", NULL},
                         {"peal runs 01K9ZQ3V7C", "one run, with its parameters"},
                         {"peal runs backup --ledger", "with skipped and missed ticks"},
                         {"peal runs --instance 01K9ZQ3V7C", "the steps of a workflow's run"},
                         {"peal runs backup -o json | jq '.[0].exit_code'", NULL}),
    .more = WHEN_TEXT,
    .arguments =
        ROWS(ARGUMENT(request, list.job, "JOB", .is_optional = true, .complete = COMPLETE_JOBS)),
    .options = options,
    .too_many = "one job at a time",
    .request_size = sizeof(struct request),
    .defaults = &(const struct request){.list.count = LIST_COUNT_DEFAULT},
    .with_agent = show,
};
