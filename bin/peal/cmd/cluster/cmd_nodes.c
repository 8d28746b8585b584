/* peal nodes: who is in the cluster, and how are they? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"

struct request {
    struct request_base base;
    enum output output;
};

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

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    static const char *const narrow_headers[] = {"NODE",    "STATE",    "LEADS",   "HEARD",  "SKEW",
                                                 "RUNNING", "CAPACITY", "VERSION", "LABELS", NULL};
    static const char *const wide_headers[] = {
        "NODE", "STATE", "LEADS",   "HEARD",   "SKEW", "RUNNING", "CAPACITY", "VERSION",
        "LAG",  "ROLES", "ADDRESS", "HISTORY", "UP",   "LABELS",  "DETAIL",   NULL};
    static const struct list_form form = {.name = "node",
                                          .headers = narrow_headers,
                                          .wide_headers = wide_headers,
                                          .add_row = add_node};
    return list_show(client, "/nodes", request->output, &form);
}

const struct command cmd_nodes = {
    .name = "nodes",
    .summary = "the nodes of the cluster, and how they are",
    .examples = EXAMPLES({"peal nodes", NULL},
                         {"peal nodes -o wide", "why a node takes nothing new, and more"},
                         {"peal nodes -o json | jq '.[] | select(.state != \"ready\")'", NULL}),
    .notes =
        "STATE is ready; draining or drained (peal drain); full (max_running); clock (too far "
        "from the others'); clock_doubt (it jumped, and is not believed yet); spawner (nothing "
        "can be started); api (serves the API only); stopping; gone; or shut_out (the agent that "
        "is asked: another one has its name, which is the line above). LEADS marks the one that "
        "does the chores. SKEW is how far its clock is from the cluster's. HISTORY, with -o wide, "
        "is shared (all nodes have one), own (each has its own, and this one can be read), or why "
        "it can't be read.",
    .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                    OPTION_GROUP(request, base, client_options)),
    .request_size = sizeof(struct request),
    .with_agent = show,
};
