/* gRPC's framing of messages and errors: a prefix of flag and length, a status code, a
 * percent-encoded text. Pure. */
#ifndef PEAL_GRPC_FRAME_H
#define PEAL_GRPC_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

enum {
    GRPC_PREFIX = 5,
    GRPC_TEXT = 512,                     /* a message text and its terminator */
    GRPC_REQUEST_MAX = 1536 * 1024,      /* what etcd takes by default */
    GRPC_ANSWER_MAX = 256 * 1024 * 1024, /* far above what etcd should ever send */
};

enum grpc_code {
    GRPC_NO_CODE = -1, /* the server did not say */
    GRPC_OK = 0,
    GRPC_CANCELLED = 1,
    GRPC_UNKNOWN = 2,
    GRPC_INVALID_ARGUMENT = 3,
    GRPC_DEADLINE_EXCEEDED = 4,
    GRPC_NOT_FOUND = 5,
    GRPC_ALREADY_EXISTS = 6,
    GRPC_PERMISSION_DENIED = 7,
    GRPC_RESOURCE_EXHAUSTED = 8,
    GRPC_FAILED_PRECONDITION = 9,
    GRPC_ABORTED = 10,
    GRPC_OUT_OF_RANGE = 11,
    GRPC_UNIMPLEMENTED = 12,
    GRPC_INTERNAL = 13,
    GRPC_UNAVAILABLE = 14,
    GRPC_DATA_LOSS = 15,
    GRPC_UNAUTHENTICATED = 16,
};

/* Reassembles messages from a stream of bytes, however it was split on the way. */
struct grpc_deframer {
    uint8_t prefix[GRPC_PREFIX];
    size_t prefix_have;
    uint8_t *message; /* of a message that came in pieces */
    size_t length, have, capacity;
    size_t limit;
    const char *error; /* after a failure: what was wrong */
};

void grpc_deframer_init(struct grpc_deframer *deframer, size_t limit);
void grpc_deframer_release(struct grpc_deframer *deframer);

/* The bytes are borrowed for the call. Any other status than OK ends the deframing. */
typedef enum status grpc_on_message(void *context, const uint8_t *bytes, size_t length);

/* E_TOO_LARGE: longer than the limit. E_CORRUPT: compressed, which was not asked for, or not
 * gRPC. The deframer can't be used after an error. */
MUST_CHECK enum status grpc_deframe(struct grpc_deframer *deframer, const uint8_t *bytes,
                                    size_t length, grpc_on_message *on_message, void *context);

/* E_CORRUPT: the stream has ended within a message. */
MUST_CHECK enum status grpc_deframe_end(struct grpc_deframer *deframer);

void grpc_prefix_write(uint8_t prefix[GRPC_PREFIX], size_t length);

/* The decimal code of the header grpc-status; GRPC_UNKNOWN when it is none. */
int grpc_code_parse(const char *text, size_t length);

/* Undoes percent-encoding; text that does not fit is cut off, control characters become '?'. */
void grpc_text_decode(const char *text, size_t length, char ret[GRPC_TEXT]);

/* The status of a gRPC code and message from etcd. */
enum status grpc_status(int code, const char *message);

#endif
