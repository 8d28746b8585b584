/* Retention, in steps so short that an append never waits long:
 *
 *     AGE -> (NEXT_JOB -> COUNT, of its runs, then of its entries)... -> BYTES -> STATS ->
 *     CHANGES
 *
 * All but NEXT_JOB are repeated until nothing is left to remove. */
#include "mongo/history_mongo_internal.h"

enum { STEP_ROWS = 200 };

/* ---- removing ---- */

/* Their output goes first, so that none is left behind. */
static enum status remove_by_id(struct mongo_link *link, const struct id *ids, size_t count,
                                int64_t *removed)
{
    int64_t gone = 0;
    bson_t of_runs = BSON_INITIALIZER, victims = BSON_INITIALIZER;
    mongo_add_ids(&of_runs, "run", ids, count);
    mongo_add_ids(&victims, "_id", ids, count);
    enum status st = mongo_delete(link, MONGO_OUTPUT, &of_runs, &gone);
    if (st == OK)
        st = mongo_delete(link, MONGO_RUNS, &victims, &gone);
    if (st == OK)
        *removed += gone;
    bson_destroy(&of_runs);
    bson_destroy(&victims);
    return st;
}

/* Documents that match, a step of them at most. */
static enum status remove_rows(struct mongo_link *link, const bson_t *filter, int64_t *removed,
                               bool *ret_done)
{
    struct id ids[STEP_ROWS];
    size_t count = 0;
    struct mongo_cursor cursor;
    const bson_t *document;
    bson_t *opts =
        BCON_NEW("limit", BCON_INT64(STEP_ROWS), "projection", "{", "_id", BCON_INT32(1), "}");
    mongo_find(link, MONGO_RUNS, filter, opts, &cursor);
    enum status st = OK;
    while (count < STEP_ROWS && (st = mongo_next(&cursor, &document)) == OK)
        ids[count++] = mongo_get_id(document, "_id");
    mongo_cursor_release(&cursor);
    bson_destroy(opts);
    if (st != OK && st != E_NOT_FOUND)
        return st;
    *ret_done = !count;
    return count ? remove_by_id(link, ids, count, removed) : OK;
}

/* What ended before a time was made before it; that spares looking at everything newer. */
static enum status prune_age(struct mongo_link *link, const struct history_prune *prune,
                             struct mongo_pruning *at, bool *ret_done)
{
    struct id below = history_id_at(prune->before_ms);
    bson_t filter = BSON_INITIALIZER;
    bson_t bound;
    *ret_done = true;
    if (!prune->before_ms)
        return OK;
    if (!id_is_zero(&prune->job_uid))
        mongo_add_id(&filter, "job_uid", &prune->job_uid);
    mongo_add_id_bound(&filter, "_id", "$lt", &below);
    BSON_APPEND_DOCUMENT_BEGIN(&filter, "ended", &bound);
    BSON_APPEND_DATE_TIME(&bound, "$lt", prune->before_ms);
    bson_append_document_end(&filter, &bound);
    enum status st = remove_rows(link, &filter, &at->removed, ret_done);
    bson_destroy(&filter);
    return st;
}

/* ---- by count ---- */

/* Of the job, or of all, if it is zero. */
static void filter_job(const struct mongo_pruning *at, bson_t *to)
{
    if (!id_is_zero(&at->uid))
        mongo_add_id(to, "job_uid", &at->uid);
    mongo_add_kinds(to, !at->entries, at->entries);
    mongo_add_states(to, table_states(at->entries ? TABLE_ENTRIES : TABLE_RUNS,
                                      &(struct history_query){.states = 0}));
}

/* The id of the oldest that is among the newest keep_runs; the zero id, which nothing is older
 * than, when there are no more than that. */
static enum status find_oldest_kept(struct mongo_link *link, const struct mongo_pruning *at,
                                    int64_t keep, struct id *ret)
{
    bson_t filter = BSON_INITIALIZER;
    filter_job(at, &filter);
    enum status st = mongo_find_nth(link, MONGO_RUNS, &filter, keep, ret);
    bson_destroy(&filter);
    return st;
}

static enum status prune_count(struct mongo_link *link, const struct history_prune *prune,
                               struct mongo_pruning *at, bool *ret_done)
{
    enum status st = OK;
    *ret_done = true;
    if (id_is_zero(&at->oldest))
        st = find_oldest_kept(link, at, prune->keep_runs, &at->oldest);
    if (st != OK || id_is_zero(&at->oldest))
        return st;
    bson_t filter = BSON_INITIALIZER;
    filter_job(at, &filter);
    mongo_add_id_bound(&filter, "_id", "$lt", &at->oldest);
    st = remove_rows(link, &filter, &at->removed, ret_done);
    bson_destroy(&filter);
    return st;
}

/* E_NOT_FOUND: that was the last one. */
static enum status next_job(struct mongo_link *link, const struct history_prune *prune,
                            struct mongo_pruning *at)
{
    bool is_first = id_is_zero(&at->uid);
    if (!prune->keep_runs)
        return E_NOT_FOUND;
    if (!id_is_zero(&prune->job_uid)) {
        at->uid = prune->job_uid;
        return is_first ? OK : E_NOT_FOUND;
    }
    bson_t filter = BSON_INITIALIZER, found;
    bson_t *opts = mongo_opts("job_uid", 1, 1);
    BCON_APPEND(opts, "projection", "{", "job_uid", BCON_INT32(1), "}");
    mongo_add_id_bound(&filter, "job_uid", "$gt", &at->uid);
    enum status st = mongo_find_one(link, MONGO_RUNS, &filter, opts, &found);
    if (st == OK) {
        at->uid = mongo_get_id(&found, "job_uid");
        bson_destroy(&found);
    }
    bson_destroy(&filter);
    bson_destroy(opts);
    return st;
}

/* ---- by bytes ---- */

/* Looks at the next runs of the job, or of all, and removes those of them that go. */
static enum status prune_bytes(struct mongo_link *link, const struct history_prune *prune,
                               struct mongo_pruning *at, bool *ret_done)
{
    struct id ids[STEP_ROWS], below = byte_count_below(&at->bytes);
    size_t count = 0, looked_at = 0;
    struct mongo_cursor cursor;
    const bson_t *document;
    bson_t filter = BSON_INITIALIZER;
    enum status st;
    *ret_done = !prune->keep_bytes;
    if (*ret_done)
        return OK;
    at->uid = prune->job_uid;
    at->entries = false;
    filter_job(at, &filter);
    mongo_add_id_bound(&filter, "_id", "$lt", &below);
    bson_t *opts = mongo_opts("_id", -1, STEP_ROWS);
    BCON_APPEND(opts, "projection", "{", "kept_bytes", BCON_INT32(1), "}");
    mongo_find(link, MONGO_RUNS, &filter, opts, &cursor);
    for (; looked_at < STEP_ROWS && (st = mongo_next(&cursor, &document)) == OK; looked_at++) {
        struct id id = mongo_get_id(document, "_id");
        if (byte_count_goes(&at->bytes, prune->keep_bytes, &id,
                            mongo_get_int(document, "kept_bytes")))
            ids[count++] = id;
    }
    mongo_cursor_release(&cursor);
    bson_destroy(&filter);
    bson_destroy(opts);
    *ret_done = looked_at < STEP_ROWS;
    if (*ret_done && st != E_NOT_FOUND)
        return st;
    return count ? remove_by_id(link, ids, count, &at->removed) : OK;
}

/* ---- statistics and changes ---- */

/* Documents of a collection, a step of them at most. */
static enum status remove_some(struct mongo_link *link, enum mongo_collection collection,
                               const bson_t *filter, int64_t *removed, bool *ret_done)
{
    struct mongo_cursor cursor;
    const bson_t *document;
    bson_t victims = BSON_INITIALIZER, in, list;
    bson_iter_t iter;
    char buffer[16];
    const char *place;
    uint32_t count = 0;
    int64_t gone = 0;
    bson_t *opts =
        BCON_NEW("limit", BCON_INT64(STEP_ROWS), "projection", "{", "_id", BCON_INT32(1), "}");
    enum status st;
    BSON_APPEND_DOCUMENT_BEGIN(&victims, "_id", &in);
    BSON_APPEND_ARRAY_BEGIN(&in, "$in", &list);
    mongo_find(link, collection, filter, opts, &cursor);
    while ((st = mongo_next(&cursor, &document)) == OK) {
        bson_uint32_to_string(count++, &place, buffer, sizeof(buffer));
        if (bson_iter_init_find(&iter, document, "_id"))
            bson_append_value(&list, place, -1, bson_iter_value(&iter));
    }
    mongo_cursor_release(&cursor);
    bson_append_array_end(&in, &list);
    bson_append_document_end(&victims, &in);
    if (st == E_NOT_FOUND)
        st = count ? mongo_delete(link, collection, &victims, &gone) : OK;
    *removed += gone;
    *ret_done = !count;
    bson_destroy(&victims);
    bson_destroy(opts);
    return st;
}

static enum status prune_stats(struct mongo_link *link, const struct history_prune *prune,
                               bool *ret_done)
{
    int64_t hour = stats_prune_hour(prune), removed = 0;
    bson_t filter = BSON_INITIALIZER;
    *ret_done = true;
    if (!hour)
        return OK;
    if (!id_is_zero(&prune->job_uid))
        mongo_add_id(&filter, "job_uid", &prune->job_uid);
    BCON_APPEND(&filter, "hour", "{", "$lt", BCON_INT64(hour), "}");
    enum status st = remove_some(link, MONGO_STATS, &filter, &removed, ret_done);
    bson_destroy(&filter);
    return st;
}

static enum status prune_changes(struct mongo_link *link, const struct history_prune *prune,
                                 struct mongo_pruning *at, bool *ret_done)
{
    bson_t filter = BSON_INITIALIZER;
    struct id below = history_id_at(prune->changes_before_ms);
    *ret_done = true;
    if (!prune->changes_before_ms || !id_is_zero(&prune->job_uid))
        return OK;
    mongo_add_id_bound(&filter, "_id", "$lt", &below);
    enum status st = remove_some(link, MONGO_CHANGES, &filter, &at->removed, ret_done);
    bson_destroy(&filter);
    return st;
}

/* ---- steps ---- */

enum status mongo_prune_step(struct mongo_link *link, struct history_prune *prune,
                             struct mongo_pruning *at, bool *ret_finished)
{
    bool done = false;
    enum status st = OK;
    switch (at->phase) {
    case PRUNE_AGE:
        st = prune_age(link, prune, at, &done);
        if (done)
            at->phase = PRUNE_NEXT_JOB;
        return st;
    case PRUNE_NEXT_JOB:
        st = next_job(link, prune, at);
        at->phase = st == E_NOT_FOUND ? PRUNE_BYTES : PRUNE_COUNT;
        at->entries = false;
        at->oldest = (struct id){{0}};
        return st == E_NOT_FOUND ? OK : st;
    case PRUNE_COUNT:
        st = prune_count(link, prune, at, &done);
        if (done) {
            at->phase = at->entries ? PRUNE_NEXT_JOB : PRUNE_COUNT;
            at->entries = true;
            at->oldest = (struct id){{0}};
        }
        return st;
    case PRUNE_BYTES:
        st = prune_bytes(link, prune, at, &done);
        if (done)
            at->phase = PRUNE_STATS;
        return st;
    case PRUNE_STATS:
        st = prune_stats(link, prune, &done);
        if (done)
            at->phase = PRUNE_CHANGES;
        return st;
    case PRUNE_CHANGES:
        st = prune_changes(link, prune, at, &done);
        if (st == OK && done) {
            prune->removed = at->removed;
            *ret_finished = true;
        }
        return st;
    }
    return st;
}
