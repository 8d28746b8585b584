/* What items would do: the rules are let loose on the mirror, which is as it was afterwards, and
 * what they read and write is noted. Done in etcd as one transaction, it is right if everything
 * that it was decided on still has the revision that it had here.
 *
 * A job is guarded by its cursor's key: that is written whenever its definition changes, and
 * whenever a run of it is made, taken or ends. So whoever compares it need not compare the
 * definition, nor the runs that wait, nor that there is none. An end that makes other jobs due has
 * their guards too, and those of the jobs that they wait for besides.
 *
 *     plan_begin, plan_add [, plan_add ...: of the same job], plan_emit, plan_end */
#ifndef PEAL_STORE_ETCD_PLAN_H
#define PEAL_STORE_ETCD_PLAN_H

#include "etcd/store_etcd_value.h"
#include "etcd_txn.h"
#include "mirror/store_etcd_mirror.h"

struct plan_compare;
struct plan_write;
struct plan_guard;
struct plan_before;

/* In plan->bytes, which moves while it grows. */
struct plan_key {
    size_t at, length;
    uint64_t hash;
};

/* How far a plan has come. */
struct plan_mark {
    size_t compares, writes, guards, befores, bytes;
};

struct etcd_plan {
    struct tables tables; /* first */
    struct mirror *mirror;
    struct strbuf bytes; /* all keys and values */
    struct plan_compare *compares;
    struct plan_write *writes;
    struct plan_guard *guards;   /* those that are compared */
    struct plan_before *befores; /* what was changed in the mirror, to be put back */
    size_t compare_count, compare_room;
    size_t write_count, write_room;
    size_t guard_count, guard_room;
    size_t before_count, before_room;
    size_t item_count;
    struct plan_mark item; /* before the one that is being decided */
    int place;             /* of that one, in the transaction */
    bool more_follow;      /* which are to see what it does */
    bool is_partial;       /* see plan_add */
    struct plan_key run;   /* the last one that was made; length 0: none */
    struct id run_id;      /* whose key it is */
    struct feed unused;    /* the feed comes from the watch */
};

void etcd_plan_init(struct etcd_plan *plan, struct mirror *mirror);
void etcd_plan_release(struct etcd_plan *plan);

void plan_begin(struct etcd_plan *plan);
void plan_end(struct etcd_plan *plan);

/* Decides item `i` of the request on top of what is planned; its results are as if the plan came
 * true, but for a fence. `more_follow`: further items are added. Not OK: the plan is as before;
 * E_CONFLICT: it must wait for what is planned already.
 *
 * An item that is too large for one transaction is planned in part, when it comes to many runs that
 * end without having started, or are to be killed: some of those, each of which is right by itself.
 * Then is_partial is set, and the item has to be decided again when that is done. */
MUST_CHECK enum status plan_add(struct etcd_plan *plan, const struct store_request *request,
                                size_t i, int place, bool more_follow);

/* Whether items i and i + 1 of the request are best planned together: they have the same guard. */
bool plan_may_chain(const struct etcd_plan *plan, const struct store_request *request, size_t i);

/* As an inner transaction, whose `succeeded` says whether it was done. */
void plan_emit(const struct etcd_plan *plan, struct etcd_txn *txn);

/* How much it takes of the 128 that etcd allows from the top of a transaction to its bottom: of
 * each level the compares or the operations, whichever are more. */
size_t plan_width(const struct etcd_plan *plan);

bool plan_writes(const struct etcd_plan *plan);
bool plan_puts(const struct etcd_plan *plan); /* it does not only delete */

/* Calls `take` with the hash of each key that is written, or of each that is compared, until it
 * answers false; answers what it answered last. */
bool plan_each_key(const struct etcd_plan *plan, bool written,
                   bool (*take)(void *context, uint64_t key_hash), void *context);

#endif
