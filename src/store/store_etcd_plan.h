/* What one item would do: the rules are let loose on the mirror, which stays as it is, and what
 * they read and write is noted. Done in etcd as one transaction, it is right if everything that it
 * was decided on still has the revision that it had here.
 *
 * The runs of a job are guarded by its cursor's key: that is written whenever a run is made, taken
 * or ends, so whoever compares it need not compare the runs that wait, nor that there is none. */
#ifndef PEAL_STORE_ETCD_PLAN_H
#define PEAL_STORE_ETCD_PLAN_H

#include "etcd_txn.h"
#include "store_etcd_mirror.h"
#include "store_etcd_value.h"

struct plan_compare;
struct plan_write;
struct plan_before;

struct plan {
    struct tables tables; /* first */
    const struct mirror *mirror;
    struct strbuf bytes; /* all keys and values */
    struct plan_compare *compares;
    struct plan_write *writes;
    struct plan_before *befores; /* runs as they were, to be put back */
    size_t compare_count, compare_room;
    size_t write_count, write_room;
    size_t before_count, before_room;
    size_t cursor_write; /* 1 + the place of the cursor in `writes`; 0: not written */
    int place;           /* in the batch */
    struct feed unused;  /* the feed comes from the watch */
};

void etcd_plan_init(struct plan *plan, const struct mirror *mirror);
void etcd_plan_release(struct plan *plan);

/* Decides item `i` of the request, whose results are as if the plan came true; but for a fence. */
MUST_CHECK enum status plan_make(struct plan *plan, const struct store_request *request, size_t i,
                                 int place);

/* As an inner transaction, whose `succeeded` says whether it was done. */
void plan_emit(const struct plan *plan, struct etcd_txn *txn);

bool plan_writes(const struct plan *plan);

/* Calls `take` with a hash of each key that is written, or of each that is only compared, until it
 * answers false; answers what it answered last. */
bool plan_each_key(const struct plan *plan, bool written,
                   bool (*take)(void *context, uint64_t key_hash), void *context);

#endif
