/* A transaction as the script takes it: {keys, tree}, packed as MessagePack, which Redis unpacks in
 * C. Keys that are compared or written alone are named by their number, from 1, so that the script
 * reads them all at once. */
#include <string.h>

#include "redis_internal.h"

enum { RECENT = 8, BYTES_MAX = 8 * 1024 * 1024 };

/* Operations, as the script knows them. */
enum { OP_RANGE = 0, OP_PUT = 1, OP_DELETE = 2, OP_TXN = 3, OP_KEY = 4, OP_DELETE_KEY = 5 };

struct encoder {
    struct redis_call *call;
    struct strbuf keys, tree;
    size_t key_count;
    struct kv_bytes recent[RECENT]; /* the last ones: most keys are compared, then written */
    enum status status;
};

/* ---- MessagePack ---- */

/* A first byte, and a number of so many bytes behind it. */
static void add_head(struct strbuf *to, int first, uint64_t number, size_t bytes)
{
    char head[1 + sizeof(number)] = {(char)first};
    for (size_t i = bytes; i > 0; i--, number >>= 8)
        head[i] = (char)number;
    strbuf_add(to, head, 1 + bytes);
}

/* The shortest form each: the script's server hashes what it unpacks byte by byte. */
static void add_array(struct strbuf *to, size_t count)
{
    if (count < 16)
        add_head(to, 0x90 | (int)count, 0, 0);
    else if (count <= UINT16_MAX)
        add_head(to, 0xdc, count, 2);
    else
        add_head(to, 0xdd, count, 4);
}

static void add_number(struct strbuf *to, int64_t number)
{
    if (number >= 0 && number < 128)
        add_head(to, (int)number, 0, 0);
    else if (number >= 0 && number <= UINT8_MAX)
        add_head(to, 0xcc, (uint64_t)number, 1);
    else if (number >= 0 && number <= UINT16_MAX)
        add_head(to, 0xcd, (uint64_t)number, 2);
    else if (number >= 0 && number <= UINT32_MAX)
        add_head(to, 0xce, (uint64_t)number, 4);
    else
        add_head(to, 0xd3, (uint64_t)number, 8);
}

static void add_bool(struct strbuf *to, bool is_true)
{
    add_head(to, is_true ? 0xc3 : 0xc2, 0, 0);
}

static void add_bytes(struct strbuf *to, struct kv_bytes bytes)
{
    if (bytes.length < 32)
        add_head(to, 0xa0 | (int)bytes.length, 0, 0);
    else if (bytes.length <= UINT8_MAX)
        add_head(to, 0xd9, bytes.length, 1);
    else if (bytes.length <= UINT16_MAX)
        add_head(to, 0xda, bytes.length, 2);
    else
        add_head(to, 0xdb, bytes.length, 4);
    strbuf_add(to, bytes.data, bytes.length);
}

/* ---- keys ---- */

static bool is_same(struct kv_bytes a, struct kv_bytes b)
{
    return a.length == b.length && (!a.length || memcmp(a.data, b.data, a.length) == 0);
}

/* The number of a key, which may have more than one. */
static int64_t number_of(struct encoder *to, struct kv_bytes key)
{
    for (size_t i = 0; i < RECENT && i < to->key_count; i++) {
        size_t number = to->key_count - i;
        if (is_same(to->recent[number % RECENT], key))
            return (int64_t)number;
    }
    to->key_count++;
    to->recent[to->key_count % RECENT] = key;
    add_bytes(&to->keys, key);
    return (int64_t)to->key_count;
}

/* ---- operations ---- */

static void add_span(struct encoder *to, struct kv_bytes key, struct kv_bytes end, bool prefix)
{
    struct kv_bytes low, high;
    if (kv_span(&to->call->request.arena, key, end, prefix, &low, &high) != OK) {
        to->status = E_NOMEM;
        return;
    }
    add_bytes(&to->tree, low);
    add_bytes(&to->tree, high);
}

static void add_range(struct encoder *to, const struct kv_range *range, int number)
{
    struct strbuf *tree = &to->tree;
    bool is_alone = !range->prefix && range->end.length == 0 && range->max_create_revision == 0;
    if (range->revision != 0) /* only the newest state is kept */
        to->call->request.refusal = E_NOT_FOUND;
    add_array(tree, is_alone ? 5 : 9);
    add_number(tree, is_alone ? OP_KEY : OP_RANGE);
    add_number(tree, number);
    if (is_alone) {
        add_number(tree, number_of(to, range->key));
    } else {
        add_span(to, range->key, range->end, range->prefix);
        add_number(tree, range->limit);
        add_number(tree, range->sort == KV_SORT_NONE ? 0 : (int64_t)range->sort);
        add_number(tree, range->max_create_revision);
    }
    add_bool(tree, range->keys_only);
    add_bool(tree, range->count_only);
}

static void add_put(struct encoder *to, const struct kv_put *put, int number)
{
    struct strbuf *tree = &to->tree;
    if (put->key.length == 0)
        to->call->request.refusal = E_INVALID;
    to->call->request.is_write = true;
    to->call->job.command.script = REDIS_MAY_GROW;
    add_array(tree, 6);
    add_number(tree, OP_PUT);
    add_number(tree, number);
    add_number(tree, number_of(to, put->key));
    add_bytes(tree, put->value);
    add_number(tree, put->lease);
    add_bool(tree, put->want_previous);
}

static void add_delete(struct encoder *to, const struct kv_delete *remove, int number)
{
    struct strbuf *tree = &to->tree;
    bool is_alone = !remove->prefix && remove->end.length == 0;
    if (remove->key.length == 0 && !remove->prefix)
        to->call->request.refusal = E_INVALID;
    to->call->request.is_write = true;
    add_array(tree, is_alone ? 4 : 5);
    add_number(tree, is_alone ? OP_DELETE_KEY : OP_DELETE);
    add_number(tree, number);
    if (is_alone)
        add_number(tree, number_of(to, remove->key));
    else
        add_span(to, remove->key, remove->end, remove->prefix);
    add_bool(tree, remove->want_previous);
}

/* ---- the tree ---- */

static void add_level(struct encoder *to, const struct kv_branches *txn);

static void add_op(struct encoder *to, const struct kv_op *op, struct kv_shape_op *ret)
{
    struct redis_call *call = to->call;
    ret->kind = op->kind;
    ret->index = op->kind == KV_OP_TXN ? call->level_count + 1 : call->op_count++;
    switch (op->kind) {
    case KV_OP_RANGE:
        add_range(to, &op->range, ret->index);
        break;
    case KV_OP_PUT:
        add_put(to, &op->put, ret->index);
        break;
    case KV_OP_DELETE:
        add_delete(to, &op->remove, ret->index);
        break;
    case KV_OP_TXN:
        add_array(&to->tree, 2);
        add_number(&to->tree, OP_TXN);
        add_level(to, op->txn);
        break;
    }
}

static void add_level(struct encoder *to, const struct kv_branches *txn)
{
    const struct kv_ops_list *lists[] = {&txn->success, &txn->failure};
    struct kv_shape *shape = &to->call->shapes[++to->call->level_count];
    add_array(&to->tree, 3);
    add_array(&to->tree, 4 * txn->compares.count);
    for (size_t i = 0; i < txn->compares.count; i++) {
        const struct kv_compare *compare = &txn->compares.items[i];
        add_number(&to->tree, number_of(to, compare->key));
        add_number(&to->tree, (int64_t)compare->target);
        add_number(&to->tree, (int64_t)compare->relation);
        add_number(&to->tree, compare->number);
    }
    for (int branch = 0; branch < 2; branch++) {
        size_t count = lists[branch]->count;
        add_array(&to->tree, count);
        shape->ops[branch] =
            arena_array(&to->call->request.arena, count, sizeof(*shape->ops[branch]));
        shape->counts[branch] = count;
        if (!shape->ops[branch]) {
            to->status = E_NOMEM;
            return;
        }
        for (size_t i = 0; i < count; i++)
            add_op(to, &lists[branch]->items[i], &shape->ops[branch][i]);
    }
}

/* ---- arguments ---- */

static char *append(char *at, const struct strbuf *part)
{
    memcpy(at, part->text, part->length);
    return at + part->length;
}

static enum status finish(struct encoder *to)
{
    struct redis_call *call = to->call;
    struct strbuf head;
    strbuf_init(&head);
    add_array(&head, 2);
    add_array(&head, to->key_count);
    size_t length = head.length + to->keys.length + to->tree.length;
    bool is_whole = strbuf_status(&head) == OK && strbuf_status(&to->keys) == OK &&
                    strbuf_status(&to->tree) == OK;
    char *bytes =
        is_whole && length <= BYTES_MAX ? arena_alloc(&call->request.arena, length) : NULL;
    if (bytes)
        append(append(append(bytes, &head), &to->keys), &to->tree);
    strbuf_release(&head);
    if (!bytes)
        return is_whole && length > BYTES_MAX ? E_TOO_LARGE : E_NOMEM;
    redis_adds(&call->job.command, "txn");
    redis_add(&call->job.command, bytes, length);
    redis_adds(&call->job.command, call->tag_text);
    return OK;
}

enum status redis_encode_txn(struct redis_call *call, const struct kv_branches *txn)
{
    struct encoder to = {.call = call};
    call->job.command.script = REDIS_MAY_NOT_GROW;
    call->shapes =
        arena_array(&call->request.arena, (size_t)kv_shape_levels(txn) + 1, sizeof(*call->shapes));
    if (!call->shapes)
        return E_NOMEM;
    strbuf_init(&to.keys);
    strbuf_init(&to.tree);
    add_level(&to, txn);
    enum status st = to.status;
    if (st == OK)
        st = finish(&to);
    strbuf_release(&to.keys);
    strbuf_release(&to.tree);
    return st;
}
