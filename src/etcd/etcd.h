/* A client of etcd (3.4 and later): gRPC over HTTP/2, plain or TLS, on peal's loop. One thread;
 * nothing blocks.
 *
 * A request is a plain struct of borrowed bytes; it is encoded before the function returns. Its
 * answer comes later, from the loop, through `done`, exactly once unless the call is cancelled.
 * `done` copies what it needs: the memory of a result is freed when it returns. It may make further
 * requests, but not free the client.
 *
 * A function that does not return OK has done nothing, and its `done` is not called. SIGPIPE must
 * be ignored: servers go away.
 *
 * What a result's status says:
 *     OK             done
 *     E_UNREACHABLE  surely not done: no endpoint could be asked; the message names each
 *     E_UNKNOWN      sent, outcome unknown (deadline, connection lost): a write may have been
 *                    done, or may still be. Read back, never guess
 *     E_BUSY         not done: the quota is used up (NOSPACE), or too many requests
 *     E_TOO_LARGE    request or answer too large
 *     E_NOT_FOUND    no such lease; a revision that is compacted or yet to come
 *     E_CONFLICT, E_INVALID, E_VERSION, E_CORRUPT, E_NOMEM: see the message
 * Reads are retried until their deadline; writes only when they surely were not done, or when the
 * caller marked them with etcd_call_may_repeat. */
#ifndef PEAL_ETCD_H
#define PEAL_ETCD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct etcd_client;
struct etcd_call;

struct etcd_bytes {
    const void *data;
    size_t length;
};

struct etcd_bytes etcd_text(const char *text); /* without its terminator */

/* ---- client ---- */

struct etcd_client_config {
    /* "http://host:port", "https://host:port" or "host:port" (TLS when any of the files is set), in
     * order of preference. An IPv6 address is in brackets. */
    const char *const *endpoints;
    size_t endpoint_count;
    const char *user, *password; /* NULL: none */
    const char *ca_file;         /* PEM; NULL: the system's authorities */
    const char *cert_file, *key_file;
    const char *server_name;    /* checked in the certificate; NULL: the endpoint's host */
    int64_t deadline_ms;        /* default of requests; 0: 2000 */
    int64_t connect_timeout_ms; /* TCP, TLS and HTTP/2 together; 0: 1000 */
};

/* Connects with the first request. E_INVALID, E_IO: *reterr says which endpoint or file. */
MUST_CHECK enum status etcd_client_new(struct loop *loop, const struct etcd_client_config *config,
                                       struct etcd_client **ret, struct parse_error *reterr);

/* After its watches, leases and elections. Requests under way are cancelled. Accepts NULL; returns
 * NULL. */
struct etcd_client *etcd_client_free(struct etcd_client *client);

/* After a request was answered: a user is configured, but the server's authentication is off. */
bool etcd_client_has_needless_user(const struct etcd_client *client);

/* `away` is called, from the loop, whenever a member does not answer the leader probe while
 * repeatable calls wait: there may be no leader. `why` is freed when it returns. */
void etcd_client_tell_away(struct etcd_client *client, void (*away)(void *context, const char *why),
                           void *context);

/* ---- results ---- */

struct etcd_kv {
    struct etcd_bytes key, value;
    int64_t create_revision, mod_revision;
    int64_t version; /* 0: deleted, or never there */
    int64_t lease;   /* 0: none */
};

enum etcd_op_kind {
    ETCD_OP_RANGE,
    ETCD_OP_PUT,
    ETCD_OP_DELETE,
    ETCD_OP_TXN,
};

struct etcd_txn_result {
    bool succeeded; /* which branch was taken */
    const struct etcd_op_result *ops;
    size_t op_count;
};

struct etcd_op_result {
    enum etcd_op_kind kind;
    const struct etcd_kv *kvs; /* of a range, or the previous ones (want_previous) */
    size_t kv_count;
    int64_t count; /* of keys in the range without its limit, or of deleted ones */
    bool more;     /* the limit cut the range off */
    struct etcd_txn_result txn;
};

struct etcd_lease_result {
    int64_t id;
    int64_t ttl_s;     /* of a look: what is left of it, rounded down; -1: there is no such lease */
    int64_t granted_s; /* of a look: the whole of it */
};

enum etcd_alarm {
    ETCD_ALARM_NONE = 0,
    ETCD_ALARM_NOSPACE = 1,
    ETCD_ALARM_CORRUPT = 2,
};

struct etcd_alarm_member {
    uint64_t member_id;
    enum etcd_alarm alarm;
};

struct etcd_member_result {
    const char *version;
    int64_t db_bytes, db_bytes_in_use;
    uint64_t leader_id; /* 0: none */
    const struct etcd_alarm_member *alarms;
    size_t alarm_count;
};

struct etcd_result {
    enum status status;
    int code;            /* gRPC's; -1: the server did not answer */
    const char *message; /* the server's, or what happened on the way; "" when OK */
    int64_t revision;    /* of the store, when it answered */
    uint64_t member_id;  /* who answered */
    uint64_t cluster_id; /* chosen when the cluster was created; 0: not in the answer */
    uint64_t raft_term;  /* grows with every election, as known to that member; 0: likewise */
    bool is_repeated;    /* an earlier copy may have been done, so comparisons may fail */
    struct etcd_op_result op;
    struct etcd_lease_result lease;
    struct etcd_member_result member;
};

typedef void etcd_done(void *context, const struct etcd_result *result);

/* Where the answer goes. */
struct etcd_reply {
    etcd_done *done;
    void *context;
    int64_t deadline_ms; /* 0: the client's */
};

/* `done` will not be called. What was sent may still be done. Accepts NULL; only before `done`. */
void etcd_call_cancel(struct etcd_call *call);

/* Marks a call as idempotent, or as one whose comparisons fail the second time: while its outcome
 * is unknown it is sent again, through any member. To be called right after the call was made. */
void etcd_call_may_repeat(struct etcd_call *call);

/* ---- keys and values; `ret` may be NULL where nobody will cancel ---- */

enum etcd_sort {
    ETCD_SORT_NONE, /* by key */
    ETCD_SORT_KEY_DESCENDING,
    ETCD_SORT_CREATED_ASCENDING,
    ETCD_SORT_CREATED_DESCENDING,
    ETCD_SORT_CHANGED_ASCENDING,
    ETCD_SORT_CHANGED_DESCENDING,
};

struct etcd_range {
    struct etcd_bytes key, end; /* no end: this key alone; else [key, end) */
    bool prefix;                /* all keys that begin with `key`; `end` is not used */
    int64_t limit;              /* 0: none */
    int64_t revision;           /* 0: the newest */
    enum etcd_sort sort;
    bool serializable; /* any member may answer from its own state: fast, perhaps stale */
    bool keys_only, count_only;
    int64_t max_create_revision; /* 0: any */
};

struct etcd_put {
    struct etcd_bytes key, value;
    int64_t lease;
    bool want_previous;
};

struct etcd_delete {
    struct etcd_bytes key, end;
    bool prefix;
    bool want_previous;
};

MUST_CHECK enum status etcd_range(struct etcd_client *client, const struct etcd_range *request,
                                  const struct etcd_reply *reply, struct etcd_call **ret);
MUST_CHECK enum status etcd_put(struct etcd_client *client, const struct etcd_put *request,
                                const struct etcd_reply *reply, struct etcd_call **ret);
MUST_CHECK enum status etcd_delete(struct etcd_client *client, const struct etcd_delete *request,
                                   const struct etcd_reply *reply, struct etcd_call **ret);

/* A long range in pages of `request->limit` keys (0: of a few MiB), all at the revision of the
 * first, by key. `done` is called for each page; op.more is false in the last one, and an error is
 * the last call. E_NOT_FOUND with code 11: the revision was compacted meanwhile; list again. */
struct etcd_list;
MUST_CHECK enum status etcd_list(struct etcd_client *client, const struct etcd_range *request,
                                 const struct etcd_reply *reply, struct etcd_list **ret);
void etcd_list_cancel(struct etcd_list *list); /* as etcd_call_cancel, before the last page */

/* ---- transactions: see also etcd_txn.h ---- */

struct etcd_txn;
MUST_CHECK enum status etcd_txn_send(struct etcd_client *client, struct etcd_txn *txn,
                                     const struct etcd_reply *reply, struct etcd_call **ret);

/* ---- leases: see etcd_lease.h for one that is kept alive ---- */

MUST_CHECK enum status etcd_lease_grant(struct etcd_client *client, int64_t ttl_s,
                                        const struct etcd_reply *reply, struct etcd_call **ret);
MUST_CHECK enum status etcd_lease_revoke(struct etcd_client *client, int64_t id,
                                         const struct etcd_reply *reply, struct etcd_call **ret);
/* When was the lease last renewed? Takes neither a quorum nor a write. */
MUST_CHECK enum status etcd_lease_look(struct etcd_client *client, int64_t id,
                                       const struct etcd_reply *reply, struct etcd_call **ret);

/* ---- maintenance ---- */

/* Version, size and leader as the member at the other end sees them; it need not have a leader. */
MUST_CHECK enum status etcd_status(struct etcd_client *client, const struct etcd_reply *reply,
                                   struct etcd_call **ret);
MUST_CHECK enum status etcd_alarms(struct etcd_client *client, const struct etcd_reply *reply,
                                   struct etcd_call **ret);

#endif
