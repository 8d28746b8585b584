/* A PostgreSQL that is played: a server of keys (../keys/play.h) that executes the named statements
 * of pg_statements.c, as the functions of pg_schema_1.sql do, and no other SQL. It stands in for
 * pg_wire.c; all of the client above that is the product's: its openings, links, feed, leases and
 * calls.
 *
 * A transaction that may write holds the row of kv_feed from when it is its turn until it is
 * committed, a while later; one that is ended before has done nothing. Without that lock (the
 * schema's text says whether kv_txn_1 takes it) revisions are given out like the numbers of a
 * sequence: one can become visible after a later one.
 *
 * A server that was killed comes back, or a replica takes its place, on another timeline; it may
 * lack commits that were acknowledged (wire_restore.c says how many, so that the promises can be
 * kept). A backup that is restored has its incarnation, and only the tags tell; or it is another
 * server's, with another system identifier. Its clock is nobody else's, and jumps. */
#ifndef PEAL_SIM_PG_PLAY_H
#define PEAL_SIM_PG_PLAY_H

#include "pg_wire.h"
#include "play.h"

#define PG_DATABASE "16384" /* its oid */

struct pg_param {
    size_t length;
    char *bytes;
};

struct pg_query {
    enum pg_statement statement;
    int count;
    struct pg_param params[PG_PARAMS_MAX];
};

/* What comes back: rows, an error, or a notification. */
struct pg_answer {
    PGresult *rows;
    const char *state; /* of an error */
    const char *message;
};

struct pg_conn {
    struct line line; /* first; busy: with a transaction, which is committed then, */
    uint64_t client_id;
    bool listens;
    struct pg_query *query;   /* this one; */
    struct pg_answer *answer; /* or it is done, and this is to be said; else NULL */
};

struct pg_hidden {
    int64_t revision, until_ms;
};

enum { PG_HIDDEN_MAX = 64 };

struct pg_play {
    struct play base; /* first */
    unsigned timeline;
    int64_t system;      /* its identifier */
    int64_t unlocked_ms; /* when the row of kv_feed is free */
    bool has_lock;
    struct pg_hidden hidden[PG_HIDDEN_MAX]; /* written, and not committed yet: without a lock */
    int hidden_count;
};

/* ---- pg_lines.c ---- */

extern const struct line_ops pg_line_ops;
struct pg_answer *pg_answer_rows(PGresult *rows);
struct pg_answer *pg_answer_error(const char *state, const char *message);
/* Whoever listens is notified. */
void pg_notify(struct play *play);
void pg_query_free(struct pg_query *query);

/* ---- pg_play.c ---- */

/* Its answer; NULL: it is busy, and answered later. The query is taken. */
struct pg_answer *pg_do(struct pg_conn *conn, struct pg_query *query);
/* The transaction that it was busy with is committed. */
struct pg_answer *pg_commit(struct pg_conn *conn);
int64_t pg_number(const struct pg_query *query, int param);

/* ---- pg_visible.c ---- */

bool pg_is_visible(const struct pg_play *pg, int64_t revision);
int64_t pg_visible_rev(const struct pg_play *pg); /* the last one that can be seen */
void pg_hide(struct pg_play *pg, int64_t revision, int64_t until_ms);
/* Of a key, as it can be seen; NULL: not there. */
const struct model_version *pg_visible(const struct pg_play *pg, const struct model_key *key);

/* ---- pg_read.c: statements that read the tables ---- */

PGresult *pg_changes(struct pg_play *pg, int64_t after);
PGresult *pg_list_rows(const struct pg_play *pg, const struct pg_query *query);
PGresult *pg_leases(struct pg_play *pg);
PGresult *pg_facts(const struct pg_play *pg, const struct pg_conn *conn);
PGresult *pg_tag_of(const struct pg_play *pg, int64_t revision);

/* ---- pg_txn.c ---- */

struct pg_answer *pg_transact(struct pg_play *pg, const struct pg_query *query);

/* ---- pg_rows.c: rows in binary form ---- */

PGresult *rows_new(int columns);
void rows_add(PGresult *rows); /* one more, of NULLs; then its columns: */
void rows_int8(PGresult *rows, int column, int64_t number);
void rows_int4(PGresult *rows, int column, int number);
void rows_bool(PGresult *rows, int column, bool is_true);
void rows_bytes(PGresult *rows, int column, const void *bytes, size_t length);
void rows_text(PGresult *rows, int column, const char *text);
PGresult *rows_of(int64_t number); /* one row, one column */

/* Arrays, as a column and as a parameter. */
struct pg_array {
    struct strbuf elements;
    int count;
};
void array_init(struct pg_array *array);
void array_bytes(struct pg_array *array, const void *bytes, size_t length); /* NULL: a NULL */
void array_int8(struct pg_array *array, int64_t number);
void rows_array(PGresult *rows, int column, struct pg_array *array); /* and releases it */

struct pg_elements {
    const char *at;
    int count;
};
struct pg_elements elements_of(const struct pg_query *query, int param);
ProtobufCBinaryData elements_bytes(struct pg_elements *elements); /* the next */
int64_t elements_number(struct pg_elements *elements);            /* of 1, 4 or 8 bytes */

#endif
