/* Transactions of the Redis that is played: what redis_script.lua does with {keys, tree}. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis_play.h"

enum { ENTRY_HEAD = 32 };
enum { OP_RANGE = 0, OP_PUT = 1, OP_DELETE = 2, OP_TXN = 3, OP_KEY = 4, OP_DELETE_KEY = 5 };

/* ---- MessagePack, as far as redis_encode.c writes it ---- */

struct item {
    enum { ITEM_NUMBER, ITEM_BYTES, ITEM_BOOL, ITEM_ARRAY } kind;
    int64_t number;
    struct redis_text text;
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

void script_entry(struct strbuf *to, const struct model_version *version)
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
    script_entry(&entry, version);
    reply_add(to, reply_bytes(version->key->bytes, version->key->length));
    reply_add(to, reply_bytes(entry.text, keys_only ? ENTRY_HEAD : entry.length));
    strbuf_release(&entry);
}

/* ---- the tree ---- */

struct reading {
    struct txn *txn;
    const struct item *keys;
};

static ProtobufCBinaryData slice(const struct redis_text *text)
{
    return (ProtobufCBinaryData){text->length, (uint8_t *)text->bytes};
}

static ProtobufCBinaryData key_of(const struct reading *reading, int64_t number)
{
    return slice(&reading->keys[number - 1].text);
}

static struct txn_op read_op(const struct reading *reading, const struct item *op)
{
    struct txn_op ret = {.number = op[1].number};
    switch (op[0].number) {
    case OP_RANGE:
        ret.low = slice(&op[2].text);
        ret.high = slice(&op[3].text);
        ret.limit = op[4].number;
        ret.sort = op[5].number;
        ret.max_create = op[6].number;
        ret.keys_only = op[7].number != 0;
        ret.count_only = op[8].number != 0;
        break;
    case OP_KEY:
        ret.low = key_of(reading, op[2].number);
        ret.keys_only = op[3].number != 0;
        ret.count_only = op[4].number != 0;
        break;
    case OP_PUT:
        ret.kind = TXN_PUT;
        ret.low = key_of(reading, op[2].number);
        ret.value = slice(&op[3].text);
        ret.lease = op[4].number;
        ret.want_previous = op[5].number != 0;
        break;
    case OP_DELETE:
        ret.kind = TXN_DELETE;
        ret.low = slice(&op[2].text);
        ret.high = slice(&op[3].text);
        ret.want_previous = op[4].number != 0;
        break;
    case OP_DELETE_KEY:
        ret.kind = TXN_DELETE;
        ret.low = key_of(reading, op[2].number);
        ret.want_previous = op[3].number != 0;
        break;
    default:
        abort();
    }
    return ret;
}

static void read_node(struct reading *reading, const struct item *node, int parent, bool in_else)
{
    struct txn *txn = reading->txn;
    int level = (int)txn->level_count++;
    txn->levels[level] = (struct txn_level){parent, in_else};
    for (size_t i = 0; i < node->items[0].count; i += 4) {
        const struct item *compare = &node->items[0].items[i];
        txn->compares[txn->compare_count++] =
            (struct txn_compare){.level = level,
                                 .key = key_of(reading, compare[0].number),
                                 .target = compare[1].number,
                                 .relation = compare[2].number,
                                 .number = compare[3].number};
    }
    for (int branch = 1; branch <= 2; branch++)
        for (size_t i = 0; i < node->items[branch].count; i++) {
            const struct item *op = node->items[branch].items[i].items;
            if (op[0].number == OP_TXN) {
                read_node(reading, &op[1], level, branch == 2);
                continue;
            }
            struct txn_op *to = &txn->ops[txn->op_count++];
            *to = read_op(reading, op);
            to->level = level;
            to->is_in_else = branch == 2;
        }
}

/* ---- answers ---- */

/* {op, count, key, entry, ...} for each operation */
static void on_found(void *context, const struct txn_op *op, int64_t count)
{
    redisReply *results = context, *result = reply_array(0);
    reply_add(result, reply_int(op->number));
    reply_add(result, reply_int(count));
    reply_add(results, result);
}

static void on_pair(void *context, const struct txn_op *op, const struct model_version *version)
{
    const redisReply *results = context;
    add_pair(results->element[results->elements - 1], version, op->keys_only);
}

static redisReply *answer(struct play *play, const char *branches, bool is_own, redisReply *results)
{
    redisReply *reply = reply_array(0);
    reply_add(reply, script_head(play));
    reply_add(reply, reply_bytes(branches, strlen(branches)));
    reply_add(reply, reply_int(is_own));
    reply_add(reply, results);
    return reply;
}

/* The first answer of one that was done. */
static redisReply *answer_again(struct play *play, int64_t seen, int64_t tag)
{
    int64_t rev = play_find_tag(play, seen, tag);
    if (!rev)
        return NULL;
    redisReply *reply = answer(play, play->tags[rev].branches, true, reply_array(0));
    redisReply *head = reply->element[0];
    freeReplyObject(head->element[0]);
    freeReplyObject(head->element[2]);
    head->element[0] = reply_text("%" PRId64, rev);
    head->element[2] = reply_text("%" PRId64, tag);
    return reply;
}

redisReply *script_txn(struct play *play, const struct redis_text *args)
{
    int64_t tag = strtoll(args[1].bytes, NULL, 10), seen = strtoll(args[2].bytes, NULL, 10);
    int64_t before = play->model->revision;
    redisReply *reply = seen >= 0 ? answer_again(play, seen, tag) : NULL;
    if (reply)
        return reply;
    struct unpacker from = {&play->arena, (const uint8_t *)args[0].bytes,
                            (const uint8_t *)args[0].bytes + args[0].length};
    struct item whole = take_item(&from);
    size_t most = args[0].length; /* each takes more than a byte */
    redisReply *results = reply_array(0);
    struct txn txn = {.levels = arena_array(&play->arena, most, sizeof(*txn.levels)),
                      .compares = arena_array(&play->arena, most, sizeof(*txn.compares)),
                      .ops = arena_array(&play->arena, most, sizeof(*txn.ops)),
                      .tag = tag,
                      .found = on_found,
                      .pair = on_pair,
                      .context = results};
    struct reading reading = {.txn = &txn, .keys = whole.items[0].items};
    strbuf_init(&txn.branches);
    read_node(&reading, &whole.items[1], -1, false);
    if (play_txn(play, &txn)) {
        reply = answer(play, txn.branches.text, play->model->revision > before, results);
    } else {
        freeReplyObject(results);
        reply = reply_error("PEAL NOLEASE");
    }
    strbuf_release(&txn.branches);
    return reply;
}
