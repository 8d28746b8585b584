/* peal audit: who changed what. */
#include <string.h>

#include "cli/listing.h"
#include "cli/when.h"
#include "print/state_words.h"
#include "text/tr.h"

struct request {
    struct list_request list;
    const char *query, *actor, *action;
};

static const struct option_row options[] = {
    OPTION_TEXT(request, query, 'q', "query", "S", "text in user, action, job, address or detail",
                .field = "q"),
    OPTION_TEXT(request, list.job, 0, "job", "NAME", "changes of this job", .field = "job",
                .complete = COMPLETE_JOBS),
    OPTION_TEXT(request, actor, 0, "actor", "NAME", "changes by this user", .field = "actor"),
    OPTION_TEXT(
        request, action, 0, "action", "A,...",
        "create, change, rename, delete, undelete, pause, resume, skip_next, rollback, run, "
        "retry, kill, backfill, drain, undrain, calendar_create, calendar_change, "
        "calendar_delete, login, ...",
        .field = "action"),
    OPTION_GROUP(request, list, list_options),
    {0},
};

/* ---- the table ---- */

/* "job backup"; of a run its job, too: "run 01J... of backup". */
static void print_target(const json_t *change, struct strbuf *out)
{
    const json_t *target = json_object_get(change, "target");
    const char *name = answer_text(target, "name"), *job = answer_text(change, "job");
    strbuf_addf(out, "%s %s", kind_word(answer_text(target, "kind")), name);
    if (*job && strcmp(job, name) != 0)
        strbuf_addf(out, tr(" of %s"), job);
}

static void print_action(const json_t *change, struct strbuf *out)
{
    strbuf_adds(out, action_word(answer_text(change, "action")));
}

static enum exit_code show(struct client *client, void *place)
{
    const struct list_request *request = place;
    static const struct list_column columns[] = {
        COLUMN("AT", "at", .form = COLUMN_TIME),
        COLUMN("BY", "actor"),
        COLUMN("VIA", "via"),
        COLUMN("FROM", "address"),
        COLUMN_BY("ACTION", print_action),
        COLUMN_BY("TARGET", print_target),
        COLUMN("REVISION", "revision", .form = COLUMN_NUMBER_IF),
        COLUMN("DETAIL", "detail"),
        COLUMN("REQUEST", "request_id", .is_wide = true),
        {0},
    };
    static const struct list_form form = {.name = "id", .columns = columns, .none = "no changes"};
    struct strbuf path;
    json_t *changes = NULL;
    strbuf_init(&path);
    enum exit_code code = url_query(client, "/audit?", options, request, NULL, &path);
    if (code == EXIT_OK)
        code = client_list(client, path.text, (size_t)request->count, &changes);
    if (code == EXIT_OK)
        code = list_print(changes, request->output, &form);
    json_decref(changes);
    strbuf_release(&path);
    return code;
}

const struct command cmd_audit = {
    .name = "audit",
    .summary = "the audit log: who changed what",
    .examples = EXAMPLES({"peal audit", NULL}, {"peal audit --job backup --since 7d", NULL},
                         {"peal audit --actor ann --action delete,rollback", NULL},
                         {"peal audit -q 192.0.2.7 -o json | jq '.[].after.command'", NULL}),
    .notes = "Newest first. -o json includes the definitions before and after each change.",
    .more = WHEN_TEXT,
    .options = options,
    .too_many = "unexpected \"%s\"; a job goes with --job",
    .request_size = sizeof(struct request),
    .defaults = &(const struct request){.list.count = LIST_COUNT_DEFAULT},
    .with_agent = show,
};
