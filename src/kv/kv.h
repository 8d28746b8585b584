/* Keys and values that many machines share: revisions, transactions that compare and write, lists,
 * watches, leases. The store of a cluster and the coordination are written against this contract;
 * etcd (src/etcd) is one implementation of it. kv_backend.h is the contract's other side.
 *
 * Everything is on peal's loop: one thread, nothing blocks. A request is a plain struct of borrowed
 * bytes; it is encoded before the function returns. Its answer comes later, from the loop, through
 * `done`, exactly once unless the call is cancelled. `done` copies what it needs: the memory of a
 * result is freed when it returns. It may make further requests, but not free the client.
 *
 * A function that does not return OK has done nothing, and its `done` is not called. SIGPIPE must
 * be ignored: servers go away.
 *
 * Every change has a revision: a number that grows with each transaction that changes anything, the
 * same for all that one transaction changes. A key knows the revisions in which it was created and
 * last changed, and its version: the number of changes since it was created.
 *
 * What a result's status says:
 *     OK             done
 *     E_UNREACHABLE  surely not done: no server could be asked; the message names each
 *     E_UNKNOWN      sent, outcome unknown (deadline, connection lost): a write may have been
 *                    done, or may still be. Read back, never guess
 *     E_BUSY         not done: the server is full, or has too many requests
 *     E_TOO_LARGE    request or answer too large
 *     E_NOT_FOUND    no such lease; a revision that is compacted or yet to come
 *     E_CONFLICT, E_INVALID, E_VERSION, E_CORRUPT, E_NOMEM: see the message
 * Reads are retried until their deadline; writes only when they surely were not done, or when the
 * caller marked them with kv_call_may_repeat. */
#ifndef PEAL_KV_H
#define PEAL_KV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

struct kv_client;
struct kv_call;

struct kv_bytes {
    const void *data;
    size_t length;
};

struct kv_bytes kv_text(const char *text); /* without its terminator */

/* ---- client: made by the implementation ---- */

/* What one request may hold. */
struct kv_limits {
    size_t width; /* of a transaction: per level the compares or the operations, whichever are
                   * more, added up from its top to its bottom; 128 at least */
    size_t bytes; /* of a request; 1 MiB at least */
};

/* What users and callers have to know of a kind of server. */
struct kv_kind {
    const char *name; /* for messages: "etcd" */
    struct kv_limits limits;
    bool is_quota_shallow; /* a server that is full takes no write at the top of a transaction,
                            * but overlooks those further down */
    const char *when_full; /* what to do then, as the end of a message */
    const char *when_away; /* likewise when no server can be reached */
};

const struct kv_kind *kv_client_kind(const struct kv_client *client);

/* After its watches, leases and elections. Requests under way are cancelled. Accepts NULL; returns
 * NULL. */
struct kv_client *kv_client_free(struct kv_client *client);

/* `away` is called, from the loop, whenever calls that may be repeated wait and a server does not
 * answer. `why` is freed when it returns. */
void kv_client_tell_away(struct kv_client *client, void (*away)(void *context, const char *why),
                         void *context);

/* What was seen last: a change, known by its revision and a random number that was written with it,
 * and whose data it is of. A server that has another change in that revision has lost what was
 * acknowledged. All zero: nothing is remembered, or this kind of server has no such numbers. */
struct kv_mark {
    int64_t revision, tag, incarnation;
};

struct kv_mark kv_client_mark(const struct kv_client *client);
/* What a process before this one has seen; right after the client was made. */
void kv_client_recall(struct kv_client *client, const struct kv_mark *mark);

/* ---- results ---- */

struct kv_pair {
    struct kv_bytes key, value;
    int64_t create_revision, mod_revision;
    int64_t version; /* 0: deleted, or never there */
    int64_t lease;   /* 0: none */
};

enum kv_op_kind {
    KV_OP_RANGE,
    KV_OP_PUT,
    KV_OP_DELETE,
    KV_OP_TXN,
};

struct kv_txn_result {
    bool succeeded; /* which branch was taken */
    const struct kv_op_result *ops;
    size_t op_count;
};

struct kv_op_result {
    enum kv_op_kind kind;
    const struct kv_pair *kvs; /* of a range, or the previous ones (want_previous) */
    size_t kv_count;
    int64_t count; /* of keys in the range without its limit, or of deleted ones */
    bool more;     /* the limit cut the range off */
    struct kv_txn_result txn;
};

struct kv_lease_result {
    int64_t id;
    int64_t ttl_s;     /* of a look: what is left of it, rounded down; -1: there is no such lease */
    int64_t granted_s; /* of a look: the whole of it */
};

enum { KV_NO_CODE = -1 };

struct kv_result {
    enum status status;
    int code;            /* the server's own; KV_NO_CODE: it did not answer */
    const char *message; /* the server's, or what happened on the way; "" when OK */
    int64_t revision;    /* of the server's data, when it answered */
    uint64_t
        cluster_id; /* whose data these are: chosen when they were begun; 0: not in the answer */
    uint64_t server_id; /* who answered; 0: likewise */
    uint64_t term;      /* grows whenever another server leads; 0: likewise */
    bool is_repeated;   /* an earlier copy may have been done, so comparisons may fail */
    struct kv_op_result op;
    struct kv_lease_result lease;
    const void *own; /* of a request that only this kind of server has: see its header */
};

typedef void kv_done(void *context, const struct kv_result *result);

/* Where the answer goes. */
struct kv_reply {
    kv_done *done;
    void *context;
    int64_t deadline_ms; /* 0: the client's */
};

/* `done` will not be called. What was sent may still be done. Accepts NULL; only before `done`. */
void kv_call_cancel(struct kv_call *call);

/* Marks a call as idempotent, or as one whose comparisons fail the second time: while its outcome
 * is unknown it is sent again, through any member. To be called right after the call was made. */
void kv_call_may_repeat(struct kv_call *call);

/* ---- keys and values; `ret` may be NULL where nobody will cancel ---- */

enum kv_sort {
    KV_SORT_NONE, /* by key */
    KV_SORT_KEY_DESCENDING,
    KV_SORT_CREATED_ASCENDING,
    KV_SORT_CREATED_DESCENDING,
    KV_SORT_CHANGED_ASCENDING,
    KV_SORT_CHANGED_DESCENDING,
};

struct kv_range {
    /* No end: this key alone; else [key, end). An end of one zero byte: all from `key` on. */
    struct kv_bytes key, end;
    bool prefix;      /* all keys that begin with `key`; `end` is not used */
    int64_t limit;    /* 0: none */
    int64_t revision; /* 0: the newest */
    enum kv_sort sort;
    bool serializable; /* any server may answer from its own state: fast, perhaps stale */
    bool keys_only, count_only;
    int64_t max_create_revision; /* 0: any */
};

struct kv_put {
    struct kv_bytes key, value;
    int64_t lease;
    bool want_previous;
};

struct kv_delete {
    struct kv_bytes key, end;
    bool prefix;
    bool want_previous;
};

MUST_CHECK enum status kv_range(struct kv_client *client, const struct kv_range *request,
                                const struct kv_reply *reply, struct kv_call **ret);
MUST_CHECK enum status kv_put(struct kv_client *client, const struct kv_put *request,
                              const struct kv_reply *reply, struct kv_call **ret);
MUST_CHECK enum status kv_delete(struct kv_client *client, const struct kv_delete *request,
                                 const struct kv_reply *reply, struct kv_call **ret);

/* A long range in pages of `request->limit` keys (0: of a few MiB), all at the revision of the
 * first, by key. `done` is called for each page; op.more is false in the last one, and an error is
 * the last call. E_NOT_FOUND: the revision was compacted meanwhile; list again. */
struct kv_list;
MUST_CHECK enum status kv_list(struct kv_client *client, const struct kv_range *request,
                               const struct kv_reply *reply, struct kv_list **ret);
void kv_list_cancel(struct kv_list *base); /* as kv_call_cancel, before the last page */

/* ---- transactions: see also kv_txn.h ---- */

struct kv_txn;
MUST_CHECK enum status kv_txn_send(struct kv_client *client, struct kv_txn *txn,
                                   const struct kv_reply *reply, struct kv_call **ret);

/* ---- leases: see kv_lease.h for one that is kept alive ---- */

MUST_CHECK enum status kv_lease_grant(struct kv_client *client, int64_t ttl_s,
                                      const struct kv_reply *reply, struct kv_call **ret);
MUST_CHECK enum status kv_lease_revoke(struct kv_client *client, int64_t id,
                                       const struct kv_reply *reply, struct kv_call **ret);
/* When was the lease last renewed? Takes no write. */
MUST_CHECK enum status kv_lease_look(struct kv_client *client, int64_t id,
                                     const struct kv_reply *reply, struct kv_call **ret);
/* The same, for a lease of which perhaps nobody has seen that it has run out, since nobody was
 * there: it is ended then. `ttl_s` 0: it may be over; ask again soon. Only where kv_must_settle:
 * other servers end leases by themselves. */
bool kv_must_settle(const struct kv_client *client);
MUST_CHECK enum status kv_lease_settle(struct kv_client *client, int64_t id,
                                       const struct kv_reply *reply, struct kv_call **ret);

#endif
