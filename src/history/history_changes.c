/* Matching changes against a query and filling a page of them, for all backends. */
#include <stdlib.h>
#include <string.h>

#include "history_internal.h"

static bool has_text(const struct change_record *change, const char *text)
{
    return strcasestr(change->actor, text) || strcasestr(change->target, text) ||
           strcasestr(change->job_name, text) || strcasestr(change->address, text) ||
           strcasestr(change->detail, text) || strcasestr(change_action_name(change->action), text);
}

/* An unknown action, recorded by a newer peal, matches no set of actions. */
static bool is_in(uint64_t actions, enum change_action action)
{
    return action < CHANGE_ACTIONS && actions >> action & 1;
}

bool history_change_matches(const struct change_query *query, const struct change_record *change)
{
    return (id_is_zero(&query->job_uid) || id_compare(&query->job_uid, &change->job_uid) == 0) &&
           (!query->job_name || strcmp(query->job_name, change->job_name) == 0) &&
           (!query->actor || strcmp(query->actor, change->actor) == 0) &&
           (!query->actions || is_in(query->actions, change->action)) &&
           (!query->revision || query->revision == change->revision) &&
           (!query->since_ms || change->at_ms >= query->since_ms) &&
           (!query->until_ms || change->at_ms < query->until_ms) &&
           (!query->text || has_text(change, query->text));
}

struct id_span history_change_span(const struct change_query *query)
{
    struct id_span span = {.below = query->before};
    if (id_is_zero(&query->before))
        memset(span.below.bytes, 255, sizeof(span.below.bytes));
    if (query->since_ms)
        span.from = history_id_at(query->since_ms);
    if (query->until_ms) {
        struct id until = history_id_at(query->until_ms);
        if (id_compare(&until, &span.below) < 0)
            span.below = until;
    }
    return span;
}

/* ---- pages ---- */

enum status changes_page_init(struct changes_page *page, const struct change_query *query)
{
    *page = (struct changes_page){.answer.query = *query};
    if (query->limit < 1 || query->limit > HISTORY_LIMIT_MAX)
        return E_INVALID;
    page->answer.items = calloc(query->limit, sizeof(*page->answer.items));
    return page->answer.items ? OK : E_NOMEM;
}

bool changes_page_add(struct changes_page *page, struct change_record *change)
{
    struct history_changes *answer = &page->answer;
    size_t bytes = page->bytes + change_record_bytes(change);
    bool is_full = answer->count == answer->query.limit;
    if (is_full || (answer->count && bytes > HISTORY_CHANGES_BYTES)) {
        changes_page_stop(page, &answer->items[answer->count - 1].id);
        return false;
    }
    answer->items[answer->count++] = *change;
    page->bytes = bytes;
    change->before = change->after = NULL;
    return true;
}

void changes_page_stop(struct changes_page *page, const struct id *last)
{
    page->answer.more = true;
    page->answer.next = *last;
}

enum status changes_page_end(struct changes_page *page, enum status st, struct history_changes *ret)
{
    if (st != OK) {
        history_changes_release(&page->answer);
        return st;
    }
    ret->items = page->answer.items;
    ret->count = page->answer.count;
    ret->more = page->answer.more;
    ret->next = page->answer.next;
    return OK;
}

void history_changes_release(struct history_changes *changes)
{
    history_absences_release(&changes->absent);
    for (size_t i = 0; i < changes->count; i++)
        change_record_release(&changes->items[i]);
    free(changes->items);
    changes->items = NULL;
    changes->count = 0;
}
