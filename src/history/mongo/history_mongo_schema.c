/* Creates the indexes of the collections, or rejects the server.
 *
 *     runs    a run or an entry: the columns of history_columns.h and
 *             _id        the id as text, which sorts like the id
 *             kind       0: a run, 1: an entry
 *             job_uid, job_name
 *             ended      for retention; a date, as a TTL index needs one
 *             from_ms, to_ms  the tick of a run or the span of ticks of an entry
 *             duration_ms     if it has one
 *             kept_bytes      size of the kept output, if there is any
 *             stray_ms   to_ms, only in strays: see history_columns.h
 *             writer, seq  the writer and the append that wrote the document
 *     output  a piece of output: run, n (its number), start, length, stream, at_ms, gap_bytes,
 *             bytes, ended
 *     stats   job_uid, hour and the cells: see history_mongo_stats.c
 *     changes see history_mongo_changes.c
 *     meta    {_id: "format", version: ...} */
#include <string.h>

#include "mongo/history_mongo_internal.h"

enum {
    VERSION = 2,      /* 1 had no index by node */
    WIRE_VERSION = 9, /* MongoDB 4.4 */
    NAMESPACE_NOT_FOUND = 26,
    INDEX_NOT_FOUND = 27,
    INDEX_OPTIONS_CONFLICT = 85,
    NOT_IMPLEMENTED = 238,
    DAY_S = 86400,
};

/* A page walks along one index, in one range per state: see history_mongo_read.c. */
static const struct {
    const char *collection, *name;
    const char *keys[5];
} indexes[] = {
    {"runs", "job", {"job_uid", "kind", "state", "_id"}},
    {"runs", "name", {"job_name", "kind", "state", "_id"}},
    {"runs", "state", {"kind", "state", "_id"}},
    {"runs", "node", {"node", "kind", "state", "_id"}},
    {"runs", "stray", {"stray_ms"}}, /* sparse */
    {"output", "run", {"run", "start", "n"}},
    {"stats", "job", {"job_uid", "hour"}},
    {"stats", "hour", {"hour"}},
    {"changes", "job", {"job_uid", "_id"}},
    {"changes", "name", {"job_name", "_id"}},
    {"changes", "actor", {"actor", "_id"}},
};

/* ---- indexes ---- */

static enum status make_index(struct mongo_link *link, const char *collection, const char *name,
                              const bson_t *keys)
{
    bson_t *command = BCON_NEW("createIndexes", BCON_UTF8(collection), "indexes", "[", "{", "key",
                               BCON_DOCUMENT(keys), "name", BCON_UTF8(name), "sparse",
                               BCON_BOOL(strcmp(name, "stray") == 0), "}", "]");
    enum status st = mongo_command(link, command, NULL);
    bson_destroy(command);
    return st;
}

static enum status make_indexes(struct mongo_link *link)
{
    enum status st = OK;
    for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]) && st == OK; i++) {
        bson_t keys = BSON_INITIALIZER;
        for (const char *const *key = indexes[i].keys; *key; key++)
            BSON_APPEND_INT32(&keys, *key, 1);
        st = make_index(link, indexes[i].collection, indexes[i].name, &keys);
        bson_destroy(&keys);
    }
    return st;
}

/* ---- TTL indexes: rows that the server removes ---- */

static enum status drop_expiry(struct mongo_link *link, const char *collection)
{
    bson_error_t error;
    bson_t *command = BCON_NEW("dropIndexes", BCON_UTF8(collection), "index", BCON_UTF8("expire"));
    bool gone = mongoc_client_command_simple(link->client, link->place->database, command, NULL,
                                             NULL, &error);
    bson_destroy(command);
    if (gone || error.code == INDEX_NOT_FOUND || error.code == NAMESPACE_NOT_FOUND)
        return OK;
    return mongo_fail(link, &error);
}

static enum status set_expiry(struct mongo_link *link, const char *collection)
{
    bson_error_t error;
    int64_t expire_s = link->place->expire_days * DAY_S;
    bson_t *make = BCON_NEW("createIndexes", BCON_UTF8(collection), "indexes", "[", "{", "key", "{",
                            "ended", BCON_INT32(1), "}", "name", BCON_UTF8("expire"),
                            "expireAfterSeconds", BCON_INT64(expire_s), "}", "]");
    bson_t *change = BCON_NEW("collMod", BCON_UTF8(collection), "index", "{", "name",
                              BCON_UTF8("expire"), "expireAfterSeconds", BCON_INT64(expire_s), "}");
    bool done =
        mongoc_client_command_simple(link->client, link->place->database, make, NULL, NULL, &error);
    if (!done && error.code == INDEX_OPTIONS_CONFLICT)
        done = mongoc_client_command_simple(link->client, link->place->database, change, NULL, NULL,
                                            &error);
    bson_destroy(make);
    bson_destroy(change);
    if (!done && error.code == NOT_IMPLEMENTED)
        return mongo_refuse(link, E_IO,
                            "it cannot remove old documents by itself. Leave expire_days out of "
                            "the history's address; retention works without.");
    return done ? OK : mongo_fail(link, &error);
}

static enum status ensure_expiry(struct mongo_link *link)
{
    static const char *const collections[] = {"runs", "output"};
    enum status st = OK;
    for (size_t i = 0; i < 2 && st == OK && link->place->expire_days >= 0; i++)
        st = link->place->expire_days ? set_expiry(link, collections[i])
                                      : drop_expiry(link, collections[i]);
    return st;
}

/* ---- versions ---- */

static enum status check_server(struct mongo_link *link)
{
    bson_t *command = BCON_NEW("hello", BCON_INT32(1)), reply;
    bson_iter_t iter;
    enum status st = mongo_command(link, command, &reply);
    bson_destroy(command);
    if (st != OK)
        return st;
    bool is_writable =
        bson_iter_init_find(&iter, &reply, "isWritablePrimary") && bson_iter_as_bool(&iter);
    int64_t wire_version = mongo_get_int(&reply, "maxWireVersion");
    bson_destroy(&reply);
    if (wire_version < WIRE_VERSION)
        return mongo_refuse(link, E_VERSION, "it is older than version 4.4, which peal needs.");
    if (link->use == MONGO_WRITES && !is_writable)
        return mongo_refuse(link, E_IO,
                            "it is a secondary, which is read-only. Name all members and "
                            "replicaSet=NAME in the history's address, without directConnection.");
    return OK;
}

static enum status read_version(struct mongo_link *link, int64_t *ret)
{
    bson_t *filter = BCON_NEW("_id", BCON_UTF8("format")), found;
    enum status st = mongo_find_one(link, MONGO_META, filter, NULL, &found);
    bson_destroy(filter);
    if (st == E_NOT_FOUND) {
        *ret = 0;
        return OK;
    }
    if (st != OK)
        return st;
    *ret = mongo_get_int(&found, "version");
    bson_destroy(&found);
    return OK;
}

/* Idempotent: several nodes may migrate at the same time. */
static enum status migrate(struct mongo_link *link)
{
    bson_t *filter = BCON_NEW("_id", BCON_UTF8("format"));
    bson_t *update = BCON_NEW("$max", "{", "version", BCON_INT32(VERSION), "}");
    bson_t opts = BSON_INITIALIZER;
    bson_error_t error;
    enum status st = make_indexes(link);
    BSON_APPEND_BOOL(&opts, "upsert", true);
    mongoc_bulk_operation_t *bulk = mongo_bulk(link, MONGO_META);
    mongoc_bulk_operation_update_one_with_opts(bulk, filter, update, &opts, &error);
    if (st == OK)
        st = mongo_bulk_do(link, bulk, NULL, NULL);
    else
        mongoc_bulk_operation_destroy(bulk);
    bson_destroy(filter);
    bson_destroy(update);
    bson_destroy(&opts);
    return st;
}

enum status mongo_schema_ensure(struct mongo_link *link)
{
    int64_t version = 0;
    enum status st = check_server(link);
    if (st == OK)
        st = read_version(link, &version);
    if (st == OK && version > VERSION)
        return mongo_refuse(link, E_VERSION,
                            "its database \"%s\" was written by a newer peal (its format is %lld, "
                            "this one knows %d). Install that version here, too, or name another "
                            "database in the history's address.",
                            link->place->database, (long long)version, VERSION);
    if (st == OK && link->use == MONGO_WRITES && version < VERSION)
        st = migrate(link);
    if (st == OK && link->use == MONGO_WRITES)
        st = ensure_expiry(link);
    return st;
}
