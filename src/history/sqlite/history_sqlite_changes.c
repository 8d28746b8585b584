/* Changes: inserted once, read newest first along the index of the query's first filter. */
#include <stdlib.h>
#include <string.h>

#include "sqlite/history_sqlite.h"

enum { VISITS_MAX = 100 * 1000 }; /* rows that one search examines at most */

enum status changes_write(struct database *database, const struct change_record *change)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_CHANGES, SQL_ADD_CHANGE, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, &change->id);
    bind_id(stmt, 2, &change->job_uid);
    sqlite3_bind_text(stmt, 3, change->before ? change->before : "", -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 4, change->after ? change->after : "", -1, SQLITE_STATIC);
    bind_columns(stmt, 5, TABLE_CHANGES, change);
    return statement_done(stmt);
}

/* ---- pages ---- */

static enum status open_walk(struct database *database, const struct change_query *query,
                             sqlite3_stmt **ret)
{
    struct id_span span = history_change_span(query);
    bool by_uid = !id_is_zero(&query->job_uid);
    const char *key = query->job_name ? query->job_name : query->actor;
    int way = by_uid ? 1 : query->job_name ? 2 : query->actor ? 3 : 0;
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_CHANGES,
                                        (enum statement)(SQL_READ_CHANGES + way), &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, &span.below);
    bind_id(stmt, 2, &span.from);
    if (by_uid)
        bind_id(stmt, 3, &query->job_uid);
    else if (key)
        sqlite3_bind_text(stmt, 3, key, -1, SQLITE_TRANSIENT);
    *ret = stmt;
    return OK;
}

/* Loads all but the definitions; returns the number of the column with the first definition. */
static int load_change(sqlite3_stmt *stmt, struct change_record *ret)
{
    *ret = (struct change_record){.before = NULL};
    int place = read_record(stmt, TABLE_CHANGES, ret);
    ret->at_ms = history_id_made_ms(&ret->id);
    return place;
}

static enum status load_text(sqlite3_stmt *stmt, int place, char **ret)
{
    const char *text = (const char *)sqlite3_column_text(stmt, place);
    if (!text)
        return E_NOMEM;
    *ret = *text ? strdup(text) : NULL;
    return *text && !*ret ? E_NOMEM : OK;
}

static enum status load_definitions(sqlite3_stmt *stmt, int place, struct change_record *change)
{
    enum status st = load_text(stmt, place, &change->before);
    return st == OK ? load_text(stmt, place + 1, &change->after) : st;
}

static enum status fill_page(sqlite3_stmt *stmt, struct changes_page *page)
{
    const struct change_query *query = &page->answer.query;
    enum status st = OK;
    for (size_t visits = 1; !page->answer.more && (st = statement_row(stmt)) == OK; visits++) {
        struct change_record change;
        int place = load_change(stmt, &change);
        if (history_change_matches(query, &change)) {
            st = query->with_definitions ? load_definitions(stmt, place, &change) : OK;
            if (st == OK)
                (void)changes_page_add(page, &change);
            change_record_release(&change);
        }
        if (st != OK)
            break;
        if (!page->answer.more && visits == VISITS_MAX)
            changes_page_stop(page, &change.id);
    }
    return st == E_NOT_FOUND ? OK : st;
}

enum status changes_read(struct database *database, struct history_changes *changes)
{
    struct changes_page page;
    sqlite3_stmt *stmt = NULL;
    enum status st = changes_page_init(&page, &changes->query);
    if (st == OK)
        st = open_walk(database, &changes->query, &stmt);
    if (st == OK)
        st = fill_page(stmt, &page);
    sqlite3_reset(stmt);
    return changes_page_end(&page, st, changes);
}
