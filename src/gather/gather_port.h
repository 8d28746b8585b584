/* The port on which the other nodes of the cluster read this node's history and the output of its
 * runs, and programs hand over theirs; nothing else. Only announced certificates are accepted: a
 * stranger is refused in the handshake, a node that has left with its next request. */
#ifndef PEAL_GATHER_PORT_H
#define PEAL_GATHER_PORT_H

#include "gather_tls.h"
#include "live_output.h"
#include "loop.h"
#include "node_question.h"
#include "program/records_taken.h"

struct gather_port;
struct output_relay;

/* What can be read there now. */
struct gather_served {
    struct history *history;    /* NULL: none */
    struct live_output output;  /* without `read`: none */
    struct own_answer messages; /* without `answer`: none */
    struct records_observer observer;
    struct output_relay *relay; /* of programs; NULL: none. Then, by the port's context: */
    const char *(*name_of)(void *context, const char *fingerprint); /* NULL: of no live node */
    bool (*is_attached)(void *context, const char *node); /* a program whose output comes here */
};

/* Serves *served, which must outlive the port, on `fd`, a listening socket, which is taken over in
 * any case. */
MUST_CHECK enum status gather_port_new(struct loop *loop, struct gather_tls *tls,
                                       gather_is_announced *is_announced, void *context,
                                       const struct gather_served *served, int fd,
                                       struct gather_port **ret);

/* All requests to the history must have been answered. */
struct gather_port *gather_port_free(struct gather_port *port);

#endif
