/* A bidirectional stream that is kept open: reopened when it breaks, and moved when the channel for
 * streams moves to another connection. */
#ifndef PEAL_ETCD_LONG_STREAM_H
#define PEAL_ETCD_LONG_STREAM_H

#include "etcd_internal.h"

struct long_stream_events {
    void (*opened)(void *context); /* a new stream: all requests must be sent again */
    enum status (*message)(void *context, const uint8_t *bytes, size_t length);
    void (*broken)(void *context, const char *why); /* `opened` comes again */
};

struct long_stream {
    struct etcd_client *client;
    const char *path;
    const struct long_stream_events *events;
    void *context;
    struct grpc_stream *stream; /* NULL: not open */
    struct loop_timer *timer;
    int failures;
    bool is_wanted, is_pausing, is_short;
};

/* Events come from the loop, never from within. */
MUST_CHECK enum status long_stream_init(struct long_stream *stream, struct etcd_client *client,
                                        const char *path, const struct long_stream_events *events,
                                        void *context);
void long_stream_release(struct long_stream *stream);

void long_stream_want(struct long_stream *stream, bool is_wanted);
void long_stream_flush(struct long_stream *stream); /* the channel or the token has changed */
void long_stream_restart(struct long_stream *stream);

/* False: the stream is not open; `opened` will be called again. */
bool long_stream_send(struct long_stream *stream, const ProtobufCMessage *message);
void long_stream_probe(struct long_stream *stream);

#endif
