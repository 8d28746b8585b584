/* Whatever a server sends, in whatever pieces, is either refused or decoded. The first byte says
 * which answer is expected, the second where the bytes are cut. */
#include <stdint.h>
#include <stdlib.h>

#include "etcd_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static enum status decode_watch(struct arena *arena, const uint8_t *bytes, size_t length,
                                struct kv_result *ret)
{
    Etcdpb__WatchResponse *answer =
        etcd_unpack(arena, &etcdpb__watch_response__descriptor, bytes, length);
    if (!answer)
        return E_CORRUPT;
    for (size_t i = 0; i < answer->n_events; i++)
        ret->revision += etcd_read_kv(answer->events[i]->kv).mod_revision & 1;
    return OK;
}

static enum status decode_keep_alive(struct arena *arena, const uint8_t *bytes, size_t length,
                                     struct kv_result *ret)
{
    Etcdpb__LeaseKeepAliveResponse *answer =
        etcd_unpack(arena, &etcdpb__lease_keep_alive_response__descriptor, bytes, length);
    if (!answer)
        return E_CORRUPT;
    ret->lease.ttl_s = answer->ttl;
    return OK;
}

static etcd_decode *const decoders[] = {
    etcd_decode_range,  etcd_decode_put,   etcd_decode_delete, etcd_decode_txn,
    etcd_decode_header, etcd_decode_grant, decode_keep_alive,  etcd_decode_status,
    etcd_decode_alarms, decode_watch,
};

struct fuzzed {
    struct arena arena;
    etcd_decode *decode;
};

static size_t count_kvs(const struct kv_op_result *op)
{
    size_t count = op->kv_count;
    for (size_t i = 0; i < op->kv_count; i++)
        require(op->kvs[i].key.data && op->kvs[i].value.data);
    for (size_t i = 0; i < op->txn.op_count; i++)
        count += count_kvs(&op->txn.ops[i]);
    return count;
}

static enum status on_message(void *context, const uint8_t *bytes, size_t length)
{
    struct fuzzed *fuzzed = context;
    struct kv_result result = {0};
    arena_reset(&fuzzed->arena);
    if (fuzzed->decode(&fuzzed->arena, bytes, length, &result) == OK)
        require(count_kvs(&result.op) <= length);
    return OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct fuzzed fuzzed;
    struct grpc_deframer deframer;
    char text[GRPC_TEXT];
    if (length < 2)
        return 0;
    size_t step = bytes[1] ? bytes[1] : SIZE_MAX;
    fuzzed.decode = decoders[bytes[0] % (sizeof(decoders) / sizeof(decoders[0]))];
    arena_init(&fuzzed.arena);
    grpc_deframer_init(&deframer, 64 * 1024);
    bytes += 2;
    length -= 2;
    grpc_text_decode((const char *)bytes, length, text);
    enum status st = OK;
    while (length > 0 && st == OK) {
        size_t piece = length < step ? length : step;
        st = grpc_deframe(&deframer, bytes, piece, on_message, &fuzzed);
        bytes += piece;
        length -= piece;
    }
    if (st == OK)
        st = grpc_deframe_end(&deframer);
    require(st == OK || deframer.error != NULL);
    grpc_deframer_release(&deframer);
    arena_release(&fuzzed.arena);
    return 0;
}
