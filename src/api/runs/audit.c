/* The audit trail, newest first. Changes of accounts are for admins only. */
#include <string.h>

#include "auth/visible.h"
#include "definition/definition_diff.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "server.h"

enum { PAGE = 50, PAGE_MAX = 1000 };

static json_t *encode_definition(const char *stored, enum secrets secrets)
{
    return stored ? show_definition(stored, secrets) : json_null();
}

static json_t *encode_change(const struct call *call, const struct change_record *change)
{
    bool has_job = !id_is_zero(&change->job_uid);
    enum secrets secrets = call_secrets(call, has_job ? change->job_name : NULL);
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:o, s:s, s:{s:s, s:o}, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
        json_id(&change->id), "at", json_tick(change->at_ms), "actor",
        json_words_or_null(change->actor), "via", change_via_name(change->via), "address",
        json_words_or_null(change->address), "request_id", json_words_or_null(change->request_id),
        "action", change_action_name(change->action), "target", "kind",
        change_target_name(change->target_kind), "name", json_words(change->target), "job",
        json_words_or_null(change->job_name), "job_uid",
        has_job ? json_id(&change->job_uid) : json_null(), "revision",
        change->revision ? json_integer(change->revision) : json_null(), "detail",
        json_words_or_null(change->detail), "before", encode_definition(change->before, secrets),
        "after", encode_definition(change->after, secrets));
}

static void reply_audit(struct call *call)
{
    const struct history_changes *page = &call->changes;
    json_t *items = json_array();
    if (call->answer != OK) {
        json_decref(items);
        call_fail_history(call, call->answer);
        return;
    }
    for (size_t i = 0; i < page->count && items; i++) {
        if (json_array_append_new(items, encode_change(call, &page->items[i])) != 0) {
            json_decref(items);
            items = NULL;
        }
    }
    call_reply(call, 200,
               add_absent(json_pack("{s:o, s:o}", "items", items, "next",
                                    page->more ? cursor_of_id(&page->next) : json_null()),
                          &page->absent));
}

/* ---- what the query asks for ---- */

static uint64_t visible_actions(const struct call *call)
{
    uint64_t actions = 0;
    for (int i = 0; i < CHANGE_ACTIONS; i++) {
        if (!change_action_is_private((enum change_action)i) ||
            scope_may(&call->principal.scope, RIGHT_ADMIN, NULL))
            actions |= UINT64_C(1) << i;
    }
    return actions;
}

static void fail_action(struct call *call, const char *name)
{
    struct strbuf known;
    strbuf_init(&known);
    for (int i = 0; i < CHANGE_ACTIONS; i++)
        strbuf_addf(&known, "%s%s", i ? ", " : "", change_action_name((enum change_action)i));
    call_fail_word(call, "?action", name, known.text,
                   "action: there is no action \"%s\"; known: %s", name, known.text);
    strbuf_release(&known);
}

/* A list with commas. False: the call has failed. */
static bool read_actions(struct call *call, uint64_t *ret)
{
    const char *text = query_get(&call->query, "action");
    uint64_t actions = 0;
    while (text && *text) {
        char name[32];
        enum change_action action;
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof(name), "%.*s", (int)(length < 31 ? length : 31), text);
        if (change_action_by_name(name, &action) != OK) {
            fail_action(call, name);
            return false;
        }
        actions |= UINT64_C(1) << action;
        text += length;
        text += *text == ',';
    }
    *ret = actions;
    return true;
}

static const char *text_param(const struct call *call, const char *name)
{
    const char *text = query_get(&call->query, name);
    return text && *text ? text : NULL;
}

void list_audit(struct call *call)
{
    struct change_query *query = &call->changes.query;
    uint64_t actions = 0;
    int64_t limit = PAGE;
    *query = (struct change_query){
        .actor = text_param(call, "actor"),
        .text = text_param(call, "q"),
        .with_definitions = true,
    };
    call_select_job(call, text_param(call, "job"), &query->job_uid, &query->job_name);
    if (!read_actions(call, &actions) || !param_time(call, "since", zone_utc(), &query->since_ms) ||
        !param_time(call, "until", zone_utc(), &query->until_ms) ||
        !param_number(call, "limit", 1, PAGE_MAX, &limit) || !param_id_cursor(call, &query->before))
        return;
    query->limit = (size_t)limit;
    query->actions = visible_actions(call) & (actions ? actions : UINT64_MAX);
    if (query->actions)
        call_read_changes(call, reply_audit);
    else
        call_may(call, RIGHT_ADMIN); /* fails the call */
}
