#include "gather_merge.h"

#include <stdlib.h>
#include <string.h>

#include "history_internal.h"

void gather_answer_release(enum history_request_kind kind, union gather_answer *answer)
{
    switch (kind) {
    case HISTORY_READ:
        history_read_release(&answer->read);
        break;
    case HISTORY_LOG:
        history_log_release(&answer->log);
        break;
    case HISTORY_STATS:
        history_stats_release(&answer->stats);
        break;
    case HISTORY_CHANGES:
        history_changes_release(&answer->changes);
        break;
    case HISTORY_APPEND:
    case HISTORY_PRUNE:
        break;
    }
}

/* ---- runs ---- */

enum status gather_merge_read(union gather_answer *answers, size_t count,
                              struct history_read *request)
{
    struct page_part *parts = calloc(count, sizeof(*parts));
    if (!parts)
        return E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct history_read *read = &answers[i].read;
        parts[i] = (struct page_part){
            .rows = read->rows, .count = read->count, .more = read->more, .horizon = read->next};
    }
    enum status st = page_merge(parts, count, request);
    free(parts);
    return st;
}

/* A node that was taken for dead may have recorded the real end of its run, with the output, while
 * another one has it as lost. */
static bool knows_better(const struct history_log *log, const struct history_log *than)
{
    struct history_row row = {.run = log->run}, other = {.run = than->run};
    if (!log->found || !than->found)
        return log->found;
    return history_row_gives_way(&other, &row) && !history_row_gives_way(&row, &other);
}

void gather_merge_log(union gather_answer *answers, size_t count, struct history_log *request)
{
    struct history_log *best = &answers[0].log;
    for (size_t i = 1; i < count; i++) {
        if (knows_better(&answers[i].log, best))
            best = &answers[i].log;
    }
    request->found = best->found;
    request->is_spooled = best->is_spooled;
    request->run = best->run;
    request->kept_bytes = best->kept_bytes;
    request->chunks = best->chunks;
    request->count = best->count;
    request->input = best->input;
    best->chunks = NULL;
    best->count = 0;
    best->input = NULL;
}

/* ---- statistics ---- */

static void add_row(struct history_stats_row *to, const struct history_stats_row *row)
{
    for (int i = 0; i < RUN_STATES; i++)
        to->ends[i] += row->ends[i];
    for (int i = 0; i < HISTORY_BUCKETS; i++)
        to->buckets[i] += row->buckets[i];
    if (row->timed && (!to->timed || row->duration_min_ms < to->duration_min_ms))
        to->duration_min_ms = row->duration_min_ms;
    if (row->timed && (!to->timed || row->duration_max_ms > to->duration_max_ms))
        to->duration_max_ms = row->duration_max_ms;
    to->timed += row->timed;
    to->duration_sum_ms += row->duration_sum_ms;
    to->punctual += row->punctual;
    to->late_sum_ms += row->late_sum_ms;
}

static int oldest_first(const void *a, const void *b)
{
    const struct history_stats_row *one = a, *other = b;
    return (one->from_ms > other->from_ms) - (one->from_ms < other->from_ms);
}

enum status gather_merge_stats(union gather_answer *answers, size_t count,
                               struct history_stats *request)
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        all += answers[i].stats.count;
    struct history_stats_row *rows = calloc(all + 1, sizeof(*rows));
    if (!rows)
        return E_NOMEM;
    all = 0;
    for (size_t i = 0; i < count; i++) {
        const struct history_stats *stats = &answers[i].stats;
        if (stats->count)
            memcpy(rows + all, stats->rows, stats->count * sizeof(*rows));
        all += stats->count;
    }
    qsort(rows, all, sizeof(*rows), oldest_first);
    for (size_t i = 0; i < all; i++) {
        if (kept && rows[kept - 1].from_ms == rows[i].from_ms)
            add_row(&rows[kept - 1], &rows[i]);
        else
            rows[kept++] = rows[i];
    }
    request->rows = rows;
    request->count = kept;
    return OK;
}

/* ---- changes ---- */

/* Newest first, over all answers. */
struct change_walk {
    union gather_answer *answers;
    size_t count;
    size_t *taken;
};

static struct change_record *newest_change(const struct change_walk *walk, size_t *ret_of)
{
    struct change_record *newest = NULL;
    for (size_t i = 0; i < walk->count; i++) {
        struct history_changes *changes = &walk->answers[i].changes;
        if (walk->taken[i] == changes->count)
            continue;
        struct change_record *next = &changes->items[walk->taken[i]];
        if (!newest || id_compare(&next->id, &newest->id) > 0) {
            newest = next;
            *ret_of = i;
        }
    }
    return newest;
}

static struct id change_horizon(const struct change_walk *walk)
{
    struct id horizon = {{0}};
    for (size_t i = 0; i < walk->count; i++) {
        const struct history_changes *changes = &walk->answers[i].changes;
        if (changes->more && id_compare(&changes->next, &horizon) > 0)
            horizon = changes->next;
    }
    return horizon;
}

static void fill_changes(const struct change_walk *walk, struct changes_page *page)
{
    struct id horizon = change_horizon(walk), last = {{0}};
    size_t of;
    for (struct change_record *change; (change = newest_change(walk, &of)); walk->taken[of]++) {
        if (id_compare(&change->id, &horizon) < 0)
            break;
        if (id_compare(&change->id, &last) == 0)
            continue; /* recorded twice: the records are equal */
        last = change->id;
        if (!changes_page_add(page, change))
            return;
    }
    if (!id_is_zero(&horizon))
        changes_page_stop(page, &horizon);
}

enum status gather_merge_changes(union gather_answer *answers, size_t count,
                                 struct history_changes *request)
{
    struct change_walk walk = {answers, count, calloc(count, sizeof(*walk.taken))};
    struct changes_page page;
    enum status st = walk.taken ? changes_page_init(&page, &request->query) : E_NOMEM;
    if (st == OK) {
        fill_changes(&walk, &page);
        st = changes_page_end(&page, OK, request);
    }
    free(walk.taken);
    return st;
}
