/* peal nodes: the nodes of the cluster and their states. */
#include <inttypes.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "print/state_words.h"

struct request {
    struct request_base base;
    enum output output;
};

/* {"disk": "ssd", "zone": ""} -> disk=ssd,zone */
static void print_labels(const json_t *node, struct strbuf *out)
{
    const char *name;
    json_t *value;
    json_object_foreach (json_object_get(node, "labels"), name, value) {
        const char *text = json_string_value(value);
        strbuf_addf(out, "%s%s", out->length ? "," : "", name);
        if (text && *text)
            strbuf_addf(out, "=%s", text);
    }
}

static void print_state(const json_t *node, struct strbuf *out)
{
    strbuf_adds(out, node_word(answer_text(node, "state")));
}

static void print_history(const json_t *node, struct strbuf *out)
{
    strbuf_adds(out, history_word(answer_text(node, "history")));
}

static void print_leads(const json_t *node, struct strbuf *out)
{
    strbuf_adds(out, json_is_true(json_object_get(node, "leader")) ? "*" : "");
}

static void print_up(const json_t *node, struct strbuf *out)
{
    when_print_left(now_ms(), answer_time(node, "started_at"), out);
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

/* "billing", or with its version "billing 7"; "-": it is an agent. */
static void print_program(const json_t *node, struct strbuf *out)
{
    const char *program = answer_text(node, "program");
    int64_t version = answer_int(node, "program_version", 0);
    strbuf_adds(out, *program ? program : "-");
    if (*program && version)
        strbuf_addf(out, " %" PRId64, version);
}

static void print_percent(const json_t *node, const char *member, struct strbuf *out)
{
    const json_t *percent = json_object_get(node, member);
    if (json_is_integer(percent))
        strbuf_addf(out, "%lld%%", (long long)json_integer_value(percent));
    else
        strbuf_adds(out, "-");
}

static void print_cpu(const json_t *node, struct strbuf *out)
{
    print_percent(node, "cpu_pressure", out);
}

static void print_memory(const json_t *node, struct strbuf *out)
{
    print_percent(node, "memory_pressure", out);
}

static void print_free(const json_t *node, struct strbuf *out)
{
    print_percent(node, "free", out);
}

static enum exit_code show(struct client *client, void *place)
{
    const struct request *request = place;
    static const struct list_column columns[] = {
        COLUMN("NODE", "node"),
        COLUMN_BY("STATE", print_state),
        COLUMN_BY("LEADS", print_leads),
        COLUMN("HEARD", "heard_at", .form = COLUMN_LEFT),
        COLUMN_BY("SKEW", print_skew),
        COLUMN_BY("RUNNING", print_running),
        COLUMN("CAPACITY", "capacity", .form = COLUMN_NUMBER),
        COLUMN_BY("FREE", print_free),
        COLUMN_BY("CPU", print_cpu, .is_wide = true),
        COLUMN_BY("MEMORY", print_memory, .is_wide = true),
        COLUMN("VERSION", "version"),
        COLUMN_BY("PROGRAM", print_program),
        COLUMN("SPAWNER", "spawner_version", .is_wide = true),
        COLUMN_BY("LAG", print_lag, .is_wide = true),
        COLUMN("ROLES", "roles", .form = COLUMN_WORDS, .is_wide = true),
        COLUMN("ADDRESS", "address", .is_wide = true),
        COLUMN_BY("HISTORY", print_history, .is_wide = true),
        COLUMN_BY("UP", print_up, .is_wide = true),
        COLUMN_BY("LABELS", print_labels),
        COLUMN("DETAIL", "detail", .is_wide = true),
        {0},
    };
    static const struct list_form form = {.name = "node", .columns = columns};
    return list_show(client, "/nodes", request->output, &form);
}

const struct command cmd_nodes = {
    .name = "nodes",
    .summary = "the nodes of the cluster and their states",
    .examples =
        EXAMPLES({"peal nodes", NULL},
                 {"peal nodes -o wide", "with the reason why a node takes no new runs, and more"},
                 {"peal nodes -o json | jq '.[] | select(.state != \"ready\")'", NULL}),
    .notes =
        "STATE is ready; draining or drained (peal drain); full (max_running); clock (its "
        "skew is too large); clock_doubt (the clock jumped, and is not trusted yet); spawner "
        "(no process can be started); api (serves the API only); stopping; gone; or shut_out "
        "(this agent: another agent, in the line above, uses its name). LEADS marks the "
        "leader, which does the cluster's maintenance. SKEW is the difference between the "
        "node's clock and the cluster's. FREE is the share of the node's capacity that jobs with "
        "place: least_loaded count with: its room for runs, less the share of time in which "
        "processes waited. CPU and MEMORY, with -o wide, are those shares over the last 10 "
        "seconds, for a processor and for memory. HISTORY, with -o wide, is shared (one for all "
        "nodes), own (one per node, readable), or the reason why it can't be read. PROGRAM, if the "
        "node is a process of a program that embeds the library, is that program and its version; "
        "the node runs its functions only.",
    .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                    OPTION_GROUP(request, base, client_options)),
    .request_size = sizeof(struct request),
    .with_agent = show,
};
