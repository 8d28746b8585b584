/* One append at a time, in requests of some megabytes. An agent that does not take one is avoided
 * for a while, and the next is tried at once. */
#include "program/history_handover.h"

#include <stdio.h>
#include <stdlib.h>

#include "gather_link.h"
#include "history_internal.h"
#include "program/records_wire.h"

enum { ANSWER_WITHIN_MS = 3000 };

struct history_handover {
    struct history base;
    struct history_wake wake;
    struct agent_choice *choice;
    struct gather_link *link;
    struct loop_timer *timer; /* of `ask` */
    struct history_queue waiting, answered;
    struct history_append *now; /* NULL: none is being handed over */
    size_t taken, asked;        /* of its records: by an agent, and in the request */
    struct gather_ask *ask;     /* NULL: not under way */
    char agent[64];             /* that was asked */
    bool is_closing;
};

static struct history_handover *of(struct history *history)
{
    return (struct history_handover *)history;
}

static void answer(struct history_handover *handover, struct history_request *request,
                   enum status st)
{
    request->answer = st;
    history_queue_push(&handover->answered, request);
    if (handover->wake.wake)
        handover->wake.wake(handover->wake.context);
}

/* ---- one append ---- */

static void go_on(struct history_handover *handover);

static void finish(struct history_handover *handover, enum status st)
{
    struct history_append *append = handover->now;
    handover->now = NULL;
    answer(handover, &append->request, st);
}

static void agent_answered(void *context, enum status st, const char *text, size_t length)
{
    struct history_handover *handover = context;
    (void)text;
    (void)length;
    handover->ask = NULL;
    loop_timer_stop(handover->timer);
    if (st == OK)
        handover->taken += handover->asked;
    else if (st == E_INVALID)
        finish(handover, E_INVALID);
    else
        agent_avoid(handover->choice, handover->agent, st);
    go_on(handover);
}

static void on_timer(void *context)
{
    struct history_handover *handover = context;
    gather_link_give_up(handover->ask);
    agent_answered(handover, E_UNREACHABLE, NULL, 0);
}

/* Asks the agent to take the next records. */
static enum status ask(struct history_handover *handover, const struct peer *agent)
{
    const struct history_append *append = handover->now;
    struct strbuf text;
    strbuf_init(&text);
    enum status st = wire_encode_records(append->records + handover->taken,
                                         append->count - handover->taken, &text, &handover->asked);
    if (st == OK)
        st = gather_link_ask(handover->link, agent, WIRE_RECORDS, text.text, agent_answered,
                             handover, &handover->ask);
    strbuf_release(&text);
    if (st == OK)
        loop_timer_set(handover->timer, ANSWER_WITHIN_MS);
    return st;
}

/* Until an agent was asked, or nobody can be. */
static void go_on(struct history_handover *handover)
{
    while (!handover->ask) {
        struct history_request *next = handover->now ? NULL : history_queue_pop(&handover->waiting);
        if (next) {
            handover->now = history_request_of(next, history_append);
            handover->taken = 0;
        }
        if (!handover->now)
            return;
        const struct known_peer *agent = agent_choose(handover->choice);
        enum status st = handover->taken == handover->now->count ? E_NOT_FOUND
                         : agent                                 ? ask(handover, &agent->peer)
                                                                 : E_UNREACHABLE;
        if (st == E_BUSY)
            agent_avoid(handover->choice, agent->peer.name, st);
        else if (st != OK)
            finish(handover, st == E_NOT_FOUND ? OK : st);
        else
            snprintf(handover->agent, sizeof(handover->agent), "%s", agent->peer.name);
    }
}

/* ---- the history ---- */

static void handover_submit(struct history *history, struct history_request *request)
{
    struct history_handover *handover = of(history);
    if (handover->is_closing || request->kind != HISTORY_APPEND) {
        answer(handover, request, E_UNREACHABLE);
        return;
    }
    history_queue_push(&handover->waiting, request);
    go_on(handover);
}

static void handover_dispatch(struct history *history)
{
    history_queue_done(&of(history)->answered);
}

static enum status handover_health(struct history *history, struct strbuf *why)
{
    if (agent_choose(of(history)->choice))
        return OK;
    strbuf_adds(why, "No agent of the cluster takes this program's records: none is there, or none "
                     "has a port for other nodes (--peer-listen).");
    return E_UNREACHABLE;
}

/* What is under way may have been taken or not; its owner hands it over again. */
static struct history *handover_free(struct history *history)
{
    struct history_handover *handover = of(history);
    struct history_request *request;
    handover->is_closing = true;
    handover->link = gather_link_free(handover->link);
    if (handover->now)
        finish(handover, E_UNREACHABLE);
    while ((request = history_queue_pop(&handover->waiting)))
        answer(handover, request, E_UNREACHABLE);
    while (handover->answered.first)
        history_queue_done(&handover->answered);
    loop_timer_free(handover->timer);
    free(handover);
    return NULL;
}

static const struct history_ops handover_ops = {
    .submit = handover_submit,
    .dispatch = handover_dispatch,
    .health = handover_health,
    .free = handover_free,
};

enum status history_handover_new(struct loop *loop, struct gather_tls *tls,
                                 struct agent_choice *choice, struct history_wake wake,
                                 struct history **ret)
{
    struct history_handover *handover = calloc(1, sizeof(*handover));
    if (!handover)
        return E_NOMEM;
    handover->base.ops = &handover_ops;
    handover->wake = wake;
    handover->choice = choice;
    enum status st = gather_link_new(loop, tls, "records", &handover->link);
    if (st == OK)
        st = loop_timer_new_patient(loop, on_timer, handover, &handover->timer);
    if (st == OK)
        *ret = &handover->base;
    else
        handover_free(&handover->base);
    return st;
}
