/* A server with a service that does what the target says, and clients of it, in one thread: whoever
 * waits turns the loop.
 *
 *     /echo            answers with "METHOD TARGET BODY"
 *     /keep            is kept until world_answer
 *     /large           answers with LARGE bytes
 *     /forbidden       is answered with 403 when its head is there
 *     /stream /length  a stream with one piece, without and with a Content-Length; /stream lasts
 *     /known           whoever asks is known; the body may have BODY_MAX bytes, as all others' may
 */
#ifndef PEAL_HTTP_WORLD_H
#define PEAL_HTTP_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "http.h"
#include "loop.h"

enum { BODY_MAX = 60000, LARGE = 16 << 20 };

struct world {
    struct loop *loop;
    struct loop_timer *tick; /* lets the loop turn when nothing happens */
    struct http_server *server;
    struct http_limits limits;
    struct server_tls *tls;            /* NULL: plain */
    struct ssl_ctx_st *client_context; /* of TLS */
    int port;
    struct http_request *kept, *stream; /* of /keep and /stream; NULL: none */
    int heads, requests, gone;          /* so many were seen */
};

void world_open(struct world *world, const struct http_limits *limits); /* NULL: generous ones */
void world_open_tls(struct world *world);
void world_close(struct world *world);

/* For a request of /keep. */
void world_answer(struct world *world, int status);

void world_send_piece(struct world *world, const char *text); /* on the stream */

/* Fails the test if it is not so within ten seconds. */
void world_until(struct world *world, bool (*done)(void *context), void *context);
void world_turn(struct world *world, int64_t for_ms);

struct client {
    struct world *world;
    int fd;
    struct ssl_st *ssl; /* NULL: plain */
    struct strbuf in;
    bool is_closed;
};

/* From an address of this machine: "127.0.0.1". */
void client_open(struct client *client, struct world *world, const char *from);
void client_close(struct client *client); /* at most once more than needed */
void client_send(struct client *client, const char *text);
void client_fill(struct client *client, size_t length); /* so many bytes of no meaning */
void client_hang_up(struct client *client);             /* it sends no more; not with TLS */
bool client_has(struct client *client, const char *text);
void client_wait_for(struct client *client, const char *text);
void client_wait_for_length(struct client *client, size_t length); /* of all that came */
void client_wait_for_end(struct client *client);

/* How many answers came. */
int client_answers(const struct client *client);

#endif
