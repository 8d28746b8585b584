/* What an etcd cluster agrees on: keys with their revisions, transactions, leases, compaction. It
 * has no clock and no connection of its own; etcd_serve.c gives it both. It speaks etcd's own
 * messages. etcd_model_test runs the same operations on this and on a real etcd. */
#ifndef PEAL_SIM_ETCD_MODEL_H
#define PEAL_SIM_ETCD_MODEL_H

#include <stdbool.h>

#include "arena.h"
#include "etcd.pb-c.h"
#include "transport/grpc_frame.h"

/* A key as a revision left it. */
struct model_version {
    struct model_key *key;
    int64_t create_revision, mod_revision, version, lease; /* version 0: deleted */
    size_t length;
    int holders;
    int round; /* the reader's to use */
    uint8_t value[];
};

struct model_key {
    struct model_version **versions; /* oldest first */
    size_t count, room;
    size_t length;
    uint8_t bytes[];
};

struct model_lease {
    int64_t id, ttl_s;
    /* The server's to use. */
    int64_t renewed_ms, expires_ms;
    int machine; /* that asked for it, or renewed it last */
};

struct model_events;

struct etcd_model {
    int64_t revision, compacted;
    uint64_t cluster_id;
    uint64_t term;           /* of its leader; whoever plays an election adds to it */
    struct model_key **keys; /* sorted */
    size_t key_count, key_room;
    struct model_key **dropped; /* without versions: kept until the end, as the log may have them */
    size_t dropped_count, dropped_room;
    struct model_version **log; /* all since the compaction, in order */
    size_t log_count, log_room;
    struct model_lease *leases;
    size_t lease_count, lease_room;
    bool is_full; /* NOSPACE */
    /* Called once for each revision, with what it changed. */
    void (*changed)(void *context, struct model_version *const *versions, size_t count);
    void *context;
};

/* What comes of a request: GRPC_OK, or a code and words as etcd's. */
struct model_end {
    int code;
    const char *message;
};

enum { MODEL_MEMBER_ID = 1, MODEL_RESTORED_TTL_S = 5 };

void etcd_model_init(struct etcd_model *model);
void etcd_model_release(struct etcd_model *model);

/* Answers are made in the arena. Not OK: nothing was done. */
struct model_end etcd_model_range(struct etcd_model *model, struct arena *arena,
                                  const Etcdpb__RangeRequest *request, Etcdpb__RangeResponse *ret);
struct model_end etcd_model_put(struct etcd_model *model, struct arena *arena,
                                const Etcdpb__PutRequest *request, Etcdpb__PutResponse *ret);
struct model_end etcd_model_delete(struct etcd_model *model, struct arena *arena,
                                   const Etcdpb__DeleteRequest *request,
                                   Etcdpb__DeleteResponse *ret);
struct model_end etcd_model_txn(struct etcd_model *model, struct arena *arena,
                                const Etcdpb__TxnRequest *request, Etcdpb__TxnResponse *ret);
struct model_end etcd_model_compact(struct etcd_model *model, int64_t revision);

/* As from a backup of that revision, which is not compacted, with terms that begin again; in a
 * cluster with another id, or with the same one. Nobody is told. */
void etcd_model_restore(struct etcd_model *model, int64_t revision, bool keeps_id);

struct model_end etcd_model_grant(struct etcd_model *model, int64_t id, int64_t ttl_s);
struct model_end etcd_model_revoke(struct etcd_model *model, int64_t id);
struct model_lease *etcd_model_lease(struct etcd_model *model, int64_t id); /* NULL: none */

/* The newest version of a key; NULL: there is none. */
const struct model_version *etcd_model_get(const struct etcd_model *model, const void *key,
                                           size_t length);

/* Places in model->keys of [key, end); no end: of the key alone. */
void etcd_model_span(const struct etcd_model *model, ProtobufCBinaryData key,
                     ProtobufCBinaryData end, size_t *ret_first, size_t *ret_after);
bool etcd_model_in_span(const struct model_key *key, ProtobufCBinaryData from,
                        ProtobufCBinaryData end);

/* The first place in the log with this revision, or a later one. */
size_t etcd_model_log_from(const struct etcd_model *model, int64_t revision);

Etcdpb__KeyValue *etcd_model_kv(struct arena *arena, const struct model_version *version,
                                bool with_value);

#endif
