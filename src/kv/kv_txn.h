/* Builds transactions, also nested ones. Everything is copied into the builder; out of memory and
 * misuse are remembered and returned by kv_txn_send, so that a batch needs no checks:
 *
 *     for each claim:
 *         kv_txn_begin(txn);
 *         kv_txn_if_mod_revision(txn, cursor_key, KV_EQUAL, revision);
 *         kv_txn_put(txn, &cursor);
 *         kv_txn_put(txn, &run);
 *         kv_txn_else(txn);
 *         kv_txn_range(txn, &look);
 *         kv_txn_end(txn);
 *     kv_txn_send(client, txn, &reply, NULL);
 *
 * All compares of the whole tree are evaluated on the state before any of its writes; the branches
 * that they choose are one change, with one revision. No key may be written twice, nor be read by a
 * range of the transaction that writes it. How much fits, the kind of the client says. Without
 * compares the outer `succeeded` is always true: read the inner ones. */
#ifndef PEAL_KV_TXN_H
#define PEAL_KV_TXN_H

#include "kv.h"

enum kv_relation {
    KV_EQUAL = 0,
    KV_GREATER = 1,
    KV_LESS = 2,
    KV_NOT_EQUAL = 3,
};

MUST_CHECK enum status kv_txn_new(struct kv_txn **ret);
struct kv_txn *kv_txn_free(struct kv_txn *txn); /* accepts NULL; returns NULL */
void kv_txn_reset(struct kv_txn *txn);          /* empty again; keeps memory */

/* The key's <left side> has the relation to the right side. version 0: there is no such key. */
void kv_txn_if_version(struct kv_txn *txn, struct kv_bytes key, enum kv_relation relation,
                       int64_t version);
void kv_txn_if_mod_revision(struct kv_txn *txn, struct kv_bytes key, enum kv_relation relation,
                            int64_t revision);
void kv_txn_if_lease(struct kv_txn *txn, struct kv_bytes key, enum kv_relation relation,
                     int64_t lease);

/* Operations, for when the compares hold, and after kv_txn_else for when they don't. */
void kv_txn_else(struct kv_txn *txn);
void kv_txn_range(struct kv_txn *txn, const struct kv_range *request);
void kv_txn_put(struct kv_txn *txn, const struct kv_put *request);
void kv_txn_delete(struct kv_txn *txn, const struct kv_delete *request);

/* A transaction as an operation of the one around it. */
void kv_txn_begin(struct kv_txn *txn);
void kv_txn_end(struct kv_txn *txn);

#endif
