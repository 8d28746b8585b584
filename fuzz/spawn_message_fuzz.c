/* Any packet is either refused or decoded; a start that was decoded can be encoded again. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "spawn_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_start(const struct spawn_message *message, const void *packet, size_t length)
{
    struct spawn_request request;
    void *block, *again;
    size_t again_length;
    if (spawn_decode_start(message, &request, &block) != OK)
        return;
    require(spawn_id_valid(request.id) && request.argv[0]);
    request.stdin_bytes = NULL; /* its length is announced, but travels beside the message */
    if (spawn_encode_start(&request, &again, &again_length) == OK) {
        bool is_early = again_length == length + 1 && !*request.job; /* without the job's name */
        require(again_length == length || is_early);
        require(memcmp((const char *)again + 16, (const char *)packet + 16, 40) == 0);
        free(again);
    }
    free(block);
}

static void check_message(const struct spawn_message *message, const void *packet, size_t length)
{
    struct spawn_hello hello;
    struct spawn_kill order;
    struct spawn_ack ack;
    struct spawn_run run;
    struct spawn_build build;
    check_start(message, packet, length);
    require(spawn_decode_hello(message, &hello) != OK || message->type == SPAWN_HELLO);
    require(spawn_decode_kill(message, &order) != OK || spawn_id_valid(order.id));
    require(spawn_decode_ack(message, &ack) != OK || spawn_id_valid(ack.id));
    require(spawn_decode_run(message, &run) != OK || run.reason < SPAWN_REASON_COUNT);
    require(spawn_decode_build(message, &build) != OK || message->type == SPAWN_BUILD);
}

/* Every message of it lies in it, and none is a frame. */
static void check_frame(const struct spawn_message *frame)
{
    struct spawn_message message;
    size_t at = 0, before = 0;
    for (; spawn_frame_next(frame, &at, &message) == OK; before = at) {
        const char *from = (const char *)frame->body + before;
        require(at > before && at <= frame->body_length && message.type != SPAWN_FRAME);
        check_message(&message, from,
                      (size_t)((const char *)message.body - from) + message.body_length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct spawn_message message;
    char *packet = malloc(length ? length : 1); /* aligned, and of the exact size */
    require(packet != NULL);
    memcpy(packet, bytes, length);
    if (spawn_decode(packet, length, &message) == OK) {
        check_message(&message, packet, length);
        if (message.type == SPAWN_FRAME)
            check_frame(&message);
    }
    free(packet);
    return 0;
}
