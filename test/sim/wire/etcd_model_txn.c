/* Transactions: which branches are taken is settled for all levels before anything is done. */
#include <stdlib.h>
#include <string.h>

#include "etcd_model_internal.h"

enum { OPS_MAX = 128 };
enum { IS_EQUAL, IS_GREATER, IS_LESS, IS_NOT_EQUAL };
enum { OF_VERSION = 0, OF_CHANGED = 2, OF_LEASE = 4 }; /* peal asks for no others */

static bool holds(int order, int relation)
{
    return relation == IS_EQUAL     ? order == 0
           : relation == IS_GREATER ? order > 0
           : relation == IS_LESS    ? order < 0
                                    : order != 0;
}

static int order_of(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static bool compare_holds(const struct etcd_model *model, const Etcdpb__Compare *compare)
{
    static const struct model_version none = {0};
    const struct model_version *version =
        etcd_model_get(model, compare->key.data, compare->key.len);
    int order = 0;
    if (!version)
        version = &none;
    switch (compare->target) {
    case OF_VERSION:
        order = order_of(version->version, compare->version);
        break;
    case OF_CHANGED:
        order = order_of(version->mod_revision, compare->mod_revision);
        break;
    case OF_LEASE:
        order = order_of(version->lease, compare->lease);
        break;
    default:
        break;
    }
    return holds(order, compare->result);
}

/* The branches that are taken are settled for all levels before anything is done. */
struct path {
    bool succeeded;
    struct path *inner; /* one for each operation of the branch */
};

static void take_path(const struct etcd_model *model, struct arena *arena,
                      const Etcdpb__TxnRequest *request, struct path *ret)
{
    ret->succeeded = true;
    for (size_t i = 0; i < request->n_compare; i++)
        ret->succeeded = ret->succeeded && compare_holds(model, request->compare[i]);
    size_t count = ret->succeeded ? request->n_success : request->n_failure;
    Etcdpb__RequestOp **ops = ret->succeeded ? request->success : request->failure;
    ret->inner = arena_array(arena, count, sizeof(*ret->inner));
    for (size_t i = 0; i < count; i++)
        if (ops[i]->request_case == ETCDPB__REQUEST_OP__REQUEST_TXN)
            take_path(model, arena, ops[i]->txn, &ret->inner[i]);
}

/* Keys that a branch writes; with those of either branch of the transactions in it. */
struct writes {
    const Etcdpb__PutRequest **puts;
    const Etcdpb__DeleteRequest **deletes;
    size_t put_count, delete_count, room;
    struct arena *arena;
};

static void add_write(struct writes *writes, const Etcdpb__PutRequest *put,
                      const Etcdpb__DeleteRequest *delete)
{
    if (writes->put_count == writes->room || writes->delete_count == writes->room) {
        size_t room = 2 * writes->room + 16;
        const Etcdpb__PutRequest **puts = arena_array(writes->arena, room, sizeof(*puts));
        const Etcdpb__DeleteRequest **deletes = arena_array(writes->arena, room, sizeof(*deletes));
        if (writes->put_count)
            memcpy(puts, writes->puts, writes->put_count * sizeof(*puts));
        if (writes->delete_count)
            memcpy(deletes, writes->deletes, writes->delete_count * sizeof(*deletes));
        writes->puts = puts;
        writes->deletes = deletes;
        writes->room = room;
    }
    if (put)
        writes->puts[writes->put_count++] = put;
    else
        writes->deletes[writes->delete_count++] = delete;
}

static bool is_deleted(const Etcdpb__DeleteRequest *request, ProtobufCBinaryData key)
{
    if (request->range_end.len == 0)
        return model_compare(key.data, key.len, request->key.data, request->key.len) == 0;
    return model_compare(key.data, key.len, request->key.data, request->key.len) >= 0 &&
           (model_is_open_end(request->range_end) ||
            model_compare(key.data, key.len, request->range_end.data, request->range_end.len) < 0);
}

static bool puts_key(const struct writes *writes, size_t from, ProtobufCBinaryData key)
{
    for (size_t i = from; i < writes->put_count; i++)
        if (model_compare(writes->puts[i]->key.data, writes->puts[i]->key.len, key.data, key.len) ==
            0)
            return true;
    return false;
}

static bool deletes_key(const struct writes *writes, size_t count, ProtobufCBinaryData key)
{
    for (size_t i = 0; i < count; i++)
        if (is_deleted(writes->deletes[i], key))
            return true;
    return false;
}

static bool collect(struct writes *writes, Etcdpb__RequestOp **ops, size_t count);

/* Both branches of an inner transaction may write the same key, since but one is taken. */
static bool collect_inner(struct writes *writes, const Etcdpb__TxnRequest *txn)
{
    struct writes then = {.arena = writes->arena}, otherwise = then;
    if (!collect(&then, txn->success, txn->n_success) ||
        !collect(&otherwise, txn->failure, txn->n_failure))
        return false;
    size_t deletes = writes->delete_count;
    for (size_t i = 0; i < then.put_count + otherwise.put_count; i++) {
        const Etcdpb__PutRequest *put =
            i < then.put_count ? then.puts[i] : otherwise.puts[i - then.put_count];
        bool is_safe = i >= then.put_count && puts_key(&then, 0, put->key);
        bool is_there = puts_key(writes, 0, put->key);
        if (deletes_key(writes, deletes, put->key) || (is_there && !is_safe))
            return false;
        if (is_there)
            continue;
        add_write(writes, put, NULL);
    }
    for (size_t i = 0; i < then.delete_count; i++)
        add_write(writes, NULL, then.deletes[i]);
    for (size_t i = 0; i < otherwise.delete_count; i++)
        add_write(writes, NULL, otherwise.deletes[i]);
    return true;
}

/* False: a key is written twice. */
static bool collect(struct writes *writes, Etcdpb__RequestOp **ops, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ops[i]->request_case == ETCDPB__REQUEST_OP__REQUEST_DELETE)
            add_write(writes, NULL, ops[i]->delete_);
    for (size_t i = 0; i < count; i++)
        if (ops[i]->request_case == ETCDPB__REQUEST_OP__REQUEST_TXN &&
            !collect_inner(writes, ops[i]->txn))
            return false;
    for (size_t i = 0; i < count; i++) {
        if (ops[i]->request_case != ETCDPB__REQUEST_OP__REQUEST_PUT)
            continue;
        if (puts_key(writes, 0, ops[i]->put->key) ||
            deletes_key(writes, writes->delete_count, ops[i]->put->key))
            return false;
        add_write(writes, ops[i]->put, NULL);
    }
    return true;
}

/* What an outer level has used up is not there for the inner ones. */
static bool is_too_long(const Etcdpb__TxnRequest *request, size_t limit)
{
    size_t used = request->n_compare;
    used = used < request->n_success ? request->n_success : used;
    used = used < request->n_failure ? request->n_failure : used;
    if (used > limit)
        return true;
    for (size_t i = 0; i < request->n_success + request->n_failure; i++) {
        const Etcdpb__RequestOp *op =
            i < request->n_success ? request->success[i] : request->failure[i - request->n_success];
        if (op->request_case == ETCDPB__REQUEST_OP__REQUEST_TXN &&
            is_too_long(op->txn, limit - used))
            return true;
    }
    return false;
}

static struct model_end check_request(const Etcdpb__TxnRequest *request, struct arena *arena)
{
    struct writes then = {.arena = arena}, otherwise = then;
    if (is_too_long(request, OPS_MAX))
        return (struct model_end){GRPC_INVALID_ARGUMENT,
                                  "etcdserver: too many operations in txn request"};
    if (!collect(&then, request->success, request->n_success) ||
        !collect(&otherwise, request->failure, request->n_failure))
        return (struct model_end){GRPC_INVALID_ARGUMENT,
                                  "etcdserver: duplicate key given in txn request"};
    return model_ok;
}

/* Are the puts of the branches that are taken possible, or their ranges? */
static struct model_end check_path(struct etcd_model *model, const Etcdpb__TxnRequest *request,
                                   const struct path *path, bool of_puts, bool *ret_puts)
{
    struct model_end end = model_ok;
    size_t count = path->succeeded ? request->n_success : request->n_failure;
    Etcdpb__RequestOp **ops = path->succeeded ? request->success : request->failure;
    for (size_t i = 0; end.code == GRPC_OK && i < count; i++) {
        bool is_put = ops[i]->request_case == ETCDPB__REQUEST_OP__REQUEST_PUT;
        if (ops[i]->request_case == ETCDPB__REQUEST_OP__REQUEST_TXN)
            end = check_path(model, ops[i]->txn, &path->inner[i], of_puts, ret_puts);
        else if (is_put && of_puts)
            end = model_check_put(model, ops[i]->put);
        else if (ops[i]->request_case == ETCDPB__REQUEST_OP__REQUEST_RANGE && !of_puts)
            end = model_check_range(model, ops[i]->range);
        *ret_puts |= is_put;
    }
    return end;
}

static Etcdpb__TxnResponse *apply(struct etcd_model *model, struct arena *arena,
                                  const Etcdpb__TxnRequest *request, const struct path *path);

static Etcdpb__ResponseOp *apply_op(struct etcd_model *model, struct arena *arena,
                                    const Etcdpb__RequestOp *op, const struct path *path)
{
    Etcdpb__ResponseOp *answer = arena_alloc(arena, sizeof(*answer));
    etcdpb__response_op__init(answer);
    switch ((int)op->request_case) {
    case ETCDPB__REQUEST_OP__REQUEST_RANGE:
        answer->response_case = ETCDPB__RESPONSE_OP__RESPONSE_RANGE;
        answer->range = arena_alloc(arena, sizeof(*answer->range));
        etcdpb__range_response__init(answer->range);
        model_read_range(model, arena, op->range, answer->range);
        break;
    case ETCDPB__REQUEST_OP__REQUEST_PUT:
        answer->response_case = ETCDPB__RESPONSE_OP__RESPONSE_PUT;
        answer->put = arena_alloc(arena, sizeof(*answer->put));
        etcdpb__put_response__init(answer->put);
        model_write_put(model, arena, op->put, answer->put);
        break;
    case ETCDPB__REQUEST_OP__REQUEST_DELETE:
        answer->response_case = ETCDPB__RESPONSE_OP__RESPONSE_DELETE;
        answer->delete_ = arena_alloc(arena, sizeof(*answer->delete_));
        etcdpb__delete_response__init(answer->delete_);
        model_write_delete(model, arena, op->delete_, answer->delete_);
        break;
    case ETCDPB__REQUEST_OP__REQUEST_TXN:
        answer->response_case = ETCDPB__RESPONSE_OP__RESPONSE_TXN;
        answer->txn = apply(model, arena, op->txn, path);
        break;
    case ETCDPB__REQUEST_OP__REQUEST__NOT_SET:
    default:
        abort();
    }
    return answer;
}

static Etcdpb__TxnResponse *apply(struct etcd_model *model, struct arena *arena,
                                  const Etcdpb__TxnRequest *request, const struct path *path)
{
    Etcdpb__TxnResponse *answer = arena_alloc(arena, sizeof(*answer));
    etcdpb__txn_response__init(answer);
    size_t count = path->succeeded ? request->n_success : request->n_failure;
    Etcdpb__RequestOp **ops = path->succeeded ? request->success : request->failure;
    answer->succeeded = path->succeeded;
    answer->responses = arena_array(arena, count, sizeof(*answer->responses));
    answer->n_responses = count;
    for (size_t i = 0; i < count; i++)
        answer->responses[i] = apply_op(model, arena, ops[i], &path->inner[i]);
    return answer;
}

struct model_end etcd_model_txn(struct etcd_model *model, struct arena *arena,
                                const Etcdpb__TxnRequest *request, Etcdpb__TxnResponse *ret)
{
    struct path path;
    bool has_puts = false;
    struct model_end end = check_request(request, arena);
    if (end.code != GRPC_OK)
        return end;
    take_path(model, arena, request, &path);
    end = check_path(model, request, &path, true, &has_puts);
    if (end.code == GRPC_OK)
        end = check_path(model, request, &path, false, &has_puts);
    if (end.code == GRPC_OK && has_puts && model->is_full)
        end = model_full;
    if (end.code != GRPC_OK)
        return end;
    size_t before = model->log_count;
    *ret = *apply(model, arena, request, &path);
    model_commit(model, before);
    ret->header = model_header(model, arena);
    return model_ok;
}
