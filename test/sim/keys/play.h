/* A server of keys that is played, Redis or PostgreSQL: one process in front of the keys and
 * revisions of the etcd that is played (etcd_model.h), so that the world of etcd can be the world
 * around it. What the two share is here: connections (line.h), tags of transactions, leases that
 * clients count, transactions, and what the world does to its servers (play_world.c).
 *
 * A server without a leader is frozen, and does later what it was told; members that are down are
 * one that was killed. The first member is the server; one of the others that is down alone is its
 * replica, frozen. */
#ifndef PEAL_SIM_PLAY_H
#define PEAL_SIM_PLAY_H

#include "etcd_serve.h"
#include "kv_server.h"
#include "line.h"
#include "strbuf.h"

struct play_tag {
    int64_t tag;
    char *branches;
};

struct play_lease {
    int64_t id, ttl_ms, beats;
    int64_t renewed_ms; /* or granted, by play_clock_ms */
    char place[128];    /* the server, or its timeline, as its owner has compared it last */
};

struct play {
    struct etcd_serve *serve;
    struct etcd_model *model;
    struct stage *stage;
    struct net *net;
    struct arena arena;
    struct lines lines;
    int64_t incarnation;
    int64_t clock_ahead_ms; /* its clock; of one that says how old a lease is */
    int runs;               /* how often it was started */
    struct play_tag *tags;  /* by revision */
    size_t tag_room;
    struct play_lease *leases;
    size_t lease_count, lease_room;
};

/* ---- what the server that is played provides ---- */

extern const struct play_server {
    size_t size; /* of what begins with struct play */
    const struct line_ops *lines;
    const char *url;
    const char *lost; /* what a client is told when the server ends its connection */
    enum status (*open_client)(struct loop *loop, const struct kv_server *server,
                               struct kv_client **ret, struct parse_error *reterr);
    void (*init)(struct play *play);    /* its own part, zeroed; there are no keys yet */
    void (*release)(struct play *play); /* likewise */
    void (*made)(struct play *play);    /* now there are */
    /* A revision was made; it is to tell the oracle (play_tell_oracle). */
    void (*changed)(struct play *play, struct model_version *const *versions, size_t count);
    void (*told)(struct play *play); /* whoever waits for changes is, of a lease that has run out */
    void (*froze)(struct play *play, bool is_replica_frozen);
    void (*killed)(struct play *play); /* a replica may take its place; connections end */
    /* It goes back to that revision, and all connections have ended; `keeps_id`: only its content
     * tells. */
    void (*restored)(struct play *play, int64_t revision, bool keeps_id);
} play_server;

/* ---- play_world.c ---- */

struct play *play_of(const struct net *net);
void play_tell_oracle(struct play *play, struct model_version *const *versions, size_t count);
int64_t play_any_number(struct play *play); /* as kv_random, which is a machine's */

/* ---- play_state.c ---- */

int64_t play_clock_ms(const struct play *play);

void play_note_tag(struct play *play, int64_t before, int64_t tag, const char *branches);
int64_t play_tag(const struct play *play, int64_t revision); /* 0: there is none */
/* The revision above `seen` with that tag; 0: none. */
int64_t play_find_tag(const struct play *play, int64_t seen, int64_t tag);
void play_state_release(struct play *play);

/* After a restore those are there that were there then. */
void play_match_leases(struct play *play);
struct play_lease *play_find_lease(struct play *play, int64_t id);
struct play_lease *play_grant(struct play *play, int64_t id, int64_t ttl_ms, const char *place);
struct play_lease *play_beat(struct play *play, int64_t id, int machine); /* NULL: no such lease */
/* `beats`: as they must be; below 0: as they like. False: nothing was done. */
bool play_revoke(struct play *play, int64_t id, int64_t beats, int64_t tag, int machine);

/* ---- play_txn.c ---- */

struct txn_level {
    int parent; /* -1: none */
    bool is_in_else;
};

struct txn_compare {
    int level;
    ProtobufCBinaryData key;
    int64_t target, relation, number; /* as in kv_backend.h */
};

enum txn_kind { TXN_RANGE, TXN_PUT, TXN_DELETE };

struct txn_op {
    enum txn_kind kind;
    int level;
    bool is_in_else;
    int64_t number;                /* the client's, of this operation */
    ProtobufCBinaryData low, high; /* no high: the key alone */
    int64_t limit, sort, max_create;
    bool keys_only, count_only, want_previous;
    ProtobufCBinaryData value;
    int64_t lease;
};

struct txn {
    struct txn_level *levels;
    size_t level_count;
    struct txn_compare *compares;
    size_t compare_count;
    struct txn_op *ops; /* in their order */
    size_t op_count;
    int64_t tag;
    /* What they find, before anything is written. */
    void (*found)(void *context, const struct txn_op *op, int64_t count);
    void (*pair)(void *context, const struct txn_op *op, const struct model_version *version);
    void *context;
    struct strbuf branches; /* of each level: '0' not reached, '1', '2' */
};

/* False: a lease is gone, and nothing was done. `branches` is the caller's to release. */
bool play_txn(struct play *play, struct txn *txn);

#endif
