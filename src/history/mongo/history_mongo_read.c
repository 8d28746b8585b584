/* Pages and logs.
 *
 * A page is a find in descending order of ids along the index by job, name, node or state. These
 * indexes end in kind, state and id, so a filter names kinds and states: the server then merges the
 * index ranges instead of sorting all rows. A span of ticks is a span of ids, plus strays, which
 * are few and found by a search of their own. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "mongo/history_mongo_internal.h"

struct search {
    struct mongo_link *link;
    const struct history_query *query;
    struct id before;
    bool strays; /* only strays; else a search with a time span excludes them */
};

static bool is_timed(const struct history_query *query)
{
    return query->since_ms || query->until_ms;
}

/* Uses the index by node unless the query names a job, which has fewer rows. */
static bool is_by_node(const struct history_query *query)
{
    return query->node && id_is_zero(&query->job_uid) && !query->job_name;
}

/* Whether the index covers all filters, so that every row examined matches. */
static bool is_indexed(const struct history_query *query)
{
    return !query->text && !query->min_duration_ms && (!query->node || is_by_node(query));
}

static bool has_entries(const struct history_query *query)
{
    return query->with_entries && !query->node && !query->min_duration_ms;
}

/* ---- filters ---- */

/* Ids from `from` (inclusive) to search->before, narrowed to the query's time span. */
static void add_id_bounds(bson_t *to, const struct search *search, const struct id *from)
{
    const struct history_query *query = search->query;
    struct id low = *from, high = search->before;
    bson_t bounds;
    if (!search->strays && query->since_ms) {
        struct id since = history_id_at(query->since_ms - STRAY_MS);
        low = id_compare(&since, &low) > 0 ? since : low;
    }
    if (!search->strays && query->until_ms) {
        struct id until = history_id_at(query->until_ms + STRAY_MS + 1);
        high = id_compare(&until, &high) < 0 ? until : high;
    }
    BSON_APPEND_DOCUMENT_BEGIN(to, "_id", &bounds);
    mongo_add_id(&bounds, "$gte", &low);
    mongo_add_id(&bounds, "$lt", &high);
    bson_append_document_end(to, &bounds);
}

static void add_span(bson_t *to, const struct search *search)
{
    const struct history_query *query = search->query;
    int64_t since_ms = query->since_ms ? query->since_ms : INT64_MIN;
    int64_t until_ms = query->until_ms ? query->until_ms : INT64_MAX;
    BCON_APPEND(to, "from_ms", "{", "$lt", BCON_INT64(until_ms), "}");
    if (search->strays)
        BCON_APPEND(to, "stray_ms", "{", "$gte", BCON_INT64(since_ms), "}");
    else
        BCON_APPEND(to, "to_ms", "{", "$gte", BCON_INT64(since_ms), "}", "stray_ms", "{", "$exists",
                    BCON_BOOL(false), "}");
}

/* The filters that an index covers, and the time span. */
static void add_indexed(bson_t *to, const struct search *search, const struct id *from)
{
    const struct history_query *query = search->query;
    bool entries = has_entries(query);
    unsigned states = table_states(TABLE_RUNS, query);
    if (entries)
        states |= table_states(TABLE_ENTRIES, query);
    if (!id_is_zero(&query->job_uid))
        mongo_add_id(to, "job_uid", &query->job_uid);
    if (query->job_name)
        BSON_APPEND_UTF8(to, "job_name", query->job_name);
    if (is_by_node(query))
        BSON_APPEND_UTF8(to, "node", query->node);
    if (!entries || !id_is_zero(&query->job_uid) || query->job_name || query->states) {
        mongo_add_kinds(to, true, entries);
        mongo_add_states(to, states);
    }
    add_id_bounds(to, search, from);
    if (is_timed(query))
        add_span(to, search);
}

/* Reasons with the text in their names. */
static uint64_t named_reasons(const char *text)
{
    uint64_t reasons = 0;
    for (int reason = 0; reason < REASONS; reason++) {
        if (strcasestr(run_reason_name((enum run_reason)reason), text))
            reasons |= UINT64_C(1) << reason;
    }
    return reasons;
}

/* The filters that no index covers. */
static void add_others(bson_t *to, const struct history_query *query)
{
    static const char *const texts[] = {"job_name", "detail", NULL};
    if (query->node && !is_by_node(query))
        BSON_APPEND_UTF8(to, "node", query->node);
    if (query->min_duration_ms)
        BCON_APPEND(to, "duration_ms", "{", "$gte", BCON_INT64(query->min_duration_ms), "}");
    if (query->text)
        mongo_add_text_search(to, query->text, texts, "reason", named_reasons(query->text));
}

/* ---- pages ---- */

/* Adds the matching rows from below search->before down to `from`. */
static enum status find_rows(struct search *search, const struct id *from, size_t wanted,
                             struct page_part *part)
{
    struct mongo_cursor cursor;
    const bson_t *document;
    bson_t filter = BSON_INITIALIZER;
    add_indexed(&filter, search, from);
    add_others(&filter, search->query);
    bson_t *opts = mongo_opts("_id", -1, (int64_t)(wanted - part->count));
    mongo_find(search->link, MONGO_RUNS, &filter, opts, &cursor);
    enum status st = OK;
    while (part->count < wanted && (st = mongo_next(&cursor, &document)) == OK) {
        struct history_row *row = &part->rows[part->count];
        mongo_load_row(document, row);
        part->count += history_query_matches(search->query, row);
    }
    mongo_cursor_release(&cursor);
    bson_destroy(&filter);
    bson_destroy(opts);
    return st == E_NOT_FOUND ? OK : st;
}

/* The id of the row that is `visits` rows below search->before; the zero id if there are fewer. */
static enum status find_horizon(struct search *search, int64_t visits, struct id *ret)
{
    static const struct id none;
    bson_t filter = BSON_INITIALIZER;
    add_indexed(&filter, search, &none);
    enum status st = mongo_find_nth(search->link, MONGO_RUNS, &filter, visits, ret);
    bson_destroy(&filter);
    return st;
}

/* Searches in growing steps: a page of frequent matches is found fast, and one of rare matches ends
 * the search after MONGO_VISITS_MAX rows. */
static enum status search_in_steps(struct search *search, size_t wanted, struct page_part *part)
{
    int64_t visited = 0, visits = MONGO_VISITS_FIRST;
    bool end = false;
    enum status st = OK;
    while (st == OK && !end && part->count < wanted && visited < MONGO_VISITS_MAX) {
        struct id horizon;
        st = find_horizon(search, visits, &horizon);
        if (st == OK)
            st = find_rows(search, &horizon, wanted, part);
        end = id_is_zero(&horizon);
        search->before = horizon;
        visited += visits;
        visits =
            10 * visits < MONGO_VISITS_MAX - visited ? 10 * visits : MONGO_VISITS_MAX - visited;
    }
    part->more = !end;
    part->horizon = search->before;
    return st;
}

static enum status search_part(struct search *search, struct page_part *part)
{
    static const struct id none;
    size_t wanted = search->query->limit + 1;
    part->rows = calloc(wanted, sizeof(*part->rows));
    if (!part->rows)
        return E_NOMEM;
    enum status st = is_indexed(search->query) || search->strays
                         ? find_rows(search, &none, wanted, part)
                         : search_in_steps(search, wanted, part);
    if (part->count == wanted) {
        part->more = true;
        part->horizon = *history_row_id(&part->rows[wanted - 1]);
    }
    return st;
}

static enum status read_page(struct mongo_link *link, struct history_read *read)
{
    enum { WALK, STRAYS, PARTS };
    const struct history_query *query = &read->query;
    struct page_part parts[PARTS] = {{0}};
    struct search search = {.link = link, .query = query, .before = query->before};
    if (id_is_zero(&search.before))
        memset(search.before.bytes, 255, sizeof(search.before.bytes));
    struct search strays = search;
    strays.strays = true;
    enum status st = search_part(&search, &parts[WALK]);
    if (st == OK && is_timed(query))
        st = search_part(&strays, &parts[STRAYS]);
    if (st == OK)
        st = page_merge(parts, PARTS, read);
    for (int i = 0; i < PARTS; i++)
        free(parts[i].rows);
    return st;
}

/* ---- logs ---- */

static enum status read_run(struct mongo_link *link, struct history_log *answer)
{
    bson_t filter = BSON_INITIALIZER, found;
    struct history_row *row = calloc(1, sizeof(*row));
    if (!row)
        return E_NOMEM;
    mongo_add_id(&filter, "_id", &answer->run_id);
    enum status st = mongo_find_one(link, MONGO_RUNS, &filter, NULL, &found);
    if (st == OK) {
        mongo_load_row(&found, row);
        bson_destroy(&found);
    }
    answer->found = st == OK && !row->is_entry;
    if (answer->found)
        answer->run = row->run;
    bson_destroy(&filter);
    free(row);
    return st == E_NOT_FOUND ? OK : st;
}

/* The size of the kept output, from the last piece. */
static enum status read_kept(struct mongo_link *link, struct history_log *answer)
{
    bson_t filter = BSON_INITIALIZER, found;
    bson_t *opts = BCON_NEW("sort", "{", "start", BCON_INT32(-1), "n", BCON_INT32(-1), "}", "limit",
                            BCON_INT64(1), "projection", "{", "start", BCON_INT32(1), "length",
                            BCON_INT32(1), "}");
    mongo_add_id(&filter, "run", &answer->run_id);
    enum status st = mongo_find_one(link, MONGO_OUTPUT, &filter, opts, &found);
    if (st == OK) {
        answer->kept_bytes = mongo_get_int(&found, "start") + mongo_get_int(&found, "length");
        bson_destroy(&found);
    }
    bson_destroy(&filter);
    bson_destroy(opts);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status add_piece(const bson_t *document, struct history_log *log)
{
    bson_iter_t iter;
    const uint8_t *bytes = NULL;
    uint32_t length = 0;
    size_t skip, taken;
    if (bson_iter_init_find(&iter, document, "bytes") && BSON_ITER_HOLDS_BINARY(&iter))
        bson_iter_binary(&iter, NULL, &length, &bytes);
    if (!history_log_part(log, mongo_get_int(document, "start"), length, &skip, &taken))
        return OK;
    if (array_grow(&log->chunks, log->count, sizeof(*log->chunks)) != OK)
        return E_NOMEM;
    char *copy = malloc(taken ? taken : 1);
    if (!copy)
        return E_NOMEM;
    if (taken && bytes)
        memcpy(copy, bytes + skip, taken);
    log->chunks[log->count++] = (struct output_chunk){
        .stream = output_stream_of(mongo_get_int(document, "stream")),
        .at_ms = mongo_get_int(document, "at_ms"),
        .gap_bytes = skip ? 0 : mongo_get_int(document, "gap_bytes"),
        .bytes = copy,
        .length = taken,
    };
    return OK;
}

static enum status read_output(struct mongo_link *link, struct history_log *answer)
{
    const int64_t most = INT64_MAX / 4; /* the sum of two does not overflow */
    int64_t offset = answer->offset < most ? answer->offset : most;
    int64_t limit = answer->limit < (size_t)most ? (int64_t)answer->limit : most;
    struct mongo_cursor cursor;
    const bson_t *document;
    bson_t filter = BSON_INITIALIZER;
    bson_t *opts = BCON_NEW("sort", "{", "start", BCON_INT32(1), "n", BCON_INT32(1), "}");
    mongo_add_id(&filter, "run", &answer->run_id);
    BCON_APPEND(&filter, "start", "{", "$gte", BCON_INT64(offset - PIECE_BYTES), "$lte",
                BCON_INT64(offset + limit), "}");
    mongo_find(link, MONGO_OUTPUT, &filter, opts, &cursor);
    enum status st;
    while ((st = mongo_next(&cursor, &document)) == OK) {
        st = add_piece(document, answer);
        if (st != OK)
            break;
    }
    mongo_cursor_release(&cursor);
    bson_destroy(&filter);
    bson_destroy(opts);
    return st == E_NOT_FOUND ? OK : st;
}

static enum status read_log(struct mongo_link *link, struct history_log *log)
{
    enum status st = read_run(link, log);
    if (st == OK && log->found)
        st = read_kept(link, log);
    if (st == OK && log->found && log->limit)
        st = read_output(link, log);
    return st;
}

enum status mongo_read_request(struct history_link *base, struct history_request *request)
{
    struct mongo_link *link = mongo_link_of(base);
    if (request->kind == HISTORY_READ)
        return read_page(link, history_request_of(request, history_read));
    if (request->kind == HISTORY_STATS)
        return mongo_stats_read(link, history_request_of(request, history_stats));
    if (request->kind == HISTORY_CHANGES)
        return mongo_read_changes(link, history_request_of(request, history_changes));
    return read_log(link, history_request_of(request, history_log));
}
