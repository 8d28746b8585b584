/* peal maintenance: spans of time in which nothing is started by its schedule. */
#include <stdio.h>
#include <string.h>

#include "cli/listing.h"
#include "client/client.h"
#include "client/quiet/maintenance.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *id, *space, *reason;
    struct when_text from, to;
    int64_t for_s;
    enum output output;
};

static enum exit_code add(struct client *client, void *place)
{
    struct request *request = place;
    struct strbuf end;
    int64_t from_ms = now_ms();
    if (!request->to.text[0] == !request->for_s)
        return cli_usage(request->base.command, "until when? --to T, or --for D");
    if (request->from.text[0] && !when_parse(request->from.text, &from_ms))
        return cli_fail(E_INVALID);
    strbuf_init(&end);
    if (request->for_s)
        when_print_api(from_ms + request->for_s * 1000, &end);
    else
        strbuf_adds(&end, request->to.text);
    const char *from = request->from.text[0] ? request->from.text : NULL;
    json_t *body = json_pack("{s:s*, s:s, s:s*, s:s*}", "from", from, "to", end.text, "namespace",
                             request->space, "reason", request->reason);
    enum exit_code code = maintenance_post(client, body);
    strbuf_release(&end);
    return code;
}

static enum exit_code take_away(struct client *client, void *place)
{
    const struct request *request = place;
    struct strbuf path;
    struct reply reply = {0};
    strbuf_init(&path);
    strbuf_adds(&path, "/maintenance/");
    url_escape(&path, request->id);
    enum exit_code code = client_call(
        client, &(struct client_request){.method = "DELETE", .path = path.text}, &reply);
    bool was_coming = strcmp(answer_text(reply.body, "state"), "coming") == 0;
    if (code == EXIT_OK)
        fprintf(stderr, "%s\n", tr(was_coming ? TR("removed") : TR("ended")));
    reply_release(&reply);
    strbuf_release(&path);
    return code;
}

/* ---- list ---- */

static void print_space(const json_t *item, struct strbuf *out)
{
    const char *space = answer_text(item, "namespace");
    strbuf_adds(out, *space ? space : "*");
}

/* Kinds: TR("pause"), TR("maintenance"); states: TR("coming"), TR("active"), TR("over"). */
static void print_kind(const json_t *item, struct strbuf *out)
{
    strbuf_adds(out, tr(answer_text(item, "kind")));
}

static void print_state(const json_t *item, struct strbuf *out)
{
    strbuf_adds(out, tr(answer_text(item, "state")));
}

static const struct list_form form = {
    .name = "id",
    .columns =
        (const struct list_column[]){
            COLUMN("ID", "id"),
            COLUMN_BY("KIND", print_kind),
            COLUMN_BY("STATE", print_state),
            COLUMN_BY("NAMESPACE", print_space),
            COLUMN("FROM", "from", .form = COLUMN_TIME),
            COLUMN("TO", "to", .form = COLUMN_TIME),
            COLUMN("SET BY", "set_by"),
            COLUMN("REASON", "reason"),
            {0},
        },
    .none = "no maintenance; add some: peal maintenance add --for 2h --reason 'new disks'",
};

static enum exit_code list(struct client *client, void *place)
{
    const struct request *request = place;
    return list_show(client, "/maintenance", request->output, &form);
}

/* ---- the command ---- */

static const struct option_row add_options[] = {
    OPTION_WHEN(request, from, "from", "when it begins (default: now)"),
    OPTION_WHEN(request, to, "to", "when it ends"),
    OPTION_DURATION(request, for_s, "for", "or how long it takes"),
    OPTION_TEXT(request, space, 0, "namespace", "NS",
                "only the jobs of this namespace (default: all of the cluster)"),
    OPTION_TEXT(request, reason, 0, "reason", "TEXT", "what it is for: the ledger says it"),
    OPTION_GROUP(request, base, client_options),
    {0},
};

static const struct command subcommands[] = {
    {
        .name = "maintenance add",
        .summary = "start nothing by its schedule in this time",
        .notes = "Ticks that are due in this time are skipped (maintenance). What is running goes "
                 "on; peal run still starts a job. "
                 "T is an RFC 3339 time or a local time like '2027-01-01 08:00'.",
        .options = add_options,
        .too_many = "peal maintenance add takes options only",
        .with_agent = add,
    },
    {
        .name = "maintenance list",
        .summary = "maintenance and pauses: to come, active, and those of the last days",
        .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .too_many = "peal maintenance list takes no name",
        .with_agent = list,
    },
    {
        .name = "maintenance remove",
        .summary = "end maintenance now, or remove what has not begun",
        .arguments = ROWS(ARGUMENT(request, id, "ID")),
        .options = client_options,
        .wrong_count = "give one ID of peal maintenance list",
        .with_agent = take_away,
    },
    {0},
};

const struct command cmd_maintenance = {
    .name = "maintenance",
    .summary = "times in which nothing is started by its schedule",
    .examples = EXAMPLES({"peal maintenance add --for 2h --reason 'new disks'", NULL},
                         {"peal maintenance add --from '2027-01-02 22:00' --to '2027-01-03 02:00' "
                          "--namespace shop",
                          NULL},
                         {"peal maintenance list", NULL}),
    .more = "Until somebody ends it: peal pause --cluster, or --namespace NS.",
    .options = client_options,
    .too_few = "what about maintenance? peal maintenance add, list or remove",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
