/* Transactions on the keys: everything is compared and read first, and written last. */
#include <stdlib.h>

#include "../wire/etcd_model_internal.h"
#include "play.h"

static const struct model_version *version_of(const struct play *play, ProtobufCBinaryData key)
{
    return etcd_model_get(play->model, key.data, key.len);
}

/* ---- which branches ---- */

static bool holds(const struct play *play, const struct txn_compare *compare)
{
    const struct model_version *version = version_of(play, compare->key);
    int64_t wanted = compare->number;
    int64_t is = !version               ? 0
                 : compare->target == 0 ? version->version
                 : compare->target == 1 ? version->mod_revision
                                        : version->lease;
    switch (compare->relation) {
    case 0:
        return is == wanted;
    case 1:
        return is > wanted;
    case 2:
        return is < wanted;
    default:
        return is != wanted;
    }
}

static bool is_taken(const struct txn *txn, int level, bool in_else)
{
    return txn->branches.text[level] == (in_else ? '2' : '1');
}

/* Levels come after those that they are in. */
static void judge(const struct play *play, struct txn *txn)
{
    for (size_t i = 0; i < txn->level_count; i++)
        strbuf_addc(&txn->branches, '1');
    for (size_t i = 0; i < txn->compare_count; i++)
        if (!holds(play, &txn->compares[i]))
            txn->branches.text[txn->compares[i].level] = '2';
    for (size_t i = 0; i < txn->level_count; i++) {
        const struct txn_level *level = &txn->levels[i];
        if (level->parent >= 0 && !is_taken(txn, level->parent, level->is_in_else))
            txn->branches.text[i] = '0';
    }
}

/* ---- what is read ---- */

static void read_range(struct play *play, const struct txn *txn, const struct txn_op *op)
{
    static const int orders[] = {0, 2, 1, 2, 1, 2}; /* none, ascending, descending */
    static const int targets[] = {0, 0, 2, 2, 3, 3};
    Etcdpb__RangeRequest request;
    Etcdpb__RangeResponse response;
    etcdpb__range_request__init(&request);
    etcdpb__range_response__init(&response);
    request.key = op->low;
    request.range_end = op->high;
    request.limit = op->limit;
    request.sort_order = orders[op->sort];
    request.sort_target = targets[op->sort];
    request.max_create_revision = op->max_create;
    request.count_only = op->count_only;
    model_read_range(play->model, &play->arena, &request, &response);
    txn->found(txn->context, op, response.count);
    for (size_t i = 0; i < response.n_kvs; i++)
        txn->pair(txn->context, op, version_of(play, response.kvs[i]->key));
}

static void read_doomed(const struct play *play, const struct txn *txn, const struct txn_op *op)
{
    size_t first, after;
    int64_t count = 0;
    const struct etcd_model *model = play->model;
    etcd_model_span(model, op->low, op->high, &first, &after);
    for (size_t i = first; i < after; i++)
        count += etcd_model_get(model, model->keys[i]->bytes, model->keys[i]->length) != NULL;
    txn->found(txn->context, op, count);
    for (size_t i = first; i < after; i++) {
        const struct model_key *key = model->keys[i];
        const struct model_version *version = etcd_model_get(model, key->bytes, key->length);
        if (version && op->want_previous)
            txn->pair(txn->context, op, version);
    }
}

static void read_op(struct play *play, const struct txn *txn, const struct txn_op *op)
{
    if (op->kind == TXN_RANGE) {
        read_range(play, txn, op);
    } else if (op->kind == TXN_DELETE) {
        read_doomed(play, txn, op);
    } else {
        const struct model_version *version = version_of(play, op->low);
        txn->found(txn->context, op, 0);
        if (version && op->want_previous)
            txn->pair(txn->context, op, version);
    }
}

/* ---- what is written ---- */

static void write_op(struct play *play, const struct txn_op *op)
{
    if (op->kind == TXN_PUT) {
        Etcdpb__PutRequest request;
        Etcdpb__PutResponse response;
        etcdpb__put_request__init(&request);
        etcdpb__put_response__init(&response);
        request.key = op->low;
        request.value = op->value;
        request.lease = op->lease;
        model_write_put(play->model, &play->arena, &request, &response);
    } else if (op->kind == TXN_DELETE) {
        Etcdpb__DeleteRequest request;
        Etcdpb__DeleteResponse response;
        etcdpb__delete_request__init(&request);
        etcdpb__delete_response__init(&response);
        request.key = op->low;
        request.range_end = op->high;
        model_write_delete(play->model, &play->arena, &request, &response);
    }
}

static bool has_no_lease(const struct play *play, const struct txn *txn, const struct txn_op *op)
{
    return is_taken(txn, op->level, op->is_in_else) && op->kind == TXN_PUT && op->lease &&
           !etcd_model_lease(play->model, op->lease);
}

bool play_txn(struct play *play, struct txn *txn)
{
    int64_t before = play->model->revision;
    size_t log_before = play->model->log_count;
    judge(play, txn);
    for (size_t i = 0; i < txn->op_count; i++)
        if (is_taken(txn, txn->ops[i].level, txn->ops[i].is_in_else))
            read_op(play, txn, &txn->ops[i]);
    for (size_t i = 0; i < txn->op_count; i++)
        if (has_no_lease(play, txn, &txn->ops[i]))
            return false;
    for (size_t i = 0; i < txn->op_count; i++)
        if (is_taken(txn, txn->ops[i].level, txn->ops[i].is_in_else))
            write_op(play, &txn->ops[i]);
    if (play->model->log_count > log_before) /* the oracle may end what it is told of */
        play_note_tag(play, before, txn->tag, txn->branches.text);
    model_commit(play->model, log_before);
    return true;
}
