/* Builds transactions, also nested ones. Everything is copied into the builder; out of memory and
 * misuse are remembered and returned by etcd_txn_send, so that a batch needs no checks:
 *
 *     for each claim:
 *         etcd_txn_begin(txn);
 *         etcd_txn_if_mod_revision(txn, cursor_key, ETCD_EQUAL, revision);
 *         etcd_txn_put(txn, &cursor);
 *         etcd_txn_put(txn, &run);
 *         etcd_txn_else(txn);
 *         etcd_txn_range(txn, &look);
 *         etcd_txn_end(txn);
 *     etcd_txn_send(client, txn, &reply, NULL);
 *
 * etcd takes 128 compares and 128 operations per level, and no key that is written twice. Without
 * compares the outer `succeeded` is always true: read the inner ones. */
#ifndef PEAL_ETCD_TXN_H
#define PEAL_ETCD_TXN_H

#include "etcd.h"

enum etcd_relation {
    ETCD_EQUAL = 0,
    ETCD_GREATER = 1,
    ETCD_LESS = 2,
    ETCD_NOT_EQUAL = 3,
};

MUST_CHECK enum status etcd_txn_new(struct etcd_txn **ret);
struct etcd_txn *etcd_txn_free(struct etcd_txn *txn); /* accepts NULL; returns NULL */
void etcd_txn_reset(struct etcd_txn *txn);            /* empty again; keeps memory */

/* The key's <left side> has the relation to the right side. version 0: there is no such key. */
void etcd_txn_if_version(struct etcd_txn *txn, struct etcd_bytes key, enum etcd_relation relation,
                         int64_t version);
void etcd_txn_if_mod_revision(struct etcd_txn *txn, struct etcd_bytes key,
                              enum etcd_relation relation, int64_t revision);
void etcd_txn_if_lease(struct etcd_txn *txn, struct etcd_bytes key, enum etcd_relation relation,
                       int64_t lease);

/* Operations, for when the compares hold, and after etcd_txn_else for when they don't. */
void etcd_txn_else(struct etcd_txn *txn);
void etcd_txn_range(struct etcd_txn *txn, const struct etcd_range *request);
void etcd_txn_put(struct etcd_txn *txn, const struct etcd_put *request);
void etcd_txn_delete(struct etcd_txn *txn, const struct etcd_delete *request);

/* A transaction as an operation of the one around it. */
void etcd_txn_begin(struct etcd_txn *txn);
void etcd_txn_end(struct etcd_txn *txn);

#endif
