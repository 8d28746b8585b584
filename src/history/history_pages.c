/* Merges rows from several sources, each complete down to its horizon, into one page. */
#include <stdlib.h>

#include "history_internal.h"

/* The part with the newest row that is not on the page yet. */
static struct page_part *newest_of(struct page_part *parts, size_t count)
{
    struct page_part *from = NULL;
    for (size_t i = 0; i < count; i++) {
        struct page_part *part = &parts[i];
        if (part->taken < part->count &&
            (!from || id_compare(history_row_id(&part->rows[part->taken]),
                                 history_row_id(&from->rows[from->taken])) > 0))
            from = part;
    }
    return from;
}

/* Whether the page already ends with the same id; then the better of the two records stays. */
static bool replaces_last(const struct history_row *row, struct history_read *read)
{
    struct history_row *last = read->count ? &read->rows[read->count - 1] : NULL;
    if (!last || id_compare(history_row_id(last), history_row_id(row)) != 0)
        return false;
    if (history_row_gives_way(last, row))
        *last = *row;
    return true;
}

/* read->rows has room for query.limit rows and is empty. */
static void fill_page(struct page_part *parts, size_t count, struct history_read *read)
{
    struct id horizon = {{0}};
    for (size_t i = 0; i < count; i++) {
        if (parts[i].more && id_compare(&parts[i].horizon, &horizon) > 0)
            horizon = parts[i].horizon;
    }
    read->more = false;
    while (!read->more) {
        struct page_part *from = newest_of(parts, count);
        const struct history_row *newest = from ? &from->rows[from->taken] : NULL;
        if (!newest || id_compare(history_row_id(newest), &horizon) < 0) {
            read->more = !id_is_zero(&horizon);
            read->next = horizon;
            return;
        }
        if (replaces_last(newest, read)) {
            from->taken++;
            continue;
        }
        read->more = read->count == read->query.limit;
        if (!read->more) {
            read->rows[read->count++] = *newest;
            read->next = *history_row_id(newest);
            from->taken++;
        }
    }
}

enum status page_merge(struct page_part *parts, size_t count, struct history_read *read)
{
    struct history_read page = {.query = read->query};
    page.rows = calloc(page.query.limit, sizeof(*page.rows));
    if (!page.rows)
        return E_NOMEM;
    fill_page(parts, count, &page);
    read->rows = page.rows;
    read->count = page.count;
    read->more = page.more;
    read->next = page.next;
    return OK;
}
