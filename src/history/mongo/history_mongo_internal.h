/* The parts of the MongoDB backend. A `struct mongo_link` is one client, used by one thread. */
#ifndef PEAL_HISTORY_MONGO_INTERNAL_H
#define PEAL_HISTORY_MONGO_INTERNAL_H

#include <mongoc/mongoc.h>

#include "history_columns.h"
#include "history_stats.h"
#include "mongo/history_mongo.h"

/* ---- the URL: history_mongo_place.c ---- */

struct mongo_place {
    mongoc_uri_t *uri;
    char database[64];
    char name[256];      /* for messages: "USER@HOST:PORT/DATABASE" */
    char *password_file; /* NULL: none */
    int64_t expire_days; /* -1: not given */
    struct history_server_limits limits;
};

MUST_CHECK enum status mongo_place_read(const char *url, const struct history_server_limits *limits,
                                        struct mongo_place *ret, struct strbuf *why);
void mongo_place_release(struct mongo_place *place);

/* ---- the connection: history_mongo_link.c ---- */

enum mongo_use { MONGO_WRITES, MONGO_READS };

enum mongo_collection {
    MONGO_RUNS,
    MONGO_OUTPUT,
    MONGO_STATS,
    MONGO_CHANGES,
    MONGO_META,
    MONGO_COLLECTIONS
};

enum { MONGO_FAILED_MAX = 64 };

struct mongo_link {
    struct history_link base;
    const struct mongo_place *place;
    enum mongo_use use;
    mongoc_client_t *client; /* NULL: not connected */
    mongoc_collection_t *collections[MONGO_COLLECTIONS];

    /* For the writer. Rows name the writer and the append that wrote them, so that no writer
     * overwrites a version that it has not read, and no run is counted twice. */
    int64_t writer;                   /* random id */
    int64_t seq;                      /* number of the current append */
    int64_t failed[MONGO_FAILED_MAX]; /* appends whose rows may be stored, but are not counted */
    size_t failed_next;
    struct stats_changes pending; /* statistics of append pending_seq that are still to be added */
    int64_t pending_seq;
    bool pending_is_unsure; /* an attempt failed: some of `pending` may have been added */
};

static inline struct mongo_link *mongo_link_of(struct history_link *link)
{
    return (struct mongo_link *)link;
}

void mongo_link_init(struct mongo_link *link, const struct mongo_place *place, enum mongo_use use);
void mongo_link_release(struct mongo_link *link);

/* Connects, and creates or migrates the collections. Unless OK, base.words says why. */
MUST_CHECK enum status mongo_link_open(struct history_link *base);

/* Explains the client's error in base.words; clears base.is_up if the connection is lost. */
enum status mongo_fail(struct mongo_link *link, const bson_error_t *error);

/* Rejects the server: clears base.is_up and puts the reason into base.words. */
enum status mongo_refuse(struct mongo_link *link, enum status st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs a database command. The caller destroys *ret, the reply, unless NULL. */
MUST_CHECK enum status mongo_command(struct mongo_link *link, const bson_t *command, bson_t *ret);

/* Iterates over documents; E_NOT_FOUND: no more documents. `opts` as in mongoc's find. */
struct mongo_cursor {
    struct mongo_link *link;
    mongoc_cursor_t *cursor;
};
void mongo_find(struct mongo_link *link, enum mongo_collection collection, const bson_t *filter,
                const bson_t *opts, struct mongo_cursor *ret);
MUST_CHECK enum status mongo_next(struct mongo_cursor *cursor, const bson_t **ret);
void mongo_cursor_release(struct mongo_cursor *cursor);

/* Copies the first document to *ret, which the caller destroys; E_NOT_FOUND: none. */
MUST_CHECK enum status mongo_find_one(struct mongo_link *link, enum mongo_collection collection,
                                      const bson_t *filter, const bson_t *opts, bson_t *ret);

/* Deletes all documents that match; *ret_count is their number. */
MUST_CHECK enum status mongo_delete(struct mongo_link *link, enum mongo_collection collection,
                                    const bson_t *filter, int64_t *ret_count);

/* An unordered bulk of writes. mongo_bulk_do runs and frees it; for each write that failed because
 * its _id exists it calls `exists`, which may be NULL, with the write's place in the bulk. */
mongoc_bulk_operation_t *mongo_bulk(struct mongo_link *link, enum mongo_collection collection);
MUST_CHECK enum status mongo_bulk_do(struct mongo_link *link, mongoc_bulk_operation_t *bulk,
                                     void (*exists)(void *context, size_t place), void *context);

/* Adds the reason and a next step: history_mongo_words.c. */
enum status mongo_explain(const struct mongo_place *place, const bson_error_t *error,
                          bool *ret_is_away, struct strbuf *words);

/* ---- collections and indexes: history_mongo_schema.c ---- */

/* Creates or migrates collections and indexes; called on a new connection. */
MUST_CHECK enum status mongo_schema_ensure(struct mongo_link *link);

/* ---- documents: history_mongo_row.c ---- */

/* Ids are stored as text, in the form that users see. */
void mongo_add_id(bson_t *to, const char *key, const struct id *id);
struct id mongo_get_id(const bson_t *document, const char *key);
int64_t mongo_get_int(const bson_t *document, const char *key); /* 0: no such field */

/* {key: {op: id}} */
void mongo_add_id_bound(bson_t *to, const char *key, const char *op, const struct id *id);
/* {key: {$in: [ids]}} */
void mongo_add_ids(bson_t *to, const char *key, const struct id *ids, size_t count);

/* {key: {$in: [the numbers whose bits are set]}} */
void mongo_add_set(bson_t *to, const char *key, uint64_t set);
/* The states and the kinds, each of which is an index range of its own. */
void mongo_add_states(bson_t *to, unsigned states);
void mongo_add_kinds(bson_t *to, bool runs, bool entries);

/* The text is part of one of the fields `texts` (NULL-terminated), or the field `number` is in the
 * set `numbers`. The server folds more than ASCII case: the caller checks the rows found. */
void mongo_add_text_search(bson_t *to, const char *text, const char *const *texts,
                           const char *number, uint64_t numbers);

/* Rows that a search with filters beyond the index examines. */
enum {
    MONGO_VISITS_MAX = 11 * 1000,
    MONGO_VISITS_FIRST = 1000, /* in the first step; each further step examines ten times as many */
};

/* The id of the nth newest document that matches; zero if there are fewer. */
MUST_CHECK enum status mongo_find_nth(struct mongo_link *link, enum mongo_collection collection,
                                      const bson_t *filter, int64_t nth, struct id *ret);

/* Replaces invalid UTF-8. */
MUST_CHECK enum status mongo_add_text(bson_t *to, const char *key, const char *text, size_t length);

/* table_columns as fields of a document. */
MUST_CHECK enum status mongo_add_columns(bson_t *to, enum record_table table, const void *record);
void mongo_load_columns(const bson_t *document, enum record_table table, void *record);

/* A run or an entry as a document, written by append `seq` of `writer`. */
MUST_CHECK enum status mongo_add_row(bson_t *to, const struct history_row *row, int64_t writer,
                                     int64_t seq);
void mongo_load_row(const bson_t *document, struct history_row *ret);

/* Options for a find: {sort: {sort_by: direction}, limit: limit}. */
bson_t *mongo_opts(const char *sort_by, int direction, int64_t limit);

/* ---- what the requests do ---- */

MUST_CHECK enum status mongo_append(struct history_link *base, const struct history_append *append);
MUST_CHECK enum status mongo_read_request(struct history_link *base,
                                          struct history_request *request);
extern const struct prune_driver mongo_prune_driver; /* history_mongo_prune.c */

/* ---- changes: history_mongo_changes.c ---- */

/* Inserts the changes among the append's records. */
MUST_CHECK enum status mongo_write_changes(struct mongo_link *link,
                                           const struct history_append *append);
MUST_CHECK enum status mongo_read_changes(struct mongo_link *link, struct history_changes *changes);

/* ---- statistics: history_mongo_stats.c ---- */

/* Adds link->pending to the stored statistics, each cell exactly once. */
MUST_CHECK enum status mongo_stats_settle(struct mongo_link *link);
MUST_CHECK enum status mongo_stats_read(struct mongo_link *link, struct history_stats *stats);

#endif
