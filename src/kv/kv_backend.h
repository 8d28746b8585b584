/* The other side of the contract in kv.h: what an implementation (etcd, ...) provides, and what it
 * is given. Its client, calls and watches begin with the structs here. */
#ifndef PEAL_KV_BACKEND_H
#define PEAL_KV_BACKEND_H

#include "kv_txn.h"
#include "kv_watch.h"
#include "table.h"

/* ---- a transaction as it was built ---- */

enum kv_target {
    KV_TARGET_VERSION,
    KV_TARGET_MOD_REVISION,
    KV_TARGET_LEASE,
};

struct kv_compare {
    struct kv_bytes key;
    enum kv_target target;
    enum kv_relation relation;
    int64_t number;
};

struct kv_op {
    enum kv_op_kind kind;
    union {
        struct kv_range range;
        struct kv_put put;
        struct kv_delete remove;
        const struct kv_branches *txn;
    };
};

struct kv_ops_list {
    struct kv_op *items;
    size_t count, room;
};

struct kv_compare_list {
    struct kv_compare *items;
    size_t count, room;
};

/* The compares of the whole tree are evaluated on the state before any of its writes; then the
 * branches that they choose are carried out, all with one revision. A key is written at most once.
 * Nothing depends on whether a range sees writes of its own transaction. */
struct kv_branches {
    struct kv_compare_list compares;
    struct kv_ops_list success, failure;
};

/* ---- what an implementation provides ---- */

struct kv_client_ops {
    enum status (*range)(struct kv_client *client, const struct kv_range *request,
                         const struct kv_reply *reply, struct kv_call **ret);
    enum status (*put)(struct kv_client *client, const struct kv_put *request,
                       const struct kv_reply *reply, struct kv_call **ret);
    enum status (*remove)(struct kv_client *client, const struct kv_delete *request,
                          const struct kv_reply *reply, struct kv_call **ret);
    /* `txn` is valid until the function returns. */
    enum status (*txn)(struct kv_client *client, const struct kv_branches *txn,
                       const struct kv_reply *reply, struct kv_call **ret);
    enum status (*lease_grant)(struct kv_client *client, int64_t ttl_s,
                               const struct kv_reply *reply, struct kv_call **ret);
    enum status (*lease_revoke)(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                                struct kv_call **ret);
    enum status (*lease_look)(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                              struct kv_call **ret);
    /* NULL: the server ends leases by itself (kv_must_settle). */
    enum status (*lease_settle)(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                                struct kv_call **ret);
    /* NULL: kv_list.c lists in pages, by ranges at a revision. */
    enum status (*list)(struct kv_client *client, const struct kv_range *request,
                        const struct kv_reply *reply, struct kv_list **ret);
    void (*list_cancel)(struct kv_list *list);
    void (*call_cancel)(struct kv_call *call);
    void (*call_may_repeat)(struct kv_call *call);

    enum status (*watch_new)(struct kv_client *client, const struct kv_watch_config *config,
                             kv_watch_notify *notify, void *context, struct kv_watch **ret);
    void (*watch_free)(struct kv_watch *watch);
    void (*watch_restart)(struct kv_watch *watch);

    /* The renewal of leases that are kept alive. False: it can't be sent now; either
     * kv_leases_opened comes, or it is asked for again soon. The answer comes by
     * kv_lease_renewed. */
    bool (*lease_renew)(struct kv_client *client, int64_t id);
    void (*leases_want)(struct kv_client *client, bool are_any); /* they need a connection */
    void (*leases_doubt)(struct kv_client *client); /* an answer is late: does the server live? */

    void (*free)(struct kv_client *client);
};

/* The base of a client: kv_client_init before it is used, kv_client_release when it is freed. */
struct kv_client {
    const struct kv_client_ops *ops;
    const struct kv_kind *kind;
    struct loop *loop;
    struct table leases; /* those that are held, by id */
    struct kv_mark mark;
    void (*away)(void *context, const char *why);
    void *away_context;
};

void kv_client_init(struct kv_client *client, const struct kv_client_ops *ops,
                    const struct kv_kind *kind, struct loop *loop);
void kv_client_release(struct kv_client *client);
void kv_client_is_away(struct kv_client *client, const char *why); /* tells who asked to know */

struct kv_call {
    struct kv_client *client;
};

struct kv_list {
    struct kv_client *client;
};

struct kv_watch {
    struct kv_client *client;
    kv_watch_notify *notify;
    void *context;
    int64_t next_revision; /* the first that was not delivered yet; 0: from now on */
};

/* ---- leases, told to kv_lease.c ---- */

extern const struct table_type kv_lease_type; /* of client->leases */

void kv_leases_opened(struct kv_client *client); /* a new connection: all are renewed at once */
void kv_leases_broken(struct kv_client *client); /* answers that are awaited will not come */
/* The server has renewed the lease for `ttl_ms` more; 0: it has no such lease. */
void kv_lease_renewed(struct kv_client *client, int64_t id, int64_t ttl_ms);

/* ---- help ---- */

int64_t kv_now_ms(void); /* the boot clock */

/* Where all keys that begin with `prefix` end, as in struct kv_range; in the arena. E_NOMEM. */
struct arena;
MUST_CHECK enum status kv_prefix_end(struct arena *arena, struct kv_bytes prefix,
                                     struct kv_bytes *ret);

/* The keys of a range as [low, high), for servers that have no other form of it; in the arena.
 * E_NOMEM. */
MUST_CHECK enum status kv_span(struct arena *arena, struct kv_bytes key, struct kv_bytes end,
                               bool prefix, struct kv_bytes *ret_low, struct kv_bytes *ret_high);

/* In the order of their bytes: below, at or above zero. */
int kv_compare_bytes(struct kv_bytes a, struct kv_bytes b);

/* Positive, below 2^53 so that any language's numbers hold it: tags, ids of leases, incarnations.
 */
int64_t kv_random(void);

#endif
