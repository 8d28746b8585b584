#include "etcd_txn.h"

#include <stdlib.h>
#include <string.h>

#include "etcd_internal.h"

enum { DEPTH_MAX = 4 };

/* A list of messages that grows in the arena. */
struct message_list {
    void **items;
    size_t count, capacity;
};

struct txn_level {
    Etcdpb__TxnRequest *message;
    struct message_list compares, success, failure;
    bool in_else;
};

struct etcd_txn {
    struct arena arena;
    struct txn_level levels[DEPTH_MAX];
    size_t depth; /* of the current level */
    enum status failed;
};

static void fail(struct etcd_txn *txn, enum status st)
{
    if (txn->failed == OK)
        txn->failed = st;
}

/* ---- memory: remembered failures, NULL from then on ---- */

static void *take(struct etcd_txn *txn, size_t size)
{
    void *at = txn->failed == OK ? arena_alloc(&txn->arena, size) : NULL;
    if (!at)
        fail(txn, E_NOMEM);
    return at;
}

static struct etcd_bytes copy(struct etcd_txn *txn, struct etcd_bytes bytes)
{
    void *to = bytes.length ? take(txn, bytes.length) : NULL;
    if (!to)
        return (struct etcd_bytes){"", 0};
    memcpy(to, bytes.data, bytes.length);
    return (struct etcd_bytes){to, bytes.length};
}

static void append(struct etcd_txn *txn, struct message_list *list, void *item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4;
        void **items = take(txn, capacity * sizeof(*items));
        if (!items)
            return;
        if (list->count)
            memcpy(items, list->items, list->count * sizeof(*items));
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
}

static struct txn_level *level_of(struct etcd_txn *txn)
{
    return &txn->levels[txn->depth];
}

static struct message_list *branch_of(struct etcd_txn *txn)
{
    struct txn_level *level = level_of(txn);
    return level->in_else ? &level->failure : &level->success;
}

static void open_level(struct etcd_txn *txn)
{
    struct txn_level *level = level_of(txn);
    *level = (struct txn_level){.message = take(txn, sizeof(*level->message))};
    if (level->message)
        etcdpb__txn_request__init(level->message);
}

static void close_level(struct etcd_txn *txn)
{
    struct txn_level *level = level_of(txn);
    if (!level->message)
        return;
    level->message->compare = (Etcdpb__Compare **)level->compares.items;
    level->message->n_compare = level->compares.count;
    level->message->success = (Etcdpb__RequestOp **)level->success.items;
    level->message->n_success = level->success.count;
    level->message->failure = (Etcdpb__RequestOp **)level->failure.items;
    level->message->n_failure = level->failure.count;
}

enum status etcd_txn_new(struct etcd_txn **ret)
{
    struct etcd_txn *txn = calloc(1, sizeof(*txn));
    if (!txn)
        return E_NOMEM;
    arena_init(&txn->arena);
    etcd_txn_reset(txn);
    *ret = txn;
    return OK;
}

struct etcd_txn *etcd_txn_free(struct etcd_txn *txn)
{
    if (txn)
        arena_release(&txn->arena);
    free(txn);
    return NULL;
}

void etcd_txn_reset(struct etcd_txn *txn)
{
    arena_reset(&txn->arena);
    txn->failed = OK;
    txn->depth = 0;
    open_level(txn);
}

/* ---- compares ---- */

static void add_compare(struct etcd_txn *txn, struct etcd_bytes key, enum etcd_relation relation,
                        int target, Etcdpb__Compare__OperandCase operand, int64_t number)
{
    Etcdpb__Compare *compare = take(txn, sizeof(*compare));
    if (!compare)
        return;
    etcdpb__compare__init(compare);
    compare->result = (int32_t)relation;
    compare->target = target;
    compare->key = etcd_slice(copy(txn, key));
    compare->operand_case = operand;
    compare->version = number; /* one place with the other operands */
    append(txn, &level_of(txn)->compares, compare);
}

void etcd_txn_if_version(struct etcd_txn *txn, struct etcd_bytes key, enum etcd_relation relation,
                         int64_t version)
{
    add_compare(txn, key, relation, 0, ETCDPB__COMPARE__OPERAND_VERSION, version);
}

void etcd_txn_if_mod_revision(struct etcd_txn *txn, struct etcd_bytes key,
                              enum etcd_relation relation, int64_t revision)
{
    add_compare(txn, key, relation, 2, ETCDPB__COMPARE__OPERAND_MOD_REVISION, revision);
}

void etcd_txn_if_lease(struct etcd_txn *txn, struct etcd_bytes key, enum etcd_relation relation,
                       int64_t lease)
{
    add_compare(txn, key, relation, 4, ETCDPB__COMPARE__OPERAND_LEASE, lease);
}

/* ---- operations ---- */

void etcd_txn_else(struct etcd_txn *txn)
{
    level_of(txn)->in_else = true;
}

static Etcdpb__RequestOp *add_op(struct etcd_txn *txn, Etcdpb__RequestOp__RequestCase kind)
{
    Etcdpb__RequestOp *op = take(txn, sizeof(*op));
    if (!op)
        return NULL;
    etcdpb__request_op__init(op);
    op->request_case = kind;
    append(txn, branch_of(txn), op);
    return op;
}

/* A message of an operation that is added; NULL: out of memory. */
static void *add_message(struct etcd_txn *txn, Etcdpb__RequestOp__RequestCase kind, size_t size)
{
    void *message = take(txn, size);
    Etcdpb__RequestOp *op = message ? add_op(txn, kind) : NULL;
    if (op)
        op->range = message; /* one place with the other kinds */
    return op ? message : NULL;
}

void etcd_txn_range(struct etcd_txn *txn, const struct etcd_range *request)
{
    struct etcd_range copied = *request;
    copied.key = copy(txn, request->key);
    copied.end = copy(txn, request->end);
    Etcdpb__RangeRequest *message =
        add_message(txn, ETCDPB__REQUEST_OP__REQUEST_RANGE, sizeof(*message));
    if (message && etcd_make_range(&txn->arena, &copied, message) != OK)
        fail(txn, E_NOMEM);
}

void etcd_txn_put(struct etcd_txn *txn, const struct etcd_put *request)
{
    struct etcd_put copied = *request;
    copied.key = copy(txn, request->key);
    copied.value = copy(txn, request->value);
    Etcdpb__PutRequest *message =
        add_message(txn, ETCDPB__REQUEST_OP__REQUEST_PUT, sizeof(*message));
    if (message)
        etcd_make_put(&copied, message);
}

void etcd_txn_delete(struct etcd_txn *txn, const struct etcd_delete *request)
{
    struct etcd_delete copied = *request;
    copied.key = copy(txn, request->key);
    copied.end = copy(txn, request->end);
    Etcdpb__DeleteRequest *message =
        add_message(txn, ETCDPB__REQUEST_OP__REQUEST_DELETE, sizeof(*message));
    if (message && etcd_make_delete(&txn->arena, &copied, message) != OK)
        fail(txn, E_NOMEM);
}

void etcd_txn_begin(struct etcd_txn *txn)
{
    if (txn->depth + 1 == DEPTH_MAX) {
        fail(txn, E_INVALID);
        return;
    }
    Etcdpb__RequestOp *op = add_op(txn, ETCDPB__REQUEST_OP__REQUEST_TXN);
    txn->depth++;
    open_level(txn);
    if (op)
        op->txn = level_of(txn)->message;
}

void etcd_txn_end(struct etcd_txn *txn)
{
    if (txn->depth == 0) {
        fail(txn, E_INVALID);
        return;
    }
    close_level(txn);
    txn->depth--;
}

enum status etcd_txn_send(struct etcd_client *client, struct etcd_txn *txn,
                          const struct etcd_reply *reply, struct etcd_call **ret)
{
    static const struct etcd_method method = {.path = "/etcdserverpb.KV/Txn",
                                              .decode = etcd_decode_txn};
    if (txn->failed == OK && txn->depth != 0)
        return E_INVALID; /* an inner one was not ended */
    if (txn->failed != OK)
        return txn->failed;
    close_level(txn);
    return etcd_call_start(client, &method, &txn->levels[0].message->base, reply, ret);
}
