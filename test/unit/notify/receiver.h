/* A receiver of webhooks, on the test's own loop. */
#ifndef PEAL_RECEIVER_H
#define PEAL_RECEIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "loop.h"

enum { RECEIVED_MAX = 64 };

struct receiver {
    struct evhttp *http; /* NULL: it is down */
    int port;
    int status;         /* that it answers with; 0: it never does */
    const char *refuse; /* what has this in its body is answered with 400; NULL: nothing */
    size_t count;
    char *bodies[RECEIVED_MAX]; /* of what was answered with 200, in order */
    char keys[RECEIVED_MAX][128];
    size_t attempts; /* all */
};

/* On a port of its own, which it keeps when it is down. */
void receiver_start(struct receiver *receiver, struct loop *loop);
void receiver_stop(struct receiver *receiver);
void receiver_release(struct receiver *receiver);

#endif
