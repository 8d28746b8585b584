/* What the files of the client share.
 *
 *     pg_client.c     made and freed; which connection a request goes to
 *     pg_address.c    the URL
 *     pg_wire.c       one connection over libpq (pg_wire.h: the border to the server)
 *     pg_connect.c    a thread that opens it
 *     pg_statements.c what is prepared on it
 *     pg_opening.c    what it is asked first: has the server kept what was seen before?
 *     pg_link.c       a connection that is kept up: jobs in a pipeline
 *     pg_call.c       a request: sent, sent again, answered
 *     pg_encode.c     a transaction as arrays
 *     pg_decode.c     rows as a result
 *     pg_list.c       a long range
 *     pg_feed.c       watches
 *     pg_lease.c      renewals, and leases of others that have run out
 *     pg_server.c     what the server says of itself */
#ifndef PEAL_PG_INTERNAL_H
#define PEAL_PG_INTERNAL_H

#include "kv_feed.h"
#include "kv_observer.h"
#include "kv_request.h"
#include "kv_shape.h"
#include "pg.h"
#include "pg_wire.h"
#include "pg_words.h"
#include "strbuf.h"

enum { PG_OWN_LEASES_MAX = 8 };

/* ---- opening a connection ---- */

enum pg_role {
    PG_CALLS,  /* requests */
    PG_STREAM, /* the feed, renewals, leases of others */
};

/* What is known of a connection that is open. */
struct pg_facts {
    int backend_pid;
    uint64_t system_id; /* of the server's data, its database and the schema, as a hash */
    int64_t rev, incarnation, floor;
    char timeline[16];
};

/* What it is to compare: copied. */
struct pg_memory {
    struct kv_mark mark;
    char timeline[16];   /* of the connection before; "": none */
    int old_backend_pid; /* to be ended; 0: none */
    int64_t own_leases[PG_OWN_LEASES_MAX];
    size_t own_lease_count;
};

struct pg_opening;
struct pg_client;

/* It is ready, or it failed; from the loop, once. E_VERSION and E_INVALID do not pass. */
typedef void pg_opened(void *context, enum status st, const char *why);

MUST_CHECK enum status pg_opening_new(struct pg_client *client, enum pg_role role,
                                      const struct pg_memory *memory, pg_opened *over,
                                      void *context, struct pg_opening **ret);
/* Once it is ready: the connection, which is the caller's, and what is known of it. */
struct pg_wire *pg_opening_take(struct pg_opening *opening, struct pg_facts *ret);
struct pg_opening *pg_opening_free(struct pg_opening *opening); /* accepts NULL */

/* ---- one connection on the loop ---- */

struct pg_link;

/* A statement and what becomes of it. */
struct pg_job {
    const struct pg_job_type *type;
    struct pg_job *next;
    enum pg_statement statement;
    const struct pg_params *params;
    bool is_dropped; /* nobody waits for it any more */
};

struct pg_job_type {
    /* What the statement has found. True: the rows are the job's now. */
    bool (*rows)(struct pg_job *job, PGresult *rows);
    /* It was not done; NULL: that is no matter. */
    void (*error)(struct pg_job *job, const struct pg_error *error);
    /* It is committed or undone, or the connection is lost and the outcome unknown; then it is off
     * the link. */
    void (*over)(struct pg_job *job, bool is_lost);
    /* One that is dropped, when it is off the link; any, when the link is freed. */
    void (*free)(struct pg_job *job);
};

struct pg_queue {
    struct pg_job *first, **end;
    size_t count;
};

struct pg_link {
    struct pg_client *client;
    enum pg_role role;
    struct pg_wire *wire;       /* NULL: not open */
    struct pg_opening *opening; /* NULL: none */
    struct loop_timer *timer;   /* the next attempt; or the next look at a silent server */
    struct pg_facts facts;      /* of the connection, or of the last one */
    struct pg_queue waiting, sent;
    struct strbuf why; /* the last failure */
    enum status status;
    int failures;
    int64_t heard_ms; /* when the server last sent anything, or a job was sent to an idle one */
    bool is_working;  /* results are being handled */
    bool must_close;  /* after what was just handled: the connection is of no more use */
};

MUST_CHECK enum status pg_link_init(struct pg_link *link, struct pg_client *client,
                                    enum pg_role role);
void pg_link_release(struct pg_link *link);
void pg_link_submit(struct pg_link *link, struct pg_job *job);
/* Takes a waiting job off; false: it was sent, or is not there. */
bool pg_link_withdraw(struct pg_link *link, struct pg_job *job);
/* Closes the connection and opens another: jobs that were sent are lost. While results are being
 * handled, that waits until they are. */
void pg_link_lose(struct pg_link *link, const char *why);

/* ---- requests ---- */

enum pg_kind {
    PG_KIND_RANGE,
    PG_KIND_PUT,
    PG_KIND_DELETE,
    PG_KIND_TXN,
    PG_KIND_GRANT,
    PG_KIND_REVOKE,
    PG_KIND_LOOK,
    PG_KIND_SETTLE,
};

struct pg_call {
    struct kv_request request; /* first */
    struct pg_job job;
    struct pg_link *link;
    enum pg_kind kind;
    struct pg_params params;
    struct kv_shape *shapes; /* of the levels, from 1 */
    int node_count, op_count;
    int64_t tag, seen;
    char seen_bytes[8], how_bytes[4];
    int how;
    int64_t lease, ttl_ms;
    PGresult *rows;
    enum status status;
    bool is_again; /* the failure passes: it is sent again */
};

struct pg_list;

struct pg_client {
    struct kv_client base; /* first */
    struct pg_address address;
    uint64_t client_id;
    struct pg_link calls, stream;
    struct kv_requests requests;
    struct pg_list *lists;
    int64_t mute_until_ms; /* no NOTIFY: its queue was full */
    int64_t newest;        /* the highest revision of any answer */

    struct kv_feed feed;
    bool is_feed_asked, must_read_feed;
    struct pg_job feed_job;
    struct pg_params feed_params;
    char cursor_bytes[8];
    struct loop_timer *poll_timer;

    struct kv_observer observer;
    struct pg_job look_job;
    bool is_looked;
    struct pg_job compact_job;
    struct pg_params compact_params;
    char compact_bytes[8];
    bool is_compacting;
    int64_t compacted; /* the revision at which that was last thought of */
    struct loop_timer *look_timer;
};

uint64_t pg_cluster_id(const struct pg_facts *facts, int64_t incarnation);

/* pg_call.c */
void pg_unblock(struct pg_client *client); /* somebody holds the lock that all wait for */
MUST_CHECK enum status pg_calls_init(struct pg_client *client, int64_t deadline_ms);

enum status pg_range(struct kv_client *client, const struct kv_range *request,
                     const struct kv_reply *reply, struct kv_call **ret);
enum status pg_put(struct kv_client *client, const struct kv_put *request,
                   const struct kv_reply *reply, struct kv_call **ret);
enum status pg_delete(struct kv_client *client, const struct kv_delete *request,
                      const struct kv_reply *reply, struct kv_call **ret);
enum status pg_txn(struct kv_client *client, const struct kv_branches *txn,
                   const struct kv_reply *reply, struct kv_call **ret);
enum status pg_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                           struct kv_call **ret);
enum status pg_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret);
enum status pg_lease_settle(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                            struct kv_call **ret);
enum status pg_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                          struct kv_call **ret);
void pg_call_cancel(struct kv_call *call);
void pg_call_may_repeat(struct kv_call *call);

/* pg_encode.c: everything into the call's arena. */
MUST_CHECK enum status pg_encode_txn(struct pg_call *call, const struct kv_branches *txn);
void pg_write_int8(char to[8], int64_t number);
void pg_write_int4(char to[4], int32_t number);
int64_t pg_read_int8(const char *from);
int32_t pg_read_int4(const char *from);

/* pg_decode.c: call->rows into call->result. */
MUST_CHECK enum status pg_decode_rows(struct pg_call *call);
/* Columns of an answer in binary form. */
int64_t pg_int8_at(const PGresult *rows, int row, int column);
struct kv_bytes pg_bytes_at(const PGresult *rows, int row, int column);
/* A revision and an incarnation that an answer brought. */
void pg_learn(struct pg_client *client, const struct pg_link *link, int64_t rev,
              int64_t incarnation, int64_t tag);

/* pg_list.c */
enum status pg_list(struct kv_client *base, const struct kv_range *request,
                    const struct kv_reply *reply, struct kv_list **ret);
void pg_list_cancel(struct kv_list *list);
void pg_lists_release(struct pg_client *client);

/* pg_feed.c */
enum status pg_watch_new(struct kv_client *base, const struct kv_watch_config *config,
                         kv_watch_notify *notify, void *context, struct kv_watch **ret);
void pg_watch_free(struct kv_watch *watch);
void pg_watch_restart(struct kv_watch *watch);
MUST_CHECK enum status pg_feed_init(struct pg_client *client);
void pg_feed_opened(struct pg_client *client);
void pg_feed_broken(struct pg_client *client, const char *why);
void pg_feed_read(struct pg_client *client); /* there may be changes */
void pg_feed_release(struct pg_client *client);

/* pg_lease.c */
bool pg_lease_renew(struct kv_client *client, int64_t id);
void pg_leases_want(struct kv_client *client, bool are_any);
void pg_leases_doubt(struct kv_client *client);
MUST_CHECK enum status pg_leases_init(struct pg_client *client);
void pg_leases_release(struct pg_client *client);
void pg_leases_opened(struct pg_client *client);
void pg_leases_broken(struct pg_client *client);
void pg_leases_saw(struct pg_client *client, const PGresult *rows); /* of PG_LEASES */
void pg_lease_end(struct pg_client *client, const struct kv_observed *lease);

#endif
