/* Encodes transactions: the tree that kv_txn.c has built becomes messages of protobuf-c. */
#include "etcd_internal.h"

struct encoder {
    struct arena *arena;
    enum status status;
};

static void *take(struct encoder *encoder, size_t size)
{
    void *at = encoder->status == OK ? arena_alloc(encoder->arena, size) : NULL;
    if (!at)
        encoder->status = E_NOMEM;
    return at;
}

static const int targets[] = {
    [KV_TARGET_VERSION] = 0,
    [KV_TARGET_MOD_REVISION] = 2,
    [KV_TARGET_LEASE] = 4,
};

static const Etcdpb__Compare__OperandCase operands[] = {
    [KV_TARGET_VERSION] = ETCDPB__COMPARE__OPERAND_VERSION,
    [KV_TARGET_MOD_REVISION] = ETCDPB__COMPARE__OPERAND_MOD_REVISION,
    [KV_TARGET_LEASE] = ETCDPB__COMPARE__OPERAND_LEASE,
};

static Etcdpb__Compare **make_compares(struct encoder *encoder, const struct kv_compare_list *list)
{
    Etcdpb__Compare **ret = take(encoder, list->count * sizeof(*ret));
    Etcdpb__Compare *messages = take(encoder, list->count * sizeof(*messages));
    for (size_t i = 0; messages && i < list->count; i++) {
        const struct kv_compare *compare = &list->items[i];
        ret[i] = &messages[i];
        etcdpb__compare__init(ret[i]);
        ret[i]->result = (int32_t)compare->relation;
        ret[i]->target = targets[compare->target];
        ret[i]->key = etcd_slice(compare->key);
        ret[i]->operand_case = operands[compare->target];
        ret[i]->version = compare->number; /* one place with the other operands */
    }
    return ret;
}

static Etcdpb__TxnRequest *make_txn(struct encoder *encoder, const struct kv_branches *txn);

static void make_op(struct encoder *encoder, const struct kv_op *op, Etcdpb__RequestOp *ret)
{
    enum status st = OK;
    etcdpb__request_op__init(ret);
    switch (op->kind) {
    case KV_OP_RANGE:
        ret->request_case = ETCDPB__REQUEST_OP__REQUEST_RANGE;
        ret->range = take(encoder, sizeof(*ret->range));
        if (ret->range)
            st = etcd_make_range(encoder->arena, &op->range, ret->range);
        break;
    case KV_OP_PUT:
        ret->request_case = ETCDPB__REQUEST_OP__REQUEST_PUT;
        ret->put = take(encoder, sizeof(*ret->put));
        if (ret->put)
            etcd_make_put(&op->put, ret->put);
        break;
    case KV_OP_DELETE:
        ret->request_case = ETCDPB__REQUEST_OP__REQUEST_DELETE;
        ret->delete_ = take(encoder, sizeof(*ret->delete_));
        if (ret->delete_)
            st = etcd_make_delete(encoder->arena, &op->remove, ret->delete_);
        break;
    case KV_OP_TXN:
        ret->request_case = ETCDPB__REQUEST_OP__REQUEST_TXN;
        ret->txn = make_txn(encoder, op->txn);
        break;
    }
    if (st != OK)
        encoder->status = st;
}

static Etcdpb__RequestOp **make_ops(struct encoder *encoder, const struct kv_ops_list *list)
{
    Etcdpb__RequestOp **ret = take(encoder, list->count * sizeof(*ret));
    Etcdpb__RequestOp *messages = take(encoder, list->count * sizeof(*messages));
    for (size_t i = 0; messages && i < list->count; i++) {
        ret[i] = &messages[i];
        make_op(encoder, &list->items[i], ret[i]);
    }
    return ret;
}

static Etcdpb__TxnRequest *make_txn(struct encoder *encoder, const struct kv_branches *txn)
{
    Etcdpb__TxnRequest *ret = take(encoder, sizeof(*ret));
    if (!ret)
        return NULL;
    etcdpb__txn_request__init(ret);
    ret->compare = make_compares(encoder, &txn->compares);
    ret->n_compare = txn->compares.count;
    ret->success = make_ops(encoder, &txn->success);
    ret->n_success = txn->success.count;
    ret->failure = make_ops(encoder, &txn->failure);
    ret->n_failure = txn->failure.count;
    return ret;
}

enum status etcd_txn(struct kv_client *base, const struct kv_branches *txn,
                     const struct kv_reply *reply, struct kv_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.KV/Txn",
                                              .decode = etcd_decode_txn};
    struct etcd_client *client = (struct etcd_client *)base;
    struct encoder encoder = {&client->sending, OK};
    arena_reset(&client->sending);
    const Etcdpb__TxnRequest *message = make_txn(&encoder, txn);
    return encoder.status == OK ? etcd_call_start(base, &method, &message->base, reply, ret)
                                : encoder.status;
}
