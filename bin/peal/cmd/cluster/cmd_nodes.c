/* peal nodes: who is in the cluster, and how are they? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"

static const struct option options[] = {CLIENT_OPTIONS, OUTPUT_OPTION, {0}};

/* {"disk": "ssd", "zone": ""} -> disk=ssd,zone */
static void print_labels(const json_t *labels, struct strbuf *out)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *)labels, name, value) {
        const char *text = json_string_value(value);
        strbuf_addf(out, "%s%s", out->length ? "," : "", name);
        if (text && *text)
            strbuf_addf(out, "=%s", text);
    }
}

static void print_roles(const json_t *roles, struct strbuf *out)
{
    const json_t *role;
    size_t i;
    json_array_foreach (roles, i, role) {
        strbuf_addf(out, "%s%s", i ? "," : "", json_string_value(role));
    }
}

static void print_skew(const json_t *node, struct strbuf *out)
{
    const json_t *skew = json_object_get(node, "skew_ms");
    if (json_is_integer(skew))
        strbuf_addf(out, "%+lld ms", (long long)json_integer_value(skew));
    else
        strbuf_adds(out, "-");
}

static void print_lag(const json_t *node, struct strbuf *out)
{
    const json_t *lag = json_object_get(node, "watch_lag_ms");
    if (json_is_integer(lag))
        strbuf_addf(out, "%lld ms", (long long)json_integer_value(lag));
    else
        strbuf_adds(out, "-");
}

static void print_running(const json_t *node, struct strbuf *out)
{
    int64_t max = answer_int(node, "max_running", 0);
    strbuf_addf(out, "%" PRId64, answer_int(node, "running", 0));
    if (max)
        strbuf_addf(out, "/%" PRId64, max);
}

static void add_node(struct text_table *table, const json_t *node, bool wide)
{
    struct strbuf text;
    strbuf_init(&text);
#define CELL(call) (strbuf_truncate(&text, 0), call, text_table_cell(table, text.text))
    text_table_cell(table, answer_text(node, "node"));
    text_table_cell(table, answer_text(node, "state"));
    text_table_cell(table, json_is_true(json_object_get(node, "leader")) ? "*" : "");
    CELL(when_print_left(answer_time(node, "heard_at"), now_ms(), &text));
    CELL(print_skew(node, &text));
    CELL(print_running(node, &text));
    CELL(strbuf_addf(&text, "%" PRId64, answer_int(node, "capacity", 0)));
    text_table_cell(table, answer_text(node, "version"));
    if (wide) {
        CELL(print_lag(node, &text));
        CELL(print_roles(json_object_get(node, "roles"), &text));
        text_table_cell(table, answer_text(node, "address"));
        text_table_cell(table, answer_text(node, "history"));
        CELL(when_print_left(now_ms(), answer_time(node, "started_at"), &text));
    }
    CELL(print_labels(json_object_get(node, "labels"), &text));
    if (wide)
        text_table_cell(table, answer_text(node, "detail"));
#undef CELL
    if (text.failed)
        table->status = E_NOMEM;
    strbuf_release(&text);
}

static enum exit_code show(struct client *client, enum output output)
{
    static const char *const narrow_headers[] = {"NODE",    "STATE",    "LEADS",   "HEARD",  "SKEW",
                                                 "RUNNING", "CAPACITY", "VERSION", "LABELS", NULL};
    static const char *const wide_headers[] = {
        "NODE", "STATE", "LEADS",   "HEARD",   "SKEW", "RUNNING", "CAPACITY", "VERSION",
        "LAG",  "ROLES", "ADDRESS", "HISTORY", "UP",   "LABELS",  "DETAIL",   NULL};
    static const struct list_form form = {.name = "node",
                                          .headers = narrow_headers,
                                          .wide_headers = wide_headers,
                                          .add_row = add_node};
    return list_show(client, "/nodes", output, &form);
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    enum output output = OUTPUT_TABLE;
    struct client *client;
    enum exit_code code = client_to_show(self, argc, argv, NULL, &output, &client);
    if (code != EXIT_OK)
        return code;
    code = show(client, output);
    client_close(client);
    return code;
}

const struct command cmd_nodes = {
    .name = "nodes",
    .summary = "the nodes of the cluster, and how they are",
    .help =
        "Examples:\n"
        "  peal nodes\n"
        "  peal nodes -o wide                why a node takes nothing new, and more\n"
        "  peal nodes -o json | jq '.[] | select(.state != \"ready\")'\n"
        "\n"
        "Usage: peal nodes [options]\n"
        "\n"
        "STATE is ready; draining or drained (peal drain); full (max_running); clock (too far\n"
        "from the others'); clock_doubt (it jumped, and is not believed yet); spawner (nothing\n"
        "can be started); api (serves the API only);\n"
        "stopping; gone; or shut_out (the agent that is asked: another one has its name, which is\n"
        "the line above). LEADS marks the one that does the chores. SKEW is how far its\n"
        "clock is from the cluster's. HISTORY, with -o wide, is shared (all nodes have one), own\n"
        "(each has its own, and this one can be read), or why it can't be read.\n"
        "\n"
        "Options:\n" OUTPUT_HELP CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
