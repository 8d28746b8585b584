/* The history: reads are gathered if there are other nodes, the rest goes to the own history. */
#include "history_gather.h"

#include <stdlib.h>
#include <string.h>

#include "gather_port.h"
#include "gathering.h"

struct history_gather {
    struct history base;
    struct history_wake wake;
    struct gathering_place place;
    struct gather_port *port; /* NULL: not served to other nodes */
    struct history_queue answered;
};

static struct history_gather *gather_of(const struct history *history)
{
    return (struct history_gather *)history;
}

/* ---- requests ---- */

static void answer(struct history_gather *gather, struct history_request *request, enum status st)
{
    request->answer = st;
    history_queue_push(&gather->answered, request);
    if (gather->wake.wake)
        gather->wake.wake(gather->wake.context);
}

static void gathered(struct gathering_place *place, struct history_request *request, enum status st)
{
    void *gather = (char *)place - offsetof(struct history_gather, place);
    answer(gather, request, st);
}

static bool is_gathered(const struct history_gather *gather, const struct history_request *request)
{
    return request->kind != HISTORY_APPEND && request->kind != HISTORY_PRUNE &&
           gathering_others(&gather->place);
}

static void gather_submit(struct history *history, struct history_request *request)
{
    struct history_gather *gather = gather_of(history);
    enum status st = OK;
    if (gather->place.closing)
        st = E_UNREACHABLE;
    else if (is_gathered(gather, request))
        st = gathering_start(&gather->place, request);
    else
        history_submit(gather->place.own, request);
    if (st != OK)
        answer(gather, request, st);
}

static void gather_dispatch(struct history *history)
{
    struct history_gather *gather = gather_of(history);
    history_dispatch(gather->place.own);
    history_queue_done(&gather->answered);
}

static enum status gather_health(struct history *history, struct strbuf *why)
{
    return history_health(gather_of(history)->place.own, why);
}

/* ---- life ---- */

static struct history *gather_free(struct history *history)
{
    struct history_gather *gather = gather_of(history);
    gathering_give_up_all(&gather->place);
    /* Freeing it answers the rest, and refuses requests from within `done`. */
    gather->place.peers = NULL;
    history_free(gather->place.own);
    gather->place.closing = true;
    while (gather->answered.first)
        history_queue_done(&gather->answered);
    gather_port_free(gather->port);
    gathering_place_release(&gather->place);
    gather_tls_free(gather->place.tls);
    free(gather);
    return NULL;
}

static const struct history_ops gather_ops = {
    .submit = gather_submit,
    .dispatch = gather_dispatch,
    .health = gather_health,
    .free = gather_free,
};

struct search {
    const char *fingerprint;
    bool is_found;
};

static bool has_fingerprint(void *context, const struct known_peer *known)
{
    struct search *search = context;
    search->is_found =
        known->peer.is_alive && strcmp(known->peer.fingerprint, search->fingerprint) == 0;
    return !search->is_found;
}

static bool is_announced(void *context, const char *fingerprint)
{
    const struct history_gather *gather = context;
    struct search search = {.fingerprint = fingerprint};
    if (gather->place.peers)
        peers_each(gather->place.peers, has_fingerprint, &search);
    return search.is_found;
}

enum status history_gather_new(struct loop *loop, struct history *own, struct history_wake wake,
                               struct history **ret)
{
    struct history_gather *gather = calloc(1, sizeof(*gather));
    enum status st = gather ? gather_tls_new(is_announced, gather, &gather->place.tls) : E_NOMEM;
    if (st != OK) {
        history_free(own);
        free(gather);
        return st;
    }
    gather->base.ops = &gather_ops;
    gather->place.loop = loop;
    gather->place.own = own;
    gather->place.answered = gathered;
    gather->wake = wake;
    gathering_place_init(&gather->place);
    *ret = &gather->base;
    return OK;
}

const char *history_gather_fingerprint(const struct history *history)
{
    return gather_tls_fingerprint(gather_of(history)->place.tls);
}

enum status history_gather_listen(struct history *history, int fd)
{
    struct history_gather *gather = gather_of(history);
    return gather_port_new(gather->place.loop, gather->place.tls, is_announced, gather,
                           gather->place.own, fd, &gather->port);
}

void history_gather_set_peers(struct history *history, const struct peers *peers)
{
    gather_of(history)->place.peers = peers;
}

const char *history_gather_state(const struct history *history, const struct known_peer *known)
{
    return gathering_why_not(&gather_of(history)->place, known);
}
