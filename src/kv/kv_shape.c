#include "kv_shape.h"

#include "arena.h"

int kv_shape_levels(const struct kv_branches *txn)
{
    int count = 1;
    const struct kv_ops_list *lists[] = {&txn->success, &txn->failure};
    for (int in_else = 0; in_else < 2; in_else++)
        for (size_t i = 0; i < lists[in_else]->count; i++)
            if (lists[in_else]->items[i].kind == KV_OP_TXN)
                count += kv_shape_levels(lists[in_else]->items[i].txn);
    return count;
}

enum status kv_shape_result(struct arena *arena, const struct kv_shape *shapes,
                            const struct kv_op_result *ops, struct kv_bytes branches, int level,
                            struct kv_txn_result *ret)
{
    const char *taken = branches.data;
    if ((size_t)level > branches.length || (taken[level - 1] != '1' && taken[level - 1] != '2'))
        return E_CORRUPT;
    int branch = taken[level - 1] == '1' ? 0 : 1;
    const struct kv_shape *shape = &shapes[level];
    struct kv_op_result *own = arena_array(arena, shape->counts[branch], sizeof(*own));
    if (!own)
        return E_NOMEM;
    for (size_t i = 0; i < shape->counts[branch]; i++) {
        const struct kv_shape_op *op = &shape->ops[branch][i];
        enum status st = OK;
        if (op->kind == KV_OP_TXN)
            st = kv_shape_result(arena, shapes, ops, branches, op->index, &own[i].txn);
        else
            own[i] = ops[op->index];
        own[i].kind = op->kind;
        own[i].more = op->kind == KV_OP_RANGE && own[i].count > (int64_t)own[i].kv_count;
        if (st != OK)
            return st;
    }
    *ret = (struct kv_txn_result){branch == 0, own, shape->counts[branch]};
    return OK;
}
