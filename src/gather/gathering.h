/* One request of the caller, asked of the own history and of the other nodes, and answered once:
 * with what has come in time, and who was absent. */
#ifndef PEAL_GATHERING_H
#define PEAL_GATHERING_H

#include <sys/queue.h>

#include "gather_link.h"
#include "gather_tls.h"
#include "history_internal.h"
#include "loop.h"
#include "state/peers.h"

struct gathering;
TAILQ_HEAD(gathering_list, gathering);

/* What all of them share. */
struct gathering_place {
    struct loop *loop;
    struct history *own;
    const struct peers *peers; /* NULL: not known yet, or no more */
    struct gather_tls *tls;
    struct gather_link **links; /* to each node that was asked */
    size_t link_count;
    struct gathering_list open;
    bool closing; /* what is answered now is refused */
    void (*answered)(struct gathering_place *place, struct history_request *request,
                     enum status st);
};

void gathering_place_init(struct gathering_place *place);

/* Nothing is open any more. */
void gathering_place_release(struct gathering_place *place);

/* How many nodes keep a history, besides this one. */
size_t gathering_others(const struct gathering_place *place);

/* Asks them all. E_NOMEM: nobody was asked, and nothing is answered. */
MUST_CHECK enum status gathering_start(struct gathering_place *place,
                                       struct history_request *request);

/* Waits for the others no longer; the own history still answers. */
void gathering_give_up_all(struct gathering_place *place);

/* Why a node is not asked, or could not be; "" if all is well, or it is none of the others. */
const char *gathering_why_not(const struct gathering_place *place, const struct known_peer *known);

#endif
