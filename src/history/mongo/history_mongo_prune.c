/* Retention: the operations of struct prune_driver. */
#include "mongo/history_mongo_internal.h"

/* ---- finding rows ---- */

/* Selects the runs or the entries of a job; zero uid: of all jobs. */
static void filter_table(bson_t *to, enum record_table table, const struct id *uid)
{
    bool is_entries = table == TABLE_ENTRIES;
    if (!id_is_zero(uid))
        mongo_add_id(to, "job_uid", uid);
    mongo_add_kinds(to, !is_entries, is_entries);
    mongo_add_states(to, table_states(table, &(struct history_query){.states = 0}));
}

static bool is_step(const bson_t *document)
{
    bson_iter_t field;
    return bson_iter_init_find(&field, document, "step") && BSON_ITER_HOLDS_UTF8(&field) &&
           *bson_iter_utf8(&field, NULL);
}

/* Finds up to PRUNE_ROWS rows, in the order that opts give; frees filter and opts. */
static enum status find_rows(struct mongo_link *link, bson_t *filter, bson_t *opts,
                             struct prune_rows *ret)
{
    struct mongo_cursor cursor;
    const bson_t *document;
    enum status st = OK;
    BCON_APPEND(opts, "projection", "{", "kept_bytes", BCON_INT32(1), "step", BCON_INT32(1), "}");
    mongo_find(link, MONGO_RUNS, filter, opts, &cursor);
    while (ret->count < PRUNE_ROWS && (st = mongo_next(&cursor, &document)) == OK) {
        ret->ids[ret->count] = mongo_get_id(document, "_id");
        ret->is_step[ret->count] = is_step(document);
        ret->output_bytes[ret->count++] = mongo_get_int(document, "kept_bytes");
    }
    mongo_cursor_release(&cursor);
    bson_destroy(filter);
    bson_destroy(opts);
    return st == E_NOT_FOUND ? OK : st;
}

/* By age, runs and entries are found together: they share a collection. */
static enum status find_old(struct history_link *link, enum record_table table,
                            const struct id *uid, const struct id *below, int64_t before_ms,
                            struct prune_rows *ret)
{
    bson_t filter = BSON_INITIALIZER, bound;
    if (!before_ms)
        filter_table(&filter, table, uid);
    else if (!id_is_zero(uid))
        mongo_add_id(&filter, "job_uid", uid);
    mongo_add_id_bound(&filter, "_id", "$lt", below);
    if (before_ms) {
        BSON_APPEND_DOCUMENT_BEGIN(&filter, "ended", &bound);
        BSON_APPEND_DATE_TIME(&bound, "$lt", before_ms);
        bson_append_document_end(&filter, &bound);
    }
    return find_rows(mongo_link_of(link), &filter, BCON_NEW("limit", BCON_INT64(PRUNE_ROWS)), ret);
}

static enum status find_nth(struct history_link *link, enum record_table table,
                            const struct id *uid, int64_t nth, struct id *ret)
{
    bson_t filter = BSON_INITIALIZER;
    filter_table(&filter, table, uid);
    enum status st = mongo_find_nth(mongo_link_of(link), MONGO_RUNS, &filter, nth, ret);
    bson_destroy(&filter);
    return st;
}

static enum status find_bytes(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret)
{
    bson_t filter = BSON_INITIALIZER;
    filter_table(&filter, TABLE_RUNS, uid);
    mongo_add_id_bound(&filter, "_id", "$lt", below);
    return find_rows(mongo_link_of(link), &filter, mongo_opts("_id", -1, PRUNE_ROWS), ret);
}

static enum status next_job(struct history_link *link, const struct id *after, struct id *ret)
{
    bson_t filter = BSON_INITIALIZER, found;
    bson_t *opts = mongo_opts("job_uid", 1, 1);
    BCON_APPEND(opts, "projection", "{", "job_uid", BCON_INT32(1), "}");
    mongo_add_id_bound(&filter, "job_uid", "$gt", after);
    enum status st = mongo_find_one(mongo_link_of(link), MONGO_RUNS, &filter, opts, &found);
    if (st == OK) {
        *ret = mongo_get_id(&found, "job_uid");
        bson_destroy(&found);
    }
    bson_destroy(&filter);
    bson_destroy(opts);
    return st;
}

/* ---- removing ---- */

/* Removes the output first, so that a failure leaves no output without its run. */
static enum status remove_rows(struct history_link *link, enum record_table table,
                               const struct prune_rows *rows, int64_t *removed, size_t *ret_count)
{
    int64_t gone = 0;
    bson_t of_runs = BSON_INITIALIZER, victims = BSON_INITIALIZER;
    (void)table;
    mongo_add_ids(&of_runs, "run", rows->ids, rows->count);
    mongo_add_ids(&victims, "_id", rows->ids, rows->count);
    enum status st = mongo_delete(mongo_link_of(link), MONGO_OUTPUT, &of_runs, &gone);
    if (st == OK)
        st = mongo_delete(mongo_link_of(link), MONGO_RUNS, &victims, &gone);
    if (st == OK)
        *removed += gone;
    *ret_count = rows->count;
    bson_destroy(&of_runs);
    bson_destroy(&victims);
    return st;
}

/* Removes up to PRUNE_ROWS documents of a collection. */
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
        BCON_NEW("limit", BCON_INT64(PRUNE_ROWS), "projection", "{", "_id", BCON_INT32(1), "}");
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

static enum status remove_stats(struct history_link *link, const struct id *uid, int64_t hour,
                                struct prune_place *place, bool *ret_done)
{
    int64_t removed = 0;
    bson_t filter = BSON_INITIALIZER;
    (void)place;
    if (!id_is_zero(uid))
        mongo_add_id(&filter, "job_uid", uid);
    BCON_APPEND(&filter, "hour", "{", "$lt", BCON_INT64(hour), "}");
    enum status st = remove_some(mongo_link_of(link), MONGO_STATS, &filter, &removed, ret_done);
    bson_destroy(&filter);
    return st;
}

static enum status remove_changes(struct history_link *link, int64_t before_ms, int64_t *removed,
                                  bool *ret_done)
{
    bson_t filter = BSON_INITIALIZER;
    struct id below = history_id_at(before_ms);
    mongo_add_id_bound(&filter, "_id", "$lt", &below);
    enum status st = remove_some(mongo_link_of(link), MONGO_CHANGES, &filter, removed, ret_done);
    bson_destroy(&filter);
    return st;
}

const struct prune_driver mongo_prune_driver = {
    .next_job = next_job,
    .find_nth = find_nth,
    .find_old = find_old,
    .find_bytes = find_bytes,
    .find_kinds = find_bytes, /* it has both */
    .remove = remove_rows,
    .remove_stats = remove_stats,
    .remove_changes = remove_changes,
};
