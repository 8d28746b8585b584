/* Plans a transaction: the rules are applied to the mirror, which is restored afterwards, while
 * their reads and writes are recorded. The transaction is correct if all that was read still has
 * the revision that it had in the mirror.
 *
 * A job's guard is its cursor's key: it is written whenever the definition changes, and whenever a
 * run of the job is made, taken or ended. So comparing it covers the definition and the set of open
 * runs. The end of a run with dependents also compares their guards, and those of all jobs that
 * they wait for.
 *
 *     plan_begin, plan_add [, plan_add ...: see plan_may_chain], plan_emit, plan_end */
#ifndef PEAL_STORE_ETCD_PLAN_H
#define PEAL_STORE_ETCD_PLAN_H

#include "kv/store_kv_value.h"
#include "kv_txn.h"
#include "mirror/store_kv_mirror.h"

struct plan_compare;
struct plan_write;
struct plan_guard;
struct plan_before;

/* In plan->bytes, which moves while it grows. */
struct plan_key {
    size_t at, length;
    uint64_t hash;
};

/* The size of a plan, to return to. */
struct plan_size {
    size_t compares, writes, guards, befores, bytes;
};

struct store_plan {
    struct tables tables; /* first */
    struct mirror *mirror;
    struct strbuf bytes; /* all keys and values */
    struct plan_compare *compares;
    struct plan_write *writes;
    struct plan_guard *guards;   /* that are compared */
    struct plan_before *befores; /* old values of the mirror, to be restored */
    size_t compare_count, compare_room;
    size_t write_count, write_room;
    size_t guard_count, guard_room;
    size_t before_count, before_room;
    size_t item_count;
    struct plan_size item; /* before the current item */
    int place;             /* of the current item, in the transaction */
    bool more_follow;      /* later items must see its effects */
    bool is_partial;       /* see plan_add */
    struct plan_key run;   /* key of the last new run; length 0: none */
    struct id run_id;      /* of that run */
    struct feed unused;    /* the feed comes from the watch */
};

void store_plan_init(struct store_plan *plan, struct mirror *mirror);
void store_plan_release(struct store_plan *plan);

void plan_begin(struct store_plan *plan);
void plan_end(struct store_plan *plan);

/* Decides item `i` of the request on top of the plan so far; its results are those of a successful
 * transaction, except for a fence. `more_follow`: further items will be added. Not OK: the plan is
 * unchanged; E_CONFLICT: the item must wait for the planned ones.
 *
 * An item that is too large for one transaction, because it ends or kills many runs, is planned in
 * part: some of those steps, each of which is correct by itself. Then is_partial is set, and the
 * item has to be decided again afterwards. */
MUST_CHECK enum status plan_add(struct store_plan *plan, const struct store_request *request,
                                size_t i, int place, bool more_follow);

/* Should items i and i + 1 of the request be planned together, since they have the same guard: that
 * of their job, of one that waits for both ends, or of a group of both? */
bool plan_may_chain(const struct store_plan *plan, const struct store_request *request, size_t i);

/* Are items i and i + 1 of one job? */
bool plan_is_same_job(const struct store_plan *plan, const struct store_request *request, size_t i);

/* Adds the plan as an inner transaction, whose `succeeded` says whether it was done. */
void plan_emit(const struct store_plan *plan, struct kv_txn *txn);

/* The plan's share of the 128 that etcd allows over all levels of a transaction: per level the
 * compares or the operations, whichever are more. */
size_t plan_width(const struct store_plan *plan);

bool plan_writes(const struct store_plan *plan);
bool plan_puts(const struct store_plan *plan); /* has writes other than deletes */

/* Calls `take` with the hash of each written, or each compared, key until it returns false; returns
 * its last result. */
bool plan_each_key(const struct store_plan *plan, bool written,
                   bool (*take)(void *context, uint64_t key_hash), void *context);

#endif
