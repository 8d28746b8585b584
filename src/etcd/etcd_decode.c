/* Decodes etcd's answers into results, whose pointers lead into the arena or the bytes. */
#include <string.h>

#include "etcd_internal.h"

enum { TXN_DEPTH_MAX = 8 }; /* deeper than any transaction that is sent */

static void *allocate(void *arena, size_t size)
{
    return arena_alloc(arena, size);
}

static void keep(void *arena, void *at)
{
    (void)arena;
    (void)at; /* freed with the whole arena */
}

ProtobufCAllocator etcd_allocator(struct arena *arena)
{
    return (ProtobufCAllocator){.alloc = allocate, .free = keep, .allocator_data = arena};
}

void *etcd_unpack(struct arena *arena, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                  size_t length)
{
    ProtobufCAllocator allocator = etcd_allocator(arena);
    return protobuf_c_message_unpack(type, &allocator, length, bytes);
}

void *etcd_unpack_answer(struct arena *arena, const ProtobufCMessageDescriptor *type,
                         const uint8_t *bytes, size_t length, struct kv_result *ret)
{
    Etcdpb__HeaderResponse *answer = etcd_unpack(arena, type, bytes, length);
    const Etcdpb__Header *header = answer ? answer->header : NULL;
    if (header) {
        ret->revision = header->revision;
        ret->server_id = header->member_id;
        ret->cluster_id = header->cluster_id;
        ret->term = header->raft_term;
    }
    return answer;
}

static struct kv_bytes read_bytes(const ProtobufCBinaryData *from)
{
    return (struct kv_bytes){from->len ? (const void *)from->data : "", from->len};
}

struct kv_pair etcd_read_kv(const Etcdpb__KeyValue *kv)
{
    if (!kv)
        return (struct kv_pair){.key.data = "", .value.data = ""};
    return (struct kv_pair){
        .key = read_bytes(&kv->key),
        .value = read_bytes(&kv->value),
        .create_revision = kv->create_revision,
        .mod_revision = kv->mod_revision,
        .version = kv->version,
        .lease = kv->lease,
    };
}

static enum status read_kvs(struct arena *arena, Etcdpb__KeyValue *const *from, size_t count,
                            struct kv_op_result *ret)
{
    struct kv_pair *kvs = arena_array(arena, count, sizeof(*kvs));
    if (!kvs)
        return E_NOMEM;
    for (size_t i = 0; i < count; i++)
        kvs[i] = etcd_read_kv(from[i]);
    ret->kvs = kvs;
    ret->kv_count = count;
    return OK;
}

static enum status read_range(struct arena *arena, const Etcdpb__RangeResponse *answer,
                              struct kv_op_result *ret)
{
    ret->kind = KV_OP_RANGE;
    ret->count = answer->count;
    ret->more = answer->more;
    return read_kvs(arena, answer->kvs, answer->n_kvs, ret);
}

static enum status read_put(struct arena *arena, const Etcdpb__PutResponse *answer,
                            struct kv_op_result *ret)
{
    ret->kind = KV_OP_PUT;
    return read_kvs(arena, &answer->prev_kv, answer->prev_kv ? 1 : 0, ret);
}

static enum status read_delete(struct arena *arena, const Etcdpb__DeleteResponse *answer,
                               struct kv_op_result *ret)
{
    ret->kind = KV_OP_DELETE;
    ret->count = answer->deleted;
    return read_kvs(arena, answer->prev_kvs, answer->n_prev_kvs, ret);
}

enum status etcd_decode_range(struct arena *arena, const uint8_t *bytes, size_t length,
                              struct kv_result *ret)
{
    Etcdpb__RangeResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__range_response__descriptor, bytes, length, ret);
    return answer ? read_range(arena, answer, &ret->op) : E_CORRUPT;
}

enum status etcd_decode_put(struct arena *arena, const uint8_t *bytes, size_t length,
                            struct kv_result *ret)
{
    Etcdpb__PutResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__put_response__descriptor, bytes, length, ret);
    return answer ? read_put(arena, answer, &ret->op) : E_CORRUPT;
}

enum status etcd_decode_delete(struct arena *arena, const uint8_t *bytes, size_t length,
                               struct kv_result *ret)
{
    Etcdpb__DeleteResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__delete_response__descriptor, bytes, length, ret);
    return answer ? read_delete(arena, answer, &ret->op) : E_CORRUPT;
}

/* ---- transactions ---- */

static enum status read_txn(struct arena *arena, const Etcdpb__TxnResponse *answer,
                            struct kv_txn_result *ret);

static enum status read_op(struct arena *arena, const Etcdpb__ResponseOp *answer,
                           struct kv_op_result *ret)
{
    switch (answer->response_case) {
    case ETCDPB__RESPONSE_OP__RESPONSE_RANGE:
        return read_range(arena, answer->range, ret);
    case ETCDPB__RESPONSE_OP__RESPONSE_PUT:
        return read_put(arena, answer->put, ret);
    case ETCDPB__RESPONSE_OP__RESPONSE_DELETE:
        return read_delete(arena, answer->delete_, ret);
    case ETCDPB__RESPONSE_OP__RESPONSE_TXN:
        ret->kind = KV_OP_TXN;
        return read_txn(arena, answer->txn, &ret->txn);
    case ETCDPB__RESPONSE_OP__RESPONSE__NOT_SET:
    case _ETCDPB__RESPONSE_OP__RESPONSE__CASE_IS_INT_SIZE:
    default:
        return E_CORRUPT;
    }
}

static enum status read_txn(struct arena *arena, const Etcdpb__TxnResponse *answer,
                            struct kv_txn_result *ret)
{
    struct kv_op_result *ops = arena_array(arena, answer->n_responses, sizeof(*ops));
    if (!ops)
        return E_NOMEM;
    for (size_t i = 0; i < answer->n_responses; i++) {
        enum status st = read_op(arena, answer->responses[i], &ops[i]);
        if (st != OK)
            return st;
    }
    ret->succeeded = answer->succeeded;
    ret->ops = ops;
    ret->op_count = answer->n_responses;
    return OK;
}

/* A varint; 0: there is none. */
static size_t read_varint(const uint8_t *bytes, size_t length, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < length && i < 10; i++) {
        value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (!(bytes[i] & 0x80)) {
            *ret = value;
            return i + 1;
        }
    }
    return 0;
}

/* protobuf-c recurses as deep as the message is nested: check the depth first. A level is a
 * TxnResponse (whose field 3 is a ResponseOp) or a ResponseOp (whose field 4 is a TxnResponse).
 * Malformed messages are left to protobuf-c. */
static bool is_shallow(const uint8_t *bytes, size_t length, uint64_t child_field, int depth)
{
    while (length > 0) {
        uint64_t tag, size = 0;
        size_t used = read_varint(bytes, length, &tag);
        if (used == 0)
            return true;
        bytes += used;
        length -= used;
        if ((tag & 7) == 2 || (tag & 7) == 0) {
            used = read_varint(bytes, length, &size);
            if (used == 0)
                return true;
            bytes += used;
            length -= used;
            size = (tag & 7) == 2 ? size : 0;
        } else {
            size = (tag & 7) == 1 ? 8 : 4;
        }
        if (size > length)
            return true;
        if (tag >> 3 == child_field && (tag & 7) == 2 &&
            (depth == 0 || !is_shallow(bytes, size, child_field == 3 ? 4 : 3, depth - 1)))
            return false;
        bytes += size;
        length -= size;
    }
    return true;
}

enum status etcd_decode_txn(struct arena *arena, const uint8_t *bytes, size_t length,
                            struct kv_result *ret)
{
    if (!is_shallow(bytes, length, 3, 2 * TXN_DEPTH_MAX))
        return E_CORRUPT;
    Etcdpb__TxnResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__txn_response__descriptor, bytes, length, ret);
    if (!answer)
        return E_CORRUPT;
    ret->op.kind = KV_OP_TXN;
    return read_txn(arena, answer, &ret->op.txn);
}

/* ---- leases and maintenance ---- */

enum status etcd_decode_header(struct arena *arena, const uint8_t *bytes, size_t length,
                               struct kv_result *ret)
{
    return etcd_unpack_answer(arena, &etcdpb__header_response__descriptor, bytes, length, ret)
               ? OK
               : E_CORRUPT;
}

enum status etcd_decode_grant(struct arena *arena, const uint8_t *bytes, size_t length,
                              struct kv_result *ret)
{
    Etcdpb__LeaseGrantResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__lease_grant_response__descriptor, bytes, length, ret);
    if (!answer)
        return E_CORRUPT;
    ret->lease.id = answer->id;
    ret->lease.ttl_s = answer->ttl;
    return answer->id && answer->ttl > 0 ? OK : E_CORRUPT;
}

enum status etcd_decode_look(struct arena *arena, const uint8_t *bytes, size_t length,
                             struct kv_result *ret)
{
    Etcdpb__LeaseTimeToLiveResponse *answer = etcd_unpack_answer(
        arena, &etcdpb__lease_time_to_live_response__descriptor, bytes, length, ret);
    if (!answer)
        return E_CORRUPT;
    ret->lease.id = answer->id;
    ret->lease.ttl_s = answer->ttl;
    ret->lease.granted_s = answer->granted_ttl;
    return OK;
}

/* ret->own, still zero; NULL: out of memory. */
static struct etcd_member_result *add_member(struct arena *arena, struct kv_result *ret)
{
    struct etcd_member_result *member = arena_array(arena, 1, sizeof(*member));
    if (member)
        member->version = "";
    ret->own = member;
    return member;
}

const struct etcd_member_result *etcd_member_of(const struct kv_result *result)
{
    static const struct etcd_member_result none = {.version = ""};
    return result->own ? result->own : &none;
}

enum status etcd_decode_status(struct arena *arena, const uint8_t *bytes, size_t length,
                               struct kv_result *ret)
{
    Etcdpb__StatusResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__status_response__descriptor, bytes, length, ret);
    struct etcd_member_result *member = add_member(arena, ret);
    if (!answer || !member)
        return E_CORRUPT;
    member->version = answer->version;
    member->db_bytes = answer->db_size;
    member->db_bytes_in_use = answer->db_size_in_use;
    member->leader_id = answer->leader;
    return OK;
}

enum status etcd_decode_alarms(struct arena *arena, const uint8_t *bytes, size_t length,
                               struct kv_result *ret)
{
    Etcdpb__AlarmResponse *answer =
        etcd_unpack_answer(arena, &etcdpb__alarm_response__descriptor, bytes, length, ret);
    if (!answer)
        return E_CORRUPT;
    struct etcd_member_result *member = add_member(arena, ret);
    struct etcd_alarm_member *alarms = arena_array(arena, answer->n_alarms, sizeof(*alarms));
    if (!member || !alarms)
        return E_NOMEM;
    for (size_t i = 0; i < answer->n_alarms; i++)
        alarms[i] = (struct etcd_alarm_member){answer->alarms[i]->member_id,
                                               (enum etcd_alarm)answer->alarms[i]->alarm};
    member->alarms = alarms;
    member->alarm_count = answer->n_alarms;
    return OK;
}
