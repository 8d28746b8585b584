/* The tree of a transaction, kept for its answer: a server says which branch of each level it took
 * and what each operation gave, by number, and a result is made of that. Levels are numbered from
 * 1, the outermost; operations from 0, other than inner transactions. */
#ifndef PEAL_KV_SHAPE_H
#define PEAL_KV_SHAPE_H

#include "kv_backend.h"

struct kv_shape_op {
    enum kv_op_kind kind;
    int index; /* of the operation; of an inner transaction: its level */
};

/* One level: its operations if the compares hold, and else. */
struct kv_shape {
    struct kv_shape_op *ops[2];
    size_t counts[2];
};

int kv_shape_levels(const struct kv_branches *txn);

/* `branches` has a letter per level: 0 not reached, 1 its compares hold, 2 they don't. E_CORRUPT:
 * it does not fit the tree. */
MUST_CHECK enum status kv_shape_result(struct arena *arena, const struct kv_shape *shapes,
                                       const struct kv_op_result *ops, struct kv_bytes branches,
                                       int level, struct kv_txn_result *ret);

#endif
