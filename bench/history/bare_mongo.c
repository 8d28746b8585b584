#include "bare_mongo.h"

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bare_mongo {
    mongoc_client_t *client;
    mongoc_collection_t *writes, *reads;
};

static void check(bool done, const bson_error_t *error)
{
    if (!done)
        bench_fail("bare MongoDB", error->message);
}

/* ---- from new to free ---- */

/* Those that the history has for runs. */
static void make_indexes(struct bare_mongo *bare, const char *database)
{
    bson_error_t error;
    bson_t *command = BCON_NEW(
        "createIndexes", "bare", "indexes", "[", "{", "name", "job", "key", "{", "job_uid",
        BCON_INT32(1), "kind", BCON_INT32(1), "state", BCON_INT32(1), "_id", BCON_INT32(1), "}",
        "}", "{", "name", "name", "key", "{", "job_name", BCON_INT32(1), "kind", BCON_INT32(1),
        "state", BCON_INT32(1), "_id", BCON_INT32(1), "}", "}", "{", "name", "node", "key", "{",
        "node", BCON_INT32(1), "kind", BCON_INT32(1), "state", BCON_INT32(1), "_id", BCON_INT32(1),
        "}", "}", "{", "name", "state", "key", "{", "kind", BCON_INT32(1), "state", BCON_INT32(1),
        "_id", BCON_INT32(1), "}", "}", "]");
    check(mongoc_client_command_simple(bare->client, database, command, NULL, NULL, &error),
          &error);
    bson_destroy(command);
}

struct bare_mongo *bare_mongo_new(const char *url, const char *database)
{
    struct bare_mongo *bare = calloc(1, sizeof(*bare));
    if (!bare)
        bench_fail("bare MongoDB", "out of memory");
    bare->client = mongoc_client_new(url);
    if (!bare->client)
        bench_fail("bare MongoDB", url);
    bare->writes = mongoc_client_get_collection(bare->client, database, "bare");
    bare->reads = mongoc_client_get_collection(bare->client, database, "runs");
    make_indexes(bare, database);
    return bare;
}

void bare_mongo_free(struct bare_mongo *bare)
{
    mongoc_collection_destroy(bare->writes);
    mongoc_collection_destroy(bare->reads);
    mongoc_client_destroy(bare->client);
    free(bare);
}

/* ---- writing ---- */

static void append_id(bson_t *to, const char *key, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    BSON_APPEND_UTF8(to, key, text);
}

static void make_document(bson_t *to, const struct run *run)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"from_ms", run->tick_ms},           {"to_ms", run->tick_ms},
        {"tick_ms", run->tick_ms},           {"duration_ms", run->finished_ms - run->started_ms},
        {"nonce", (int64_t)run->nonce},      {"fence", run->fence},
        {"job_revision", run->job_revision}, {"not_before_ms", run->not_before_ms},
        {"claimed_ms", run->claimed_ms},     {"started_ms", run->started_ms},
        {"finished_ms", run->finished_ms},   {"user_ms", run->user_ms},
        {"system_ms", run->system_ms},       {"max_rss_kb", run->max_rss_kb},
        {"output_bytes", run->output_bytes}};
    append_id(to, "_id", &run->id);
    append_id(to, "job_uid", &run->job_uid);
    BSON_APPEND_UTF8(to, "job_name", run->job_name);
    BSON_APPEND_DATE_TIME(to, "ended", run->finished_ms);
    BSON_APPEND_INT32(to, "kind", 0);
    BSON_APPEND_INT32(to, "state", (int32_t)run->state);
    BSON_APPEND_INT32(to, "reason", (int32_t)run->reason);
    BSON_APPEND_INT32(to, "cause", (int32_t)run->cause);
    BSON_APPEND_INT32(to, "attempt", run->attempt);
    BSON_APPEND_INT32(to, "exit_code", run->exit_code);
    BSON_APPEND_INT32(to, "term_signal", run->term_signal);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        BSON_APPEND_INT64(to, numbers[i].key, numbers[i].value);
    BSON_APPEND_UTF8(to, "node", run->node);
    BSON_APPEND_UTF8(to, "by", run->by);
    BSON_APPEND_UTF8(to, "detail", run->detail);
}

void bare_mongo_insert(void *context, const struct run *runs, size_t count)
{
    struct bare_mongo *bare = context;
    bson_t documents[BATCH];
    const bson_t *pointers[BATCH];
    bson_error_t error;
    for (size_t i = 0; i < count; i++) {
        bson_init(&documents[i]);
        make_document(&documents[i], &runs[i]);
        pointers[i] = &documents[i];
    }
    check(mongoc_collection_insert_many(bare->writes, pointers, count, NULL, NULL, &error), &error);
    for (size_t i = 0; i < count; i++)
        bson_destroy(&documents[i]);
}

/* ---- reading ---- */

static void add_bits(bson_t *to, const char *key, uint64_t bits)
{
    bson_t in, items;
    uint32_t count = 0;
    BSON_APPEND_DOCUMENT_BEGIN(to, key, &in);
    BSON_APPEND_ARRAY_BEGIN(&in, "$in", &items);
    for (int i = 0; i < 64; i++) {
        char place[16];
        const char *name;
        if (!(bits >> i & 1))
            continue;
        bson_uint32_to_string(count++, &name, place, sizeof(place));
        BSON_APPEND_INT32(&items, name, i);
    }
    bson_append_array_end(&in, &items);
    bson_append_document_end(to, &in);
}

static void add_text(bson_t *to, const char *text)
{
    uint64_t reasons = 0;
    bson_t any, part;
    for (int reason = 1; reason < REASONS; reason++) {
        if (strcasestr(run_reason_name((enum run_reason)reason), text))
            reasons |= UINT64_C(1) << reason;
    }
    BSON_APPEND_ARRAY_BEGIN(to, "$or", &any);
    BSON_APPEND_DOCUMENT_BEGIN(&any, "0", &part);
    BSON_APPEND_REGEX(&part, "job_name", text, "i");
    bson_append_document_end(&any, &part);
    BSON_APPEND_DOCUMENT_BEGIN(&any, "1", &part);
    BSON_APPEND_REGEX(&part, "detail", text, "i");
    bson_append_document_end(&any, &part);
    if (reasons) {
        BSON_APPEND_DOCUMENT_BEGIN(&any, "2", &part);
        add_bits(&part, "reason", reasons);
        bson_append_document_end(&any, &part);
    }
    bson_append_array_end(to, &any);
}

static void make_filter(bson_t *to, const struct history_query *query)
{
    bson_t part;
    if (query->job_name)
        BSON_APPEND_UTF8(to, "job_name", query->job_name);
    if (!query->with_entries)
        BSON_APPEND_INT32(to, "kind", 0);
    if (query->node)
        BSON_APPEND_UTF8(to, "node", query->node);
    if (query->states)
        add_bits(to, "state", query->states);
    if (query->since_ms)
        BCON_APPEND(to, "to_ms", "{", "$gte", BCON_INT64(query->since_ms), "}");
    if (query->until_ms)
        BCON_APPEND(to, "from_ms", "{", "$lt", BCON_INT64(query->until_ms), "}");
    if (query->min_duration_ms)
        BCON_APPEND(to, "duration_ms", "{", "$gte", BCON_INT64(query->min_duration_ms), "}");
    if (!id_is_zero(&query->before)) {
        BSON_APPEND_DOCUMENT_BEGIN(to, "_id", &part);
        append_id(&part, "$lt", &query->before);
        bson_append_document_end(to, &part);
    }
    if (query->text)
        add_text(to, query->text);
}

size_t bare_mongo_query(void *context, const void *key, const struct history_query *query,
                        struct id *ret_last)
{
    struct bare_mongo *bare = context;
    bson_t filter = BSON_INITIALIZER;
    bson_t *opts = BCON_NEW("sort", "{", "_id", BCON_INT32(-1), "}", "limit",
                            BCON_INT64((int64_t)query->limit));
    const bson_t *document;
    bson_error_t error;
    size_t count = 0;
    (void)key;
    make_filter(&filter, query);
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(bare->reads, &filter, opts, NULL);
    while (mongoc_cursor_next(cursor, &document)) {
        bson_iter_t iter;
        if (!bson_iter_init_find(&iter, document, "_id") ||
            id_parse(bson_iter_utf8(&iter, NULL), ret_last) != OK)
            bench_fail("bare MongoDB", "a row without an id");
        count++;
    }
    check(!mongoc_cursor_error(cursor, &error), &error);
    mongoc_cursor_destroy(cursor);
    bson_destroy(&filter);
    bson_destroy(opts);
    return count;
}
