/* A transaction as the arrays that kv_txn_1 and kv_read_1 take, in the binary form of the server.
 * Levels are numbered from 1, the outermost; an operation names its level, negative: in its else.
 */
#include <string.h>

#include "pg_internal.h"

enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT4 = 23 };

void pg_write_int4(char to[4], int32_t number)
{
    uint32_t bits = (uint32_t)number;
    for (int i = 0; i < 4; i++)
        to[i] = (char)(bits >> (24 - 8 * i));
}

void pg_write_int8(char to[8], int64_t number)
{
    pg_write_int4(to, (int32_t)((uint64_t)number >> 32));
    pg_write_int4(to + 4, (int32_t)(uint32_t)number);
}

int32_t pg_read_int4(const char *from)
{
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits = bits << 8 | (uint8_t)from[i];
    return (int32_t)bits;
}

int64_t pg_read_int8(const char *from)
{
    return (int64_t)((uint64_t)(uint32_t)pg_read_int4(from) << 32 |
                     (uint32_t)pg_read_int4(from + 4));
}

/* ---- arrays ---- */

enum param {
    PARENT,
    IN_ELSE,
    CMP_NODE,
    CMP_KEY,
    CMP_TARGET,
    CMP_RELATION,
    CMP_NUMBER,
    RANGE_NODE,
    RANGE_OP,
    RANGE_LOW,
    RANGE_HIGH,
    RANGE_LIMIT,
    RANGE_SORT,
    RANGE_MAX_CREATE,
    RANGE_FLAGS,
    PUT_NODE,
    PUT_OP,
    PUT_KEY,
    PUT_VALUE,
    PUT_LEASE,
    DEL_NODE,
    DEL_OP,
    DEL_LOW,
    DEL_HIGH,
    ARRAYS,
    TAG = ARRAYS,
    SEEN,
    HOW,
    PARAMS,
};

static const int element_oids[ARRAYS] = {
    [PARENT] = OID_INT4,     [IN_ELSE] = OID_BOOL,          [CMP_NODE] = OID_INT4,
    [CMP_KEY] = OID_BYTEA,   [CMP_TARGET] = OID_INT4,       [CMP_RELATION] = OID_INT4,
    [CMP_NUMBER] = OID_INT8, [RANGE_NODE] = OID_INT4,       [RANGE_OP] = OID_INT4,
    [RANGE_LOW] = OID_BYTEA, [RANGE_HIGH] = OID_BYTEA,      [RANGE_LIMIT] = OID_INT8,
    [RANGE_SORT] = OID_INT4, [RANGE_MAX_CREATE] = OID_INT8, [RANGE_FLAGS] = OID_INT4,
    [PUT_NODE] = OID_INT4,   [PUT_OP] = OID_INT4,           [PUT_KEY] = OID_BYTEA,
    [PUT_VALUE] = OID_BYTEA, [PUT_LEASE] = OID_INT8,        [DEL_NODE] = OID_INT4,
    [DEL_OP] = OID_INT4,     [DEL_LOW] = OID_BYTEA,         [DEL_HIGH] = OID_BYTEA,
};

struct encoder {
    struct pg_call *call;
    struct strbuf arrays[ARRAYS];
    int32_t counts[ARRAYS];
    enum status status;
};

static void add_element(struct encoder *to, enum param param, const void *bytes, size_t length)
{
    char size[4];
    pg_write_int4(size, (int32_t)length);
    strbuf_add(&to->arrays[param], size, 4);
    if (length)
        strbuf_add(&to->arrays[param], bytes, length);
    to->counts[param]++;
}

static void add_int4(struct encoder *to, enum param param, int number)
{
    char bytes[4];
    pg_write_int4(bytes, number);
    add_element(to, param, bytes, 4);
}

static void add_int8(struct encoder *to, enum param param, int64_t number)
{
    char bytes[8];
    pg_write_int8(bytes, number);
    add_element(to, param, bytes, 8);
}

static void add_bytes(struct encoder *to, enum param param, struct kv_bytes bytes)
{
    add_element(to, param, bytes.data, bytes.length);
}

/* ---- the tree ---- */

static void add_range(struct encoder *to, const struct kv_range *range, int node, int op)
{
    struct kv_bytes low, high;
    if (range->revision != 0) /* only the newest state is kept */
        to->call->request.refusal = E_NOT_FOUND;
    if (kv_span(&to->call->request.arena, range->key, range->end, range->prefix, &low, &high) !=
        OK) {
        to->status = E_NOMEM;
        return;
    }
    add_int4(to, RANGE_NODE, node);
    add_int4(to, RANGE_OP, op);
    add_bytes(to, RANGE_LOW, low);
    add_bytes(to, RANGE_HIGH, high);
    add_int8(to, RANGE_LIMIT, range->limit);
    add_int4(to, RANGE_SORT, (int)range->sort);
    add_int8(to, RANGE_MAX_CREATE, range->max_create_revision);
    add_int4(to, RANGE_FLAGS, (range->keys_only ? 1 : 0) | (range->count_only ? 2 : 0));
}

static void add_put(struct encoder *to, const struct kv_put *put, int node, int op)
{
    if (put->key.length == 0)
        to->call->request.refusal = E_INVALID;
    to->call->request.is_write = true;
    to->call->how |= put->want_previous ? 2 : 0;
    add_int4(to, PUT_NODE, node);
    add_int4(to, PUT_OP, op);
    add_bytes(to, PUT_KEY, put->key);
    add_bytes(to, PUT_VALUE, put->value);
    add_int8(to, PUT_LEASE, put->lease);
}

static void add_delete(struct encoder *to, const struct kv_delete *remove, int node, int op)
{
    struct kv_bytes low, high;
    if (remove->key.length == 0 && !remove->prefix)
        to->call->request.refusal = E_INVALID;
    to->call->request.is_write = true;
    to->call->how |= remove->want_previous ? 2 : 0;
    if (kv_span(&to->call->request.arena, remove->key, remove->end, remove->prefix, &low, &high) !=
        OK) {
        to->status = E_NOMEM;
        return;
    }
    add_int4(to, DEL_NODE, node);
    add_int4(to, DEL_OP, op);
    add_bytes(to, DEL_LOW, low);
    add_bytes(to, DEL_HIGH, high);
}

static void add_node(struct encoder *to, const struct kv_branches *txn, int parent, bool in_else);

static void add_op(struct encoder *to, const struct kv_op *op, int node, bool in_else,
                   struct kv_shape_op *ret)
{
    int signed_node = in_else ? -node : node;
    ret->kind = op->kind;
    ret->index = op->kind == KV_OP_TXN ? to->call->node_count + 1 : to->call->op_count++;
    switch (op->kind) {
    case KV_OP_RANGE:
        add_range(to, &op->range, signed_node, ret->index);
        break;
    case KV_OP_PUT:
        add_put(to, &op->put, signed_node, ret->index);
        break;
    case KV_OP_DELETE:
        add_delete(to, &op->remove, signed_node, ret->index);
        break;
    case KV_OP_TXN:
        add_node(to, op->txn, node, in_else);
        break;
    }
}

static void add_node(struct encoder *to, const struct kv_branches *txn, int parent, bool in_else)
{
    const struct kv_ops_list *lists[] = {&txn->success, &txn->failure};
    int node = ++to->call->node_count;
    struct kv_shape *shape = &to->call->shapes[node];
    char flag = in_else;
    add_int4(to, PARENT, parent);
    add_element(to, IN_ELSE, &flag, 1);
    for (size_t i = 0; i < txn->compares.count; i++) {
        const struct kv_compare *compare = &txn->compares.items[i];
        add_int4(to, CMP_NODE, node);
        add_bytes(to, CMP_KEY, compare->key);
        add_int4(to, CMP_TARGET, (int)compare->target);
        add_int4(to, CMP_RELATION, (int)compare->relation);
        add_int8(to, CMP_NUMBER, compare->number);
    }
    for (int branch = 0; branch < 2; branch++) {
        size_t count = lists[branch]->count;
        shape->ops[branch] =
            arena_array(&to->call->request.arena, count, sizeof(*shape->ops[branch]));
        shape->counts[branch] = count;
        if (!shape->ops[branch]) {
            to->status = E_NOMEM;
            return;
        }
        for (size_t i = 0; i < count; i++)
            add_op(to, &lists[branch]->items[i], node, branch == 1, &shape->ops[branch][i]);
    }
}

/* ---- parameters ---- */

static const char *finish_array(struct encoder *to, enum param param, int *ret_length)
{
    const struct strbuf *elements = &to->arrays[param];
    bool is_empty = to->counts[param] == 0;
    size_t head = is_empty ? 12 : 20, length = head + elements->length;
    char *bytes = arena_alloc(&to->call->request.arena, length);
    if (!bytes)
        return NULL;
    pg_write_int4(bytes, is_empty ? 0 : 1); /* dimensions */
    pg_write_int4(bytes + 4, 0);            /* no NULLs */
    pg_write_int4(bytes + 8, element_oids[param]);
    if (!is_empty) {
        pg_write_int4(bytes + 12, to->counts[param]);
        pg_write_int4(bytes + 16, 1); /* the first has number 1 */
        memcpy(bytes + head, elements->text, elements->length);
    }
    *ret_length = (int)length;
    return bytes;
}

static enum status finish_params(struct encoder *to)
{
    struct pg_call *call = to->call;
    int arrays = call->request.is_write ? ARRAYS : PUT_NODE;
    size_t total = 0;
    for (int i = 0; i < arrays; i++) {
        if (strbuf_status(&to->arrays[i]) != OK)
            return E_NOMEM;
        total += to->arrays[i].length;
        if (total > call->request.base.client->kind->limits.bytes)
            return E_TOO_LARGE;
        call->params.values[i] = finish_array(to, (enum param)i, &call->params.lengths[i]);
        if (!call->params.values[i])
            return E_NOMEM;
    }
    call->params.count = call->request.is_write ? PARAMS : arrays;
    call->job.statement = call->request.is_write ? PG_TXN : PG_READ;
    if (!call->request.is_write)
        return OK;
    char *tag = arena_alloc(&call->request.arena, 8);
    if (!tag)
        return E_NOMEM;
    pg_write_int8(tag, call->tag);
    call->params.values[TAG] = tag;
    call->params.lengths[TAG] = 8;
    call->params.values[SEEN] = call->seen_bytes;
    call->params.lengths[SEEN] = 8;
    call->params.values[HOW] = call->how_bytes;
    call->params.lengths[HOW] = 4;
    return OK;
}

enum status pg_encode_txn(struct pg_call *call, const struct kv_branches *txn)
{
    struct encoder to = {.call = call};
    call->shapes =
        arena_array(&call->request.arena, (size_t)kv_shape_levels(txn) + 1, sizeof(*call->shapes));
    if (!call->shapes)
        return E_NOMEM;
    for (int i = 0; i < ARRAYS; i++)
        strbuf_init(&to.arrays[i]);
    add_node(&to, txn, 0, false);
    enum status st = to.status;
    if (st == OK)
        st = finish_params(&to);
    for (int i = 0; i < ARRAYS; i++)
        strbuf_release(&to.arrays[i]);
    return st;
}
