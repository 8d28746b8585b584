/* A client that sends whatever bytes it is told to, plain or over TLS, and waits for answers. */
#ifndef PEAL_TEST_PEER_H
#define PEAL_TEST_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

/* Where to: 127.0.0.1, or a UNIX socket. */
struct target {
    const char *path; /* of the socket; NULL: the port */
    int port;
    bool is_tls;
    const char *from; /* the client's own address; NULL: any */
};

struct peer;

/* "tls:4433" or "4433"; ends the program if it is neither. */
struct target target_read(const char *text);

/* NULL: nobody is there. */
struct peer *peer_open(const struct target *target);
void peer_close(struct peer *peer);

/* As much of it as is taken; a server that has hung up is no mistake. */
void peer_send(struct peer *peer, const char *bytes, size_t length);

/* Reads one answer, without a body if it is one to HEAD; false: it did not come whole within the
 * time, or the server hung up first. *ret has what came in any case. */
bool peer_read_answer(struct peer *peer, bool is_head, int within_ms, struct strbuf *ret);

/* Reads to the server's end of the connection; false: it did not come within the time. */
bool peer_read_all(struct peer *peer, int within_ms, struct strbuf *ret);

/* ---- answers ---- */

int answer_status(const char *answer); /* 0: it is none */

/* The value of a header of the first answer, or "". */
void answer_header(const char *answer, const char *name, char *ret, size_t size);

#endif
