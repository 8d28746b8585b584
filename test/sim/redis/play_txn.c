/* Transactions of the Redis that is played: what redis_script.lua does with {keys, tree}.
 * Everything is compared and read first, and written last. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../wire/etcd_model_internal.h"
#include "play.h"

enum { ENTRY_HEAD = 32 };
enum { OP_RANGE = 0, OP_PUT = 1, OP_DELETE = 2, OP_TXN = 3, OP_KEY = 4, OP_DELETE_KEY = 5 };

/* ---- MessagePack, as far as redis_encode.c writes it ---- */

struct item {
    enum { ITEM_NUMBER, ITEM_BYTES, ITEM_BOOL, ITEM_ARRAY } kind;
    int64_t number;
    struct play_text text;
    struct item *items;
    size_t count;
};

struct unpacker {
    struct arena *arena;
    const uint8_t *at, *end;
};

static uint64_t take_big_endian(struct unpacker *from, int bytes)
{
    uint64_t number = 0;
    if (from->end - from->at < bytes)
        abort();
    for (int i = 0; i < bytes; i++)
        number = number << 8 | *from->at++;
    return number;
}

static struct item take_bytes(struct unpacker *from, size_t length)
{
    if ((size_t)(from->end - from->at) < length)
        abort();
    struct item item = {.kind = ITEM_BYTES, .text = {length, (char *)from->at}};
    from->at += length;
    return item;
}

static struct item take_item(struct unpacker *from);

static struct item take_array(struct unpacker *from, size_t count)
{
    struct item item = {.kind = ITEM_ARRAY, .count = count};
    item.items = arena_array(from->arena, count, sizeof(*item.items));
    if (!item.items)
        abort();
    for (size_t i = 0; i < count; i++)
        item.items[i] = take_item(from);
    return item;
}

static struct item take_item(struct unpacker *from)
{
    uint8_t type = (uint8_t)take_big_endian(from, 1);
    if (type < 0x80)
        return (struct item){.kind = ITEM_NUMBER, .number = type};
    if (type < 0xa0)
        return take_array(from, type & 0xf);
    if (type < 0xc0)
        return take_bytes(from, type & 0x1f);
    switch (type) {
    case 0xc2:
    case 0xc3:
        return (struct item){.kind = ITEM_BOOL, .number = type == 0xc3};
    case 0xcc:
    case 0xcd:
    case 0xce:
        return (struct item){.number = (int64_t)take_big_endian(from, 1 << (type - 0xcc))};
    case 0xd3:
        return (struct item){.number = (int64_t)take_big_endian(from, 8)};
    case 0xd9:
    case 0xda:
    case 0xdb:
        return take_bytes(from, take_big_endian(from, 1 << (type - 0xd9)));
    case 0xdc:
    case 0xdd:
        return take_array(from, take_big_endian(from, 2 << (type - 0xdc)));
    default:
        abort();
    }
}

/* ---- entries ---- */

static void add_number(struct strbuf *to, int64_t number)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        strbuf_addc(to, (char)((uint64_t)number >> shift));
}

void play_entry(struct strbuf *to, const struct model_version *version)
{
    add_number(to, version->create_revision);
    add_number(to, version->mod_revision);
    add_number(to, version->version);
    add_number(to, version->lease);
    strbuf_add(to, version->value, version->length);
}

static void add_pair(redisReply *to, const struct model_version *version, bool keys_only)
{
    struct strbuf entry;
    strbuf_init(&entry);
    play_entry(&entry, version);
    reply_add(to, reply_bytes(version->key->bytes, version->key->length));
    reply_add(to, reply_bytes(entry.text, keys_only ? ENTRY_HEAD : entry.length));
    strbuf_release(&entry);
}

/* ---- a transaction under way ---- */

struct txn {
    struct play *play;
    const struct item *keys;
    struct strbuf taken; /* of each level: '0' not reached, '1', '2' */
    struct item **ops;
    size_t op_count;
    const struct item **writes; /* OP_PUT, OP_DELETE, OP_DELETE_KEY */
    size_t write_count;
};

static const struct model_version *version_of(const struct txn *txn, int64_t number)
{
    const struct play_text *key = &txn->keys[number - 1].text;
    return etcd_model_get(txn->play->model, key->bytes, key->length);
}

static bool holds(const struct txn *txn, const struct item *compare)
{
    const struct model_version *version = version_of(txn, compare[0].number);
    int64_t target = compare[1].number, wanted = compare[3].number;
    int64_t is = !version      ? 0
                 : target == 0 ? version->version
                 : target == 1 ? version->mod_revision
                               : version->lease;
    switch (compare[2].number) {
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

static void judge(struct txn *txn, const struct item *node, bool is_reached)
{
    size_t at = txn->taken.length;
    bool all_hold = true;
    strbuf_addc(&txn->taken, '0');
    for (size_t i = 0; is_reached && i < node->items[0].count; i += 4)
        all_hold = all_hold && holds(txn, &node->items[0].items[i]);
    if (is_reached)
        txn->taken.text[at] = all_hold ? '1' : '2';
    for (int branch = 1; branch <= 2; branch++)
        for (size_t i = 0; i < node->items[branch].count; i++) {
            const struct item *op = &node->items[branch].items[i];
            if (op->items[0].number == OP_TXN)
                judge(txn, &op->items[1], is_reached && all_hold == (branch == 1));
        }
}

static size_t gather(struct txn *txn, const struct item *node, size_t at)
{
    char mine = txn->taken.text[at];
    size_t next = at + 1;
    for (int branch = 1; branch <= 2; branch++)
        for (size_t i = 0; i < node->items[branch].count; i++) {
            struct item *op = &node->items[branch].items[i];
            if (op->items[0].number == OP_TXN)
                next = gather(txn, &op->items[1], next);
            else if (mine == (branch == 1 ? '1' : '2'))
                txn->ops[txn->op_count++] = op;
        }
    return next;
}

/* ---- what is read ---- */

static ProtobufCBinaryData slice(const struct play_text *text)
{
    return (ProtobufCBinaryData){text->length, (uint8_t *)text->bytes};
}

static void read_range(const struct txn *txn, const struct item *op, redisReply *to)
{
    static const int orders[] = {0, 2, 1, 2, 1, 2}; /* none, ascending, descending */
    static const int targets[] = {0, 0, 2, 2, 3, 3};
    Etcdpb__RangeRequest request;
    Etcdpb__RangeResponse response;
    etcdpb__range_request__init(&request);
    etcdpb__range_response__init(&response);
    request.key = slice(&op[2].text);
    request.range_end = slice(&op[3].text);
    request.limit = op[4].number;
    request.sort_order = orders[op[5].number];
    request.sort_target = targets[op[5].number];
    request.max_create_revision = op[6].number;
    request.count_only = op[8].number != 0;
    model_read_range(txn->play->model, &txn->play->arena, &request, &response);
    to->element[1]->integer = response.count;
    for (size_t i = 0; i < response.n_kvs; i++) {
        const Etcdpb__KeyValue *kv = response.kvs[i];
        add_pair(to, etcd_model_get(txn->play->model, kv->key.data, kv->key.len),
                 op[7].number != 0);
    }
}

static void read_key(const struct txn *txn, const struct item *op, redisReply *to)
{
    const struct model_version *version = version_of(txn, op[2].number);
    to->element[1]->integer = version != NULL;
    if (version && !op[4].number)
        add_pair(to, version, op[3].number != 0);
}

static void read_doomed(const struct txn *txn, const struct item *op, redisReply *to)
{
    size_t first, after;
    const struct etcd_model *model = txn->play->model;
    etcd_model_span(model, slice(&op[2].text), slice(&op[3].text), &first, &after);
    for (size_t i = first; i < after; i++) {
        const struct model_key *key = model->keys[i];
        const struct model_version *version = etcd_model_get(model, key->bytes, key->length);
        to->element[1]->integer += version != NULL;
        if (version && op[4].number)
            add_pair(to, version, false);
    }
}

static redisReply *read_op(struct txn *txn, const struct item *op)
{
    const struct model_version *version;
    redisReply *result = reply_array(0);
    reply_add(result, reply_int(op[1].number));
    reply_add(result, reply_int(0));
    switch (op[0].number) {
    case OP_RANGE:
        read_range(txn, op, result);
        return result;
    case OP_KEY:
        read_key(txn, op, result);
        return result;
    case OP_PUT:
        version = version_of(txn, op[2].number);
        if (version && op[5].number)
            add_pair(result, version, false);
        break;
    case OP_DELETE:
        read_doomed(txn, op, result);
        break;
    case OP_DELETE_KEY:
        version = version_of(txn, op[2].number);
        result->element[1]->integer = version != NULL;
        if (version && op[3].number)
            add_pair(result, version, false);
        break;
    default:
        abort();
    }
    txn->writes[txn->write_count++] = op;
    return result;
}

/* ---- what is written ---- */

static void write_op(const struct txn *txn, const struct item *op)
{
    struct play *play = txn->play;
    if (op[0].number == OP_PUT) {
        Etcdpb__PutRequest request;
        Etcdpb__PutResponse response;
        etcdpb__put_request__init(&request);
        etcdpb__put_response__init(&response);
        request.key = slice(&txn->keys[op[2].number - 1].text);
        request.value = slice(&op[3].text);
        request.lease = op[4].number;
        model_write_put(play->model, &play->arena, &request, &response);
        return;
    }
    Etcdpb__DeleteRequest request;
    Etcdpb__DeleteResponse response;
    etcdpb__delete_request__init(&request);
    etcdpb__delete_response__init(&response);
    bool is_alone = op[0].number == OP_DELETE_KEY;
    request.key = slice(is_alone ? &txn->keys[op[2].number - 1].text : &op[2].text);
    if (!is_alone)
        request.range_end = slice(&op[3].text);
    model_write_delete(play->model, &play->arena, &request, &response);
}

static bool has_no_lease(const struct txn *txn)
{
    for (size_t i = 0; i < txn->write_count; i++) {
        const struct item *op = txn->writes[i];
        if (op[0].number == OP_PUT && op[4].number &&
            !etcd_model_lease(txn->play->model, op[4].number))
            return true;
    }
    return false;
}

static redisReply *answer(struct play *play, const char *branches, bool is_own, redisReply *results)
{
    redisReply *reply = reply_array(0);
    reply_add(reply, play_head(play));
    reply_add(reply, reply_bytes(branches, strlen(branches)));
    reply_add(reply, reply_int(is_own));
    reply_add(reply, results);
    return reply;
}

static redisReply *carry_out(struct txn *txn, const struct item *tree, int64_t tag)
{
    struct play *play = txn->play;
    redisReply *results = reply_array(0);
    int64_t before = play->model->revision;
    judge(txn, tree, true);
    gather(txn, tree, 0);
    for (size_t i = 0; i < txn->op_count; i++)
        reply_add(results, read_op(txn, txn->ops[i]->items));
    if (has_no_lease(txn)) {
        freeReplyObject(results);
        return reply_error("PEAL NOLEASE");
    }
    size_t log_before = play->model->log_count;
    for (size_t i = 0; i < txn->write_count; i++)
        write_op(txn, txn->writes[i]);
    if (play->model->log_count > log_before) /* the oracle may end what it is told of */
        play_note_tag(play, before, tag, txn->taken.text);
    model_commit(play->model, log_before);
    return answer(play, txn->taken.text, play->model->revision > before, results);
}

/* The first answer of one that was done. */
static redisReply *answer_again(struct play *play, int64_t seen, int64_t tag)
{
    for (int64_t rev = seen + 1; rev <= play->model->revision; rev++) {
        if (rev >= (int64_t)play->tag_room || play->tags[rev].tag != tag)
            continue;
        redisReply *reply = answer(play, play->tags[rev].branches, true, reply_array(0));
        redisReply *head = reply->element[0];
        freeReplyObject(head->element[0]);
        freeReplyObject(head->element[2]);
        head->element[0] = reply_text("%" PRId64, rev);
        head->element[2] = reply_text("%" PRId64, tag);
        return reply;
    }
    return NULL;
}

redisReply *play_txn(struct play *play, const struct play_text *args)
{
    int64_t tag = strtoll(args[1].bytes, NULL, 10), seen = strtoll(args[2].bytes, NULL, 10);
    redisReply *reply = seen >= 0 ? answer_again(play, seen, tag) : NULL;
    if (reply)
        return reply;
    struct unpacker from = {&play->arena, (const uint8_t *)args[0].bytes,
                            (const uint8_t *)args[0].bytes + args[0].length};
    struct item whole = take_item(&from);
    struct txn txn = {.play = play, .keys = whole.items[0].items};
    size_t most = args[0].length; /* an operation takes more than a byte */
    txn.ops = calloc(most, sizeof(*txn.ops));
    txn.writes = calloc(most, sizeof(*txn.writes));
    if (!txn.ops || !txn.writes)
        abort();
    strbuf_init(&txn.taken);
    reply = carry_out(&txn, &whole.items[1], tag);
    strbuf_release(&txn.taken);
    free(txn.ops);
    free(txn.writes);
    return reply;
}
