/* Changes: inserted once, read newest first. A document has the columns of history_columns.h,
 * `_id`, `job_uid`, and the definitions `before` and `after` if there are any. */
#include <stdlib.h>
#include <string.h>

#include "mongo/history_mongo_internal.h"

/* ---- appends ---- */

static enum status add_change(bson_t *to, const struct change_record *change)
{
    mongo_add_id(to, "_id", &change->id);
    mongo_add_id(to, "job_uid", &change->job_uid);
    enum status st = mongo_add_columns(to, TABLE_CHANGES, change);
    if (st == OK && change->before)
        st = mongo_add_text(to, "before", change->before, strlen(change->before));
    if (st == OK && change->after)
        st = mongo_add_text(to, "after", change->after, strlen(change->after));
    return st;
}

/* Changes that are stored already stay unchanged. */
enum status mongo_write_changes(struct mongo_link *link, const struct history_append *append)
{
    mongoc_bulk_operation_t *bulk = mongo_bulk(link, MONGO_CHANGES);
    bson_error_t error;
    size_t count = 0;
    enum status st = OK;
    for (size_t i = 0; i < append->count && st == OK; i++) {
        bson_t document = BSON_INITIALIZER;
        if (append->records[i].change) {
            st = add_change(&document, append->records[i].change);
            if (st == OK && !mongoc_bulk_operation_insert_with_opts(bulk, &document, NULL, &error))
                st = mongo_fail(link, &error);
            count++;
        }
        bson_destroy(&document);
    }
    if (st == OK && count)
        return mongo_bulk_do(link, bulk, NULL, NULL);
    mongoc_bulk_operation_destroy(bulk);
    return st;
}

/* ---- pages ---- */

/* The filters that an index covers: the index by job, job name or actor ends in the id. */
static void add_indexed(bson_t *to, const struct change_query *query, const struct id_span *span)
{
    bson_t bounds;
    if (!id_is_zero(&query->job_uid))
        mongo_add_id(to, "job_uid", &query->job_uid);
    else if (query->job_name)
        BSON_APPEND_UTF8(to, "job_name", query->job_name);
    else if (query->actor)
        BSON_APPEND_UTF8(to, "actor", query->actor);
    BSON_APPEND_DOCUMENT_BEGIN(to, "_id", &bounds);
    mongo_add_id(&bounds, "$gte", &span->from);
    mongo_add_id(&bounds, "$lt", &span->below);
    bson_append_document_end(to, &bounds);
}

/* Actions with the text in their names. */
static uint64_t named_actions(const char *text)
{
    uint64_t actions = 0;
    for (int action = 0; action < CHANGE_ACTIONS; action++) {
        if (strcasestr(change_action_name((enum change_action)action), text))
            actions |= UINT64_C(1) << action;
    }
    return actions;
}

static void add_others(bson_t *to, const struct change_query *query)
{
    static const char *const texts[] = {"actor", "target", "job_name", "address", "detail", NULL};
    bool by_uid = !id_is_zero(&query->job_uid);
    if (by_uid && query->job_name)
        BSON_APPEND_UTF8(to, "job_name", query->job_name);
    if ((by_uid || query->job_name) && query->actor)
        BSON_APPEND_UTF8(to, "actor", query->actor);
    if (query->actions)
        mongo_add_set(to, "action", query->actions);
    if (query->revision)
        BSON_APPEND_INT64(to, "revision", query->revision);
    if (query->text)
        mongo_add_text_search(to, query->text, texts, "action", named_actions(query->text));
}

static enum status take_text(const bson_t *document, const char *key, char **ret)
{
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, document, key) || !BSON_ITER_HOLDS_UTF8(&iter))
        return OK;
    *ret = strdup(bson_iter_utf8(&iter, NULL));
    return *ret ? OK : E_NOMEM;
}

static enum status load_change(const bson_t *document, struct change_record *ret)
{
    *ret = (struct change_record){.id = mongo_get_id(document, "_id"),
                                  .job_uid = mongo_get_id(document, "job_uid")};
    ret->at_ms = history_id_made_ms(&ret->id);
    mongo_load_columns(document, TABLE_CHANGES, ret);
    enum status st = take_text(document, "before", &ret->before);
    return st == OK ? take_text(document, "after", &ret->after) : st;
}

/* Adds the matching changes from below span->below down to span->from until the page is full. */
static enum status find_changes(struct mongo_link *link, const struct id_span *span,
                                struct changes_page *page)
{
    const struct change_query *query = &page->answer.query;
    struct mongo_cursor cursor;
    const bson_t *document;
    bson_t filter = BSON_INITIALIZER;
    bson_t *opts = mongo_opts("_id", -1, (int64_t)(query->limit + 1 - page->answer.count));
    if (!query->with_definitions)
        BCON_APPEND(opts, "projection", "{", "before", BCON_INT32(0), "after", BCON_INT32(0), "}");
    add_indexed(&filter, query, span);
    add_others(&filter, query);
    mongo_find(link, MONGO_CHANGES, &filter, opts, &cursor);
    enum status st = OK;
    while (!page->answer.more && (st = mongo_next(&cursor, &document)) == OK) {
        struct change_record change;
        st = load_change(document, &change);
        if (st == OK && history_change_matches(query, &change))
            (void)changes_page_add(page, &change);
        change_record_release(&change);
        if (st != OK)
            break;
    }
    mongo_cursor_release(&cursor);
    bson_destroy(&filter);
    bson_destroy(opts);
    return st == E_NOT_FOUND ? OK : st;
}

static bool is_indexed(const struct change_query *query)
{
    int exact = !id_is_zero(&query->job_uid) + !!query->job_name + !!query->actor;
    return exact <= 1 && !query->text && !query->actions && !query->revision;
}

static enum status search_in_steps(struct mongo_link *link, struct changes_page *page)
{
    const struct change_query *query = &page->answer.query;
    struct id_span span = history_change_span(query);
    const struct id from = span.from;
    int64_t visited = 0, visits = MONGO_VISITS_FIRST;
    bool end = is_indexed(query);
    enum status st = end ? find_changes(link, &span, page) : OK;
    while (st == OK && !end && !page->answer.more && visited < MONGO_VISITS_MAX) {
        bson_t filter = BSON_INITIALIZER;
        span.from = from;
        add_indexed(&filter, query, &span);
        st = mongo_find_nth(link, MONGO_CHANGES, &filter, visits, &span.from);
        bson_destroy(&filter);
        end = id_is_zero(&span.from);
        if (end)
            span.from = from;
        if (st == OK)
            st = find_changes(link, &span, page);
        span.below = span.from;
        visited += visits;
        visits *= 10;
    }
    if (st == OK && !end && !page->answer.more)
        changes_page_stop(page, &span.below);
    return st;
}

enum status mongo_read_changes(struct mongo_link *link, struct history_changes *changes)
{
    struct changes_page page;
    enum status st = changes_page_init(&page, &changes->query);
    if (st == OK)
        st = search_in_steps(link, &page);
    return changes_page_end(&page, st, changes);
}
