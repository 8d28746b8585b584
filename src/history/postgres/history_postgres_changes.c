/* Changes: inserted once, read newest first along the index of the query's first filter. */
#include <stdlib.h>
#include <string.h>

#include "postgres/history_postgres_internal.h"

/* Changes whose definitions are fetched in one statement: each has about a megabyte at most. */
enum { DEFINITIONS_AT_ONCE = 10 };

/* ---- appends ---- */

/* Adds a value of one of the columns before table_columns. */
static void add_head(struct params *params, const struct change_record *change, int column)
{
    const char *text = column == 2 ? change->before : change->after;
    if (column < 2)
        params_add_id(params, column == 0 ? &change->id : &change->job_uid);
    else
        params_add_text(params, text ? text : "", text ? strlen(text) : 0);
}

static void add_arrays(struct params *params, const struct history_append *append)
{
    static const enum array_type head[] = {ARRAY_ID, ARRAY_ID, ARRAY_TEXT, ARRAY_TEXT};
    const struct column_set columns = table_columns(TABLE_CHANGES);
    const struct column *column = NULL;
    for (int c = 0; c < 4 || (column = column_next(&columns, column)); c++) {
        params_array(params, column ? column_array(column) : head[c]);
        for (size_t i = 0; i < append->count; i++) {
            const struct change_record *change = append->records[i].change;
            if (change && column)
                params_add_column(params, column, change);
            else if (change)
                add_head(params, change, c);
        }
        params_array_end(params);
    }
}

static bool has_changes(const struct history_append *append)
{
    for (size_t i = 0; i < append->count; i++) {
        if (append->records[i].change)
            return true;
    }
    return false;
}

enum status postgres_add_changes(struct postgres_link *link, const struct history_append *append)
{
    struct params params;
    if (!has_changes(append))
        return OK;
    params_init(&params);
    add_arrays(&params, append);
    enum status st = link_do(link, TABLE_CHANGES, SQL_ADD_CHANGES, &params);
    params_release(&params);
    return st;
}

/* ---- pages ---- */

struct search {
    struct postgres_link *link;
    const struct change_query *query;
    enum change_scope scope;
    struct id_span span; /* still to be searched: `below` moves down */
    int64_t visits;      /* rows to examine in the current step */
    struct strbuf text;
};

static void add_scope(const struct search *search, struct params *params)
{
    const struct change_query *query = search->query;
    if (search->scope == CHANGES_JOB)
        params_id(params, &query->job_uid);
    else
        params_text(params, search->scope == CHANGES_JOB_NAME ? query->job_name
                            : search->scope == CHANGES_ACTOR  ? query->actor
                                                              : NULL);
}

static void add_actions(const struct change_query *query, struct params *params)
{
    if (!query->actions) {
        params_null_ints(params);
        return;
    }
    params_array(params, ARRAY_INT);
    for (int action = 0; action < CHANGE_ACTIONS; action++) {
        if (query->actions >> action & 1)
            params_add_int(params, action);
    }
    params_array_end(params);
}

/* Actions with the text in their names. */
static void add_named_actions(const struct change_query *query, struct params *params)
{
    params_array(params, ARRAY_INT);
    for (int action = 0; query->text && action < CHANGE_ACTIONS; action++) {
        if (strcasestr(change_action_name((enum change_action)action), query->text))
            params_add_int(params, action);
    }
    params_array_end(params);
}

static void add_params(const struct search *search, size_t limit, struct params *params)
{
    const struct change_query *query = search->query;
    params_id(params, &search->span.below);
    params_id(params, &search->span.from);
    params_int(params, search->visits);
    params_int(params, (int64_t)limit);
    add_scope(search, params);
    if (id_is_zero(&query->job_uid))
        params_null_id(params);
    else
        params_id(params, &query->job_uid);
    params_text(params, query->job_name);
    params_text(params, query->actor);
    add_actions(query, params);
    if (query->revision)
        params_int(params, query->revision);
    else
        params_null_int(params);
    params_text(params, query->text ? search->text.text : NULL);
    add_named_actions(query, params);
}

static void load_change(const PGresult *result, int row, struct change_record *ret)
{
    *ret = (struct change_record){.before = NULL};
    postgres_load_record(result, row, 2, TABLE_CHANGES, ret);
    ret->at_ms = history_id_made_ms(&ret->id);
}

/* One step of the walk; moves search->span.below down. *ret_end: the walk is at its end. */
static enum status search_step(struct search *search, struct changes_page *page, bool *ret_end)
{
    struct params params;
    PGresult *result = NULL;
    params_init(&params);
    add_params(search, search->query->limit + 1 - page->answer.count, &params);
    enum status st =
        link_run(search->link, TABLE_CHANGES,
                 (enum statement)(SQL_FIND_CHANGES + (int)search->scope), &params, &result);
    params_release(&params);
    if (st != OK)
        return st;
    for (int i = 0; i < PQntuples(result) && !PQgetisnull(result, i, 2); i++) {
        struct change_record change;
        load_change(result, i, &change);
        (void)changes_page_add(page, &change);
    }
    *ret_end = result_int(result, 0, 0) < search->visits;
    if (!*ret_end)
        search->span.below = result_id(result, 0, 1);
    PQclear(result);
    return OK;
}

/* Searches in steps, each of which examines ten times as many rows as the one before. */
static enum status search_page(struct search *search, struct changes_page *page)
{
    bool end = false;
    int64_t visited = 0;
    enum status st = OK;
    search->visits = VISITS_FIRST + 1; /* the largest page and one more */
    while (st == OK && !end && !page->answer.more && visited < VISITS_MAX) {
        st = search_step(search, page, &end);
        visited += search->visits;
        search->visits *= 10;
    }
    if (st == OK && !end && !page->answer.more)
        changes_page_stop(page, &search->span.below);
    return st;
}

/* ---- definitions ---- */

static enum status take_text(const PGresult *result, int row, int column, char **ret)
{
    size_t length;
    const char *text = result_bytes(result, row, column, &length);
    if (!length)
        return OK;
    *ret = strndup(text, length);
    return *ret ? OK : E_NOMEM;
}

/* Loads the definitions of consecutive changes of a page. */
static enum status load_definitions(struct postgres_link *link, struct change_record *items,
                                    size_t count)
{
    struct params params;
    PGresult *result = NULL;
    params_init(&params);
    params_array(&params, ARRAY_ID);
    for (size_t i = 0; i < count; i++)
        params_add_id(&params, &items[i].id);
    params_array_end(&params);
    enum status st = link_run(link, TABLE_CHANGES, SQL_DEFINITIONS, &params, &result);
    params_release(&params);
    if (st == OK && PQntuples(result) != (int)count)
        st = link_refuse(link, E_CORRUPT, "changes are missing that it has just listed.");
    for (int i = 0; i < (int)count && st == OK; i++) {
        st = take_text(result, i, 0, &items[i].before);
        if (st == OK)
            st = take_text(result, i, 1, &items[i].after);
    }
    PQclear(result);
    return st;
}

/* Moves the changes found to `page` with their definitions, until the page is full. */
static enum status define_page(struct postgres_link *link, const struct changes_page *found,
                               struct changes_page *page)
{
    const struct history_changes *from = &found->answer;
    enum status st = OK;
    for (size_t at = 0; at < from->count && st == OK && !page->answer.more;) {
        struct change_record *items = &from->items[at];
        size_t left = from->count - at;
        size_t count = left < DEFINITIONS_AT_ONCE ? left : DEFINITIONS_AT_ONCE;
        st = load_definitions(link, items, count);
        for (size_t i = 0; i < count && st == OK && !page->answer.more; i++)
            (void)changes_page_add(page, &items[i]);
        at += count;
    }
    if (st == OK && !page->answer.more && from->more)
        changes_page_stop(page, &from->next);
    return st;
}

static enum change_scope scope_of(const struct change_query *query)
{
    return !id_is_zero(&query->job_uid) ? CHANGES_JOB
           : query->job_name            ? CHANGES_JOB_NAME
           : query->actor               ? CHANGES_ACTOR
                                        : CHANGES_ALL;
}

static enum status find_page(struct postgres_link *link, const struct change_query *query,
                             struct changes_page *page)
{
    struct search search = {
        .link = link, .query = query, .scope = scope_of(query), .span = history_change_span(query)};
    strbuf_init(&search.text);
    postgres_add_lower(query->text, &search.text);
    enum status st = strbuf_status(&search.text);
    if (st == OK)
        st = search_page(&search, page);
    strbuf_release(&search.text);
    return st;
}

/* Several statements in one transaction, which see the same snapshot. */
enum status postgres_read_changes(struct postgres_link *link, struct history_changes *changes)
{
    const struct change_query *query = &changes->query;
    struct changes_page found, page = {.bytes = 0};
    enum status st = changes_page_init(&found, query);
    if (st == OK)
        st = link_command(link, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL);
    if (st == OK)
        st = find_page(link, query, &found);
    if (st == OK && query->with_definitions) {
        st = changes_page_init(&page, query);
        if (st == OK)
            st = define_page(link, &found, &page);
    }
    if (st == OK)
        st = link_command(link, "COMMIT", NULL);
    if (st != OK || query->with_definitions)
        history_changes_release(&found.answer);
    return changes_page_end(query->with_definitions ? &page : &found, st, changes);
}
