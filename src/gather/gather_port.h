/* The port on which the other nodes of the cluster read this node's history, and nothing else. Only
 * announced certificates are accepted: a stranger is refused in the handshake, a node that has left
 * with its next request. */
#ifndef PEAL_GATHER_PORT_H
#define PEAL_GATHER_PORT_H

#include "gather_tls.h"
#include "history.h"
#include "loop.h"

struct gather_port;

/* Serves `own` on `fd`, a listening socket, which is taken over in any case. */
MUST_CHECK enum status gather_port_new(struct loop *loop, struct gather_tls *tls,
                                       gather_is_announced *is_announced, void *context,
                                       struct history *own, int fd, struct gather_port **ret);

/* All requests to `own` must have been answered. */
struct gather_port *gather_port_free(struct gather_port *port);

#endif
