#include "kv_txn.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "kv_backend.h"

enum { DEPTH_MAX = 4, ROOM_FIRST = 4 };

struct txn_level {
    struct kv_branches *branches;
    bool in_else;
};

struct kv_txn {
    struct arena arena;
    struct txn_level levels[DEPTH_MAX];
    size_t depth; /* of the current level */
    enum status failed;
};

static void fail(struct kv_txn *txn, enum status st)
{
    if (txn->failed == OK)
        txn->failed = st;
}

/* ---- memory: remembered failures, NULL from then on ---- */

static void *take(struct kv_txn *txn, size_t size)
{
    void *at = txn->failed == OK ? arena_alloc(&txn->arena, size) : NULL;
    if (!at)
        fail(txn, E_NOMEM);
    return at;
}

static struct kv_bytes copy(struct kv_txn *txn, struct kv_bytes bytes)
{
    void *to = bytes.length ? take(txn, bytes.length) : NULL;
    if (!to)
        return (struct kv_bytes){"", 0};
    memcpy(to, bytes.data, bytes.length);
    return (struct kv_bytes){to, bytes.length};
}

/* A list that is full moves to twice the room; what it leaves is freed with the arena. */
static void *more_room(struct kv_txn *txn, const void *items, size_t count, size_t *room,
                       size_t size)
{
    size_t wanted = *room ? 2 * *room : ROOM_FIRST;
    void *moved = take(txn, wanted * size);
    if (!moved)
        return NULL;
    if (count)
        memcpy(moved, items, count * size);
    *room = wanted;
    return moved;
}

static void open_level(struct kv_txn *txn)
{
    struct txn_level *level = &txn->levels[txn->depth];
    *level = (struct txn_level){.branches = take(txn, sizeof(*level->branches))};
    if (level->branches)
        *level->branches = (struct kv_branches){.compares.count = 0};
}

enum status kv_txn_new(struct kv_txn **ret)
{
    struct kv_txn *txn = calloc(1, sizeof(*txn));
    if (!txn)
        return E_NOMEM;
    arena_init(&txn->arena);
    kv_txn_reset(txn);
    *ret = txn;
    return OK;
}

struct kv_txn *kv_txn_free(struct kv_txn *txn)
{
    if (txn)
        arena_release(&txn->arena);
    free(txn);
    return NULL;
}

void kv_txn_reset(struct kv_txn *txn)
{
    arena_reset(&txn->arena);
    txn->failed = OK;
    txn->depth = 0;
    open_level(txn);
}

/* ---- compares ---- */

static void add_compare(struct kv_txn *txn, struct kv_bytes key, enum kv_relation relation,
                        enum kv_target target, int64_t number)
{
    struct kv_bytes copied = copy(txn, key);
    if (txn->failed != OK)
        return;
    struct kv_compare_list *list = &txn->levels[txn->depth].branches->compares;
    if (list->count == list->room) {
        struct kv_compare *items =
            more_room(txn, list->items, list->count, &list->room, sizeof(*items));
        if (!items)
            return;
        list->items = items;
    }
    list->items[list->count++] = (struct kv_compare){copied, target, relation, number};
}

void kv_txn_if_version(struct kv_txn *txn, struct kv_bytes key, enum kv_relation relation,
                       int64_t version)
{
    add_compare(txn, key, relation, KV_TARGET_VERSION, version);
}

void kv_txn_if_mod_revision(struct kv_txn *txn, struct kv_bytes key, enum kv_relation relation,
                            int64_t revision)
{
    add_compare(txn, key, relation, KV_TARGET_MOD_REVISION, revision);
}

void kv_txn_if_lease(struct kv_txn *txn, struct kv_bytes key, enum kv_relation relation,
                     int64_t lease)
{
    add_compare(txn, key, relation, KV_TARGET_LEASE, lease);
}

/* ---- operations ---- */

void kv_txn_else(struct kv_txn *txn)
{
    txn->levels[txn->depth].in_else = true;
}

/* A new operation of the current branch; NULL: out of memory. */
static struct kv_op *add_op(struct kv_txn *txn, enum kv_op_kind kind)
{
    const struct txn_level *level = &txn->levels[txn->depth];
    if (txn->failed != OK)
        return NULL;
    struct kv_ops_list *list =
        level->in_else ? &level->branches->failure : &level->branches->success;
    if (list->count == list->room) {
        struct kv_op *items = more_room(txn, list->items, list->count, &list->room, sizeof(*items));
        if (!items)
            return NULL;
        list->items = items;
    }
    struct kv_op *op = &list->items[list->count++];
    op->kind = kind;
    return op;
}

void kv_txn_range(struct kv_txn *txn, const struct kv_range *request)
{
    struct kv_range copied = *request;
    copied.key = copy(txn, request->key);
    copied.end = copy(txn, request->end);
    struct kv_op *op = add_op(txn, KV_OP_RANGE);
    if (op)
        op->range = copied;
}

void kv_txn_put(struct kv_txn *txn, const struct kv_put *request)
{
    struct kv_put copied = *request;
    copied.key = copy(txn, request->key);
    copied.value = copy(txn, request->value);
    struct kv_op *op = add_op(txn, KV_OP_PUT);
    if (op)
        op->put = copied;
}

void kv_txn_delete(struct kv_txn *txn, const struct kv_delete *request)
{
    struct kv_delete copied = *request;
    copied.key = copy(txn, request->key);
    copied.end = copy(txn, request->end);
    struct kv_op *op = add_op(txn, KV_OP_DELETE);
    if (op)
        op->remove = copied;
}

void kv_txn_begin(struct kv_txn *txn)
{
    if (txn->depth + 1 == DEPTH_MAX) {
        fail(txn, E_INVALID);
        return;
    }
    struct kv_op *op = add_op(txn, KV_OP_TXN);
    txn->depth++;
    open_level(txn);
    if (op)
        op->txn = txn->levels[txn->depth].branches;
}

void kv_txn_end(struct kv_txn *txn)
{
    if (txn->depth == 0)
        fail(txn, E_INVALID);
    else
        txn->depth--;
}

enum status kv_txn_send(struct kv_client *client, struct kv_txn *txn, const struct kv_reply *reply,
                        struct kv_call **ret)
{
    if (txn->failed == OK && txn->depth != 0)
        return E_INVALID; /* an inner one was not ended */
    if (txn->failed != OK)
        return txn->failed;
    return client->ops->txn(client, txn->levels[0].branches, reply, ret);
}
