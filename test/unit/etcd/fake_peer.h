/* A server that misbehaves on demand, for what a real one can't be made to do: HTTP/2 by nghttp2,
 * on the same loop as the client, with a script that says how to treat each request. */
#ifndef PEAL_FAKE_PEER_H
#define PEAL_FAKE_PEER_H

#include <stdbool.h>

#include "loop.h"

enum fake_act {
    FAKE_ANSWER = 0,    /* revision 7 */
    FAKE_NO_LEADER,     /* a status without an answer: trailers only */
    FAKE_FUNNY_MESSAGE, /* an error text that needs its encoding */
    FAKE_SPLIT,         /* a byte per frame */
    FAKE_PADDED,        /* two empty frames before, as proxies send them */
    FAKE_TWO_MESSAGES,
    FAKE_COMPRESSED,
    FAKE_HUGE_LENGTH,
    FAKE_CUT_SHORT, /* status 0, but only half a message */
    FAKE_NO_MESSAGE,
    FAKE_UNREADABLE,
    FAKE_NO_STATUS,
    FAKE_HTTP_404,
    FAKE_REFUSE,        /* RST_STREAM REFUSED_STREAM */
    FAKE_RESET,         /* RST_STREAM INTERNAL_ERROR */
    FAKE_GOAWAY_BEFORE, /* GOAWAY that says: not this one */
    FAKE_GOAWAY_AFTER,  /* GOAWAY that says: this one still; and its answer, later */
    FAKE_CLOSE,         /* the connection, with the request unanswered */
    FAKE_GARBAGE,       /* bytes that are no frames */
    FAKE_SILENCE,
};

struct fake_peer {
    struct loop *loop;
    struct evconnlistener *listener;
    struct fake_connection *connections;
    int port;
    const enum fake_act *script; /* one per request; the last is FAKE_ANSWER, and repeated */
    bool is_not_http2;           /* answers like a web server of the last century */
    int accepted, requests;
    bool saw_leader_wanted, saw_timeout;
    char path[64];
};

void fake_peer_init(struct fake_peer *peer, struct loop *loop);
void fake_peer_release(struct fake_peer *peer);

#endif
