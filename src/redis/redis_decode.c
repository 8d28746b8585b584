/* What the script answers, taken apart. It comes from a stranger's server: everything is checked.
 */
#include <endian.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "redis_internal.h"

/* ---- elements ---- */

/* Digits alone, as the script writes them. */
static bool parse_number(const char *text, size_t length, int64_t *ret)
{
    int64_t number = 0;
    if (length == 0 || length > 18)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (text[i] - '0');
    }
    *ret = number;
    return true;
}

bool redis_read_number(const struct redisReply *reply, int64_t *ret)
{
    if (!reply)
        return false;
    if (reply->type == REDIS_REPLY_STRING)
        return parse_number(reply->str, reply->len, ret);
    if (reply->type != REDIS_REPLY_INTEGER || reply->integer < 0)
        return false;
    *ret = reply->integer;
    return true;
}

bool redis_read_bytes(const struct redisReply *reply, struct kv_bytes *ret)
{
    if (!reply || reply->type != REDIS_REPLY_STRING)
        return false;
    *ret = (struct kv_bytes){reply->str, reply->len};
    return true;
}

const struct redisReply *redis_at(const struct redisReply *array, size_t i)
{
    return array && array->type == REDIS_REPLY_ARRAY && i < array->elements ? array->element[i]
                                                                            : NULL;
}

bool redis_read_head(const struct redisReply *reply, struct redis_head *ret)
{
    struct redis_head head;
    if (!redis_read_number(redis_at(reply, 0), &head.rev) ||
        !redis_read_number(redis_at(reply, 1), &head.incarnation) ||
        !redis_read_number(redis_at(reply, 2), &head.tag) ||
        !redis_read_number(redis_at(reply, 3), &head.floor))
        return false;
    *ret = head;
    return true;
}

uint64_t redis_cluster_id(int64_t incarnation)
{
    uint64_t id = hash_bytes(0, &incarnation, sizeof(incarnation));
    return id ? id : 1;
}

/* ---- entries ---- */

static int64_t int8_at(const char *bytes)
{
    uint64_t number;
    memcpy(&number, bytes, sizeof(number));
    return (int64_t)(be64toh(number) & INT64_MAX);
}

bool redis_read_pair(struct kv_bytes key, struct kv_bytes entry, struct kv_pair *ret)
{
    const char *bytes = entry.data;
    if (entry.length < REDIS_ENTRY_HEAD)
        return false;
    *ret = (struct kv_pair){
        .key = key,
        .value = {bytes + REDIS_ENTRY_HEAD, entry.length - REDIS_ENTRY_HEAD},
        .create_revision = int8_at(bytes),
        .mod_revision = int8_at(bytes + 8),
        .version = int8_at(bytes + 16),
        .lease = int8_at(bytes + 24),
    };
    return true;
}

/* ---- changes ---- */

struct cursor {
    const char *at, *end;
};

/* Four bytes of length, and as many bytes. */
static bool next_bytes(struct cursor *from, struct kv_bytes *ret)
{
    uint32_t length;
    if (from->end - from->at < (ptrdiff_t)sizeof(length))
        return false;
    memcpy(&length, from->at, sizeof(length));
    length = be32toh(length);
    from->at += sizeof(length);
    if (length > (size_t)(from->end - from->at))
        return false;
    *ret = (struct kv_bytes){from->at, length};
    from->at += length;
    return true;
}

/* "REVISION-0" */
static bool read_id(struct kv_bytes id, int64_t *ret)
{
    const char *text = id.data;
    return id.length >= 3 && memcmp(text + id.length - 2, "-0", 2) == 0 &&
           parse_number(text, id.length - 2, ret);
}

bool redis_read_item(const struct redisReply *item, int64_t *ret_rev, struct kv_bytes *ret)
{
    struct kv_bytes id;
    return redis_read_bytes(redis_at(item, 0), &id) && read_id(id, ret_rev) &&
           redis_read_bytes(redis_at(redis_at(item, 1), 1), ret);
}

static size_t count_changes(struct cursor from)
{
    struct kv_bytes key, entry;
    size_t count = 0;
    while (from.at < from.end && next_bytes(&from, &key) && next_bytes(&from, &entry))
        count++;
    return count;
}

bool redis_read_events(struct kv_bytes change, int64_t rev, struct kv_event **ret,
                       size_t *ret_count)
{
    struct cursor from = {change.data, (const char *)change.data + change.length};
    size_t count = count_changes(from);
    struct kv_event *events = calloc(count + 1, sizeof(*events));
    bool is_whole = events != NULL;
    for (size_t i = 0; is_whole && i < count; i++) {
        struct kv_bytes key, entry;
        struct kv_event *event = &events[i];
        is_whole = next_bytes(&from, &key) && next_bytes(&from, &entry);
        event->previous = (struct kv_pair){.key.data = "", .value.data = ""};
        event->is_delete = is_whole && entry.length == 0;
        if (event->is_delete)
            event->kv = (struct kv_pair){.key = key, .value.data = "", .mod_revision = rev};
        else
            is_whole = is_whole && redis_read_pair(key, entry, &event->kv);
    }
    if (!is_whole || from.at != from.end) {
        free(events);
        return false;
    }
    *ret = events;
    *ret_count = count;
    return true;
}

/* ---- a transaction ---- */

/* {number, count, key, entry, key, entry, ...} */
static enum status read_op(struct redis_call *call, const struct redisReply *reply,
                           struct kv_op_result *ops)
{
    int64_t number, count;
    if (!redis_read_number(redis_at(reply, 0), &number) ||
        !redis_read_number(redis_at(reply, 1), &count) || number >= call->op_count ||
        reply->elements % 2 != 0)
        return E_CORRUPT;
    size_t found = reply->elements / 2 - 1;
    struct kv_pair *kvs = arena_array(&call->request.arena, found, sizeof(*kvs));
    if (!kvs)
        return E_NOMEM;
    for (size_t i = 0; i < found; i++) {
        struct kv_bytes key, entry;
        if (!redis_read_bytes(redis_at(reply, 2 + 2 * i), &key) ||
            !redis_read_bytes(redis_at(reply, 3 + 2 * i), &entry) ||
            !redis_read_pair(key, entry, &kvs[i]))
            return E_CORRUPT;
    }
    ops[number] = (struct kv_op_result){.kvs = kvs, .kv_count = found, .count = count};
    return OK;
}

static enum status read_ops(struct redis_call *call, const struct redisReply *list,
                            struct kv_op_result *ops)
{
    enum status st = list && list->type == REDIS_REPLY_ARRAY ? OK : E_CORRUPT;
    for (size_t i = 0; st == OK && i < list->elements; i++)
        st = read_op(call, list->element[i], ops);
    return st;
}

/* Branches of an answer that is given again have no operations: theirs were found empty. */
enum status redis_decode_txn(struct redis_call *call)
{
    const struct redisReply *reply = call->job.reply;
    struct kv_request *request = &call->request;
    struct kv_txn_result txn = {.ops = NULL};
    struct kv_bytes branches;
    struct redis_head head;
    if (!redis_read_head(redis_at(reply, 0), &head) ||
        !redis_read_bytes(redis_at(reply, 1), &branches))
        return E_CORRUPT;
    struct kv_op_result *ops = arena_array(&request->arena, (size_t)call->op_count, sizeof(*ops));
    if (!ops)
        return E_NOMEM;
    enum status st = branches.length == (size_t)call->level_count
                         ? read_ops(call, redis_at(reply, 3), ops)
                         : E_CORRUPT;
    if (st == OK)
        st = kv_shape_result(&request->arena, call->shapes, ops, branches, 1, &txn);
    if (st != OK)
        return st;
    redis_learn((struct redis_client *)request->base.client, &head);
    request->result.revision = head.rev;
    request->result.cluster_id = redis_cluster_id(head.incarnation);
    if (call->kind == REDIS_KIND_TXN) {
        request->result.op.kind = KV_OP_TXN;
        request->result.op.txn = txn;
    } else if (txn.op_count == 1) {
        request->result.op = txn.ops[0];
    }
    return OK;
}
