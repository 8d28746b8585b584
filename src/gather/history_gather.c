/* The history: reads are gathered if there are other nodes, the rest goes to the own history. */
#include "history_gather.h"

#include <stdlib.h>

#include "gathering.h"

struct history_gather {
    struct history base;
    struct history_wake wake;
    struct gathering_place place;
    bool is_shared; /* `own` is a database of all nodes */
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
    bool is_read = request->kind == HISTORY_READ || request->kind == HISTORY_LOG;
    bool is_sum = request->kind == HISTORY_STATS || request->kind == HISTORY_CHANGES;
    return (is_read || (is_sum && !gather->is_shared)) && gathering_others(&gather->place);
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

static void gather_backlog(struct history *history, struct history_backlog *ret)
{
    *ret = history_backlog(gather_of(history)->place.own);
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
    gather->place.is_alone = true;
    history_free(gather->place.own);
    gather_net_serve_history(gather->place.net, NULL);
    gather->place.closing = true;
    while (gather->answered.first)
        history_queue_done(&gather->answered);
    free(gather);
    return NULL;
}

static const struct history_ops gather_ops = {
    .submit = gather_submit,
    .dispatch = gather_dispatch,
    .health = gather_health,
    .backlog = gather_backlog,
    .free = gather_free,
};

enum status history_gather_new(struct gather_net *net, struct history *own, bool is_shared,
                               struct history_wake wake, struct history **ret)
{
    struct history_gather *gather = calloc(1, sizeof(*gather));
    if (!gather) {
        history_free(own);
        return E_NOMEM;
    }
    gather->base.ops = &gather_ops;
    gather->place.net = net;
    gather->place.own = own;
    gather->place.answered = gathered;
    gather->wake = wake;
    gather->is_shared = is_shared;
    gathering_place_init(&gather->place);
    gather_net_serve_history(net, own);
    *ret = &gather->base;
    return OK;
}

const char *history_gather_state(const struct history *history, const struct known_peer *known)
{
    return gathering_why_not(&gather_of(history)->place, known);
}
