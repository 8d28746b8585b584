/* One request of the caller, sent to the own history and to the other nodes, and answered once:
 * with the answers that came in time, and the absent nodes. */
#ifndef PEAL_GATHERING_H
#define PEAL_GATHERING_H

#include <sys/queue.h>

#include "gather_net.h"
#include "history_internal.h"

struct gathering;
TAILQ_HEAD(gathering_list, gathering);

/* Shared by all of them. */
struct gathering_place {
    struct gather_net *net;
    struct history *own;
    bool is_alone; /* asks nobody any more */
    struct gathering_list open;
    bool closing; /* new requests are refused */
    void (*answered)(struct gathering_place *place, struct history_request *request,
                     enum status st);
};

void gathering_place_init(struct gathering_place *place);

/* The number of other nodes with a history of their own. */
size_t gathering_others(const struct gathering_place *place);

/* Sends the request to all of them. E_NOMEM: nothing was sent, and nothing will be answered. */
MUST_CHECK enum status gathering_start(struct gathering_place *place,
                                       struct history_request *request);

/* Stops waiting for the other nodes; the own history still answers. */
void gathering_give_up_all(struct gathering_place *place);

/* Why a node's history can't be read; "": it can, or it is not needed. */
const char *gathering_why_not(const struct gathering_place *place, const struct known_peer *known);

#endif
