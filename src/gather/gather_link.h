/* The keep-alive connection to one other node, with one request at a time. A silent node is not
 * asked again for some seconds. */
#ifndef PEAL_GATHER_LINK_H
#define PEAL_GATHER_LINK_H

#include <stddef.h>

#include "gather_tls.h"
#include "loop.h"
#include "peer.h"

struct gather_link;
struct gather_ask;

MUST_CHECK enum status gather_link_new(struct loop *loop, struct gather_tls *tls, const char *node,
                                       struct gather_link **ret);

/* Drops all requests; their `done` is not called. */
struct gather_link *gather_link_free(struct gather_link *link);

const char *gather_link_node(const struct gather_link *link);

/* OK: `text` is the answer, valid until `done` returns. Anything else: the node is unreachable, or
 * refused the request (E_INVALID: it does not support it; E_VERSION: it does not know the path).
 * Called once, from the loop. */
typedef void gather_ask_done(void *context, enum status st, const char *text, size_t length);

/* Sends a request to the address in `peer`, with the fingerprint in it. `path` is borrowed; `body`
 * is copied. E_BUSY: the node was silent a moment ago, or its queue is full. */
MUST_CHECK enum status gather_link_ask(struct gather_link *link, const struct peer *peer,
                                       const char *path, const char *body, gather_ask_done *done,
                                       void *context, struct gather_ask **ret);

/* Cancels the request: `done` is not called. */
void gather_link_give_up(struct gather_ask *ask);

/* Was the last request answered? True also if there was none. */
bool gather_link_is_good(const struct gather_link *link);

#endif
