/* peal group: how many runs may be under way at the same time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "client/body.h"
#include "client/documents.h"
#include "group/group.h"
#include "text/tr.h"

enum { NEXT_TO_LABEL = 12 };

struct request {
    struct doc_request doc;
    int64_t cluster, node;
    struct option_list labels;
    const char *notes;
};

static const struct option_row set_options[] = {
    OPTION_NUMBER(request, cluster, 0, "cluster", 1, GROUP_LIMIT_MAX,
                  "at most so many runs on all nodes together"),
    OPTION_NUMBER(request, node, 0, "node", 1, GROUP_LIMIT_MAX,
                  "at most so many runs on each node"),
    OPTION_LIST(request, labels, 0, "label", "LABEL=N",
                "at most so many runs on the nodes that have the same value of the label; "
                "LABEL=VALUE:N: on those with this value; may be repeated"),
    OPTION_TEXT(request, notes, 0, "notes", "TEXT", "what it is for"),
    OPTION_GROUP(request, doc, client_options),
    {0},
};

/* ---- set ---- */

static void add_number(json_t *body, const char *name, int64_t number)
{
    if (number)
        json_object_set_new(body, name, json_integer(number));
}

/* "zone=2" is {"zone": 2}, "zone=eu:2" {"zone=eu": 2}. False: it is neither. */
static bool add_label(json_t *labels, const char *text)
{
    char label[GROUP_LABEL_SIZE], *end;
    size_t name = strcspn(text, "=");
    const char *colon = strrchr(text, ':'), *number = colon ? colon + 1 : text + name + 1;
    size_t length = colon ? (size_t)(colon - text) : name;
    if (!name || !text[name] || length < name || length >= sizeof(label) || !*number)
        return false;
    long most = strtol(number, &end, 10);
    if (*end || most < 1 || most > GROUP_LIMIT_MAX)
        return false;
    memcpy(label, text, length);
    label[length] = '\0';
    json_object_set_new(labels, label, json_integer(most));
    return true;
}

/* NULL: one of them is wrong, and named in *wrong. */
static json_t *make_labels(const struct request *request, const char **wrong)
{
    json_t *labels = json_object();
    for (size_t i = 0; i < request->labels.count; i++) {
        *wrong = request->labels.items[i];
        if (add_label(labels, *wrong))
            continue;
        json_decref(labels);
        return NULL;
    }
    return labels;
}

static enum exit_code set(struct client *client, void *place)
{
    const struct request *request = place;
    struct reply reply = {0};
    const char *wrong;
    if (!request->cluster && !request->node && !request->labels.count)
        return cli_usage(
            request->doc.base.command,
            "how many? Give --cluster N, --node N, --label LABEL=N or several of them");
    json_t *labels = make_labels(request, &wrong);
    if (!labels)
        return cli_usage(request->doc.base.command,
                         "--label %s: expected LABEL=N, as in zone=2, or LABEL=VALUE:N, as in "
                         "zone=eu:2",
                         wrong);
    json_t *body = json_object();
    add_number(body, "cluster", request->cluster);
    add_number(body, "node", request->node);
    if (request->labels.count)
        json_object_set(body, "labels", labels);
    json_decref(labels);
    if (request->notes)
        json_object_set_new(body, "notes", json_text(request->notes));
    enum exit_code code = doc_call(
        client, &request->doc, (struct client_request){.method = "PUT", .body = body}, "", &reply);
    if (code == EXIT_OK) {
        int count = (int)answer_int(reply.body, "job_count", 0);
        fprintf(stderr,
                tr(reply.status == 201 ? TR("%s: made, in use by %d job%s")
                                       : TR("%s: set, in use by %d job%s")),
                request->doc.name, count, count == 1 ? "" : "s");
        fputc('\n', stderr);
    }
    reply_release(&reply);
    json_decref(body);
    return code;
}

/* ---- list, show ---- */

/* "2 of 3" */
static void print_held(const json_t *group, struct strbuf *out)
{
    int64_t cluster = answer_int(group, "cluster", 0), held = answer_int(group, "held", 0);
    if (cluster)
        strbuf_addf(out, tr("%lld of %lld"), (long long)held, (long long)cluster);
    else
        strbuf_addf(out, "%lld", (long long)held);
}

static void print_node_limit(const json_t *group, struct strbuf *out)
{
    int64_t node = answer_int(group, "node", 0);
    if (node)
        strbuf_addf(out, "%lld", (long long)node);
    else
        strbuf_addc(out, '-');
}

/* "zone=2 zone=eu:4", as it is given */
static void print_label_limits(const json_t *group, struct strbuf *out)
{
    const char *label;
    json_t *most;
    json_object_foreach (json_object_get(group, "labels"), label, most) {
        strbuf_addf(out, "%s%s%c%lld", out->length ? " " : "", label,
                    strchr(label, '=') ? ':' : '=', (long long)json_integer_value(most));
    }
    if (!out->length)
        strbuf_addc(out, '-');
}

/* What is under way by the values of labels. */
static void print_labels(const json_t *group)
{
    const json_t *row;
    size_t i;
    json_array_foreach (json_object_get(group, "by_label"), i, row) {
        const char *label = answer_text(row, "label");
        long long held = answer_int(row, "held", 0), limit = answer_int(row, "limit", 0);
        printf("            ");
        if (label[0] == '!')
            printf(tr("nodes without %s: %lld of %lld"), label + 1, held, limit);
        else
            printf(tr("nodes with %s: %lld of %lld"), label, held, limit);
        putchar('\n');
    }
}

static void print_field(const char *label, const char *text)
{
    if (*text)
        cli_line(NEXT_TO_LABEL - 1, label, "%s", text);
}

static void print_runs(const json_t *runs)
{
    const json_t *run;
    size_t i;
    json_array_foreach (runs, i, run) {
        int64_t place = answer_int(run, "place", 0);
        const char *step = answer_text(run, "step"), *node = answer_text(run, "node");
        printf("            ");
        if (place)
            printf("%lld. ", (long long)place);
        printf("%s%s%s %s", answer_text(run, "job"), *step ? ": " : "", step,
               answer_text(run, "run_id"));
        if (*node)
            printf(tr(" on %s"), node);
        putchar('\n');
    }
}

static void print_group(const json_t *group)
{
    struct strbuf text;
    int64_t count = answer_int(group, "job_count", 0);
    int64_t cluster = answer_int(group, "cluster", 0), node = answer_int(group, "node", 0);
    size_t named = json_array_size(json_object_get(group, "jobs"));
    strbuf_init(&text);
    print_field("Name:", answer_text(group, "name"));
    print_field("Notes:", answer_text(group, "notes"));
    if (cluster)
        cli_line(NEXT_TO_LABEL - 1, "Cluster:", "%lld", (long long)cluster);
    if (node)
        cli_line(NEXT_TO_LABEL - 1, "Each node:", "%lld", (long long)node);
    if (json_object_get(group, "labels") && !json_is_null(json_object_get(group, "labels"))) {
        print_label_limits(group, &text);
        print_field("By label:", text.text);
        print_labels(group);
        strbuf_reset(&text);
    }
    words_print(json_object_get(group, "jobs"), ", ", &text);
    if ((size_t)count > named)
        strbuf_addf(&text, tr(" and %zu more"), (size_t)count - named);
    print_field("Jobs:", named ? text.text : tr("none"));
    cli_line(NEXT_TO_LABEL - 1, "Under way:", "%lld", (long long)answer_int(group, "held", 0));
    print_runs(json_object_get(group, "holders"));
    cli_line(NEXT_TO_LABEL - 1, "Waiting:", "%lld", (long long)answer_int(group, "waiting", 0));
    print_runs(json_object_get(group, "queue"));
    strbuf_release(&text);
}

/* ---- the command ---- */

static const struct doc_form form = {
    .noun = "group",
    .list = {.name = "name",
             .columns =
                 (const struct list_column[]){
                     COLUMN("NAME", "name"),
                     COLUMN("JOBS", "job_count", .form = COLUMN_NUMBER),
                     COLUMN_BY("UNDER WAY", print_held),
                     COLUMN_BY("EACH NODE", print_node_limit),
                     COLUMN_BY("BY LABEL", print_label_limits),
                     COLUMN("WAITING", "waiting", .form = COLUMN_NUMBER),
                     COLUMN("NOTES", "notes"),
                     {0},
                 },
             .none = "no groups; make one: peal group set db-backup --cluster 3"},
    .print = print_group,
};

static const struct option_row name[] = {
    ARGUMENT(request, doc.name, "NAME", .complete = COMPLETE_GROUPS),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "group set",
        .summary = "make a group, or set its limits anew",
        .notes = "What is set takes the place of what was there. A lower limit ends nothing: "
                 "what is under way goes on, and nothing new starts until there is room. A name "
                 "that ends with a slash is that of a namespace: all jobs below it are counted.",
        .arguments = name,
        .options = set_options,
        .wrong_count = "name one group",
        .with_agent = set,
        .documents = &form,
    },
    DOC_SHOW(&form, "group", name, "one group: its limits, what is under way, what waits"),
    DOC_LIST(&form, "group", "all groups"),
    DOC_DELETE(&form, "group", name, "delete a group; exit status 4: it is in use"),
    {0},
};

const struct command cmd_group = {
    .name = "group",
    .summary = "how many runs may be under way at the same time",
    .examples = EXAMPLES({"peal group set db-backup --cluster 3 --node 1", NULL},
                         {"peal group set db-backup --label zone=2 --label zone=eu:4",
                          "two in each zone, four in the zone eu"},
                         {"peal group set shop/ --cluster 20",
                          "of all jobs in the namespace shop, which do not name it"},
                         {"peal add dump '0 3 * * *' --group db-backup -- dump", NULL},
                         {"peal group show db-backup", NULL}),
    .more = "docs/GROUPS.md says who goes first, and how long a run waits.",
    .options = client_options,
    .too_few = "what about groups? peal group list, show, set or delete",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
