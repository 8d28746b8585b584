#include "program/output_offer.h"

#include <stdio.h>
#include <stdlib.h>

#include "gather_link.h"
#include "program/records_wire.h"

enum { RETRY_MS = 1000, ONE_ANSWER_MAX = 1 << 20 };

struct output_offer {
    struct agent_choice *choice;
    struct live_output output;
    struct gather_link *link;
    struct loop_timer *timer; /* offers again */
    struct gather_ask *ask;   /* NULL: not under way */
    char agent[64];           /* that was asked */
    bool has_output, is_waiting;
};

static void send_offer(struct output_offer *offer, json_t *json);

static void later(struct output_offer *offer)
{
    offer->is_waiting = true;
    loop_timer_set(offer->timer, RETRY_MS);
}

static void answer_question(const struct output_offer *offer, const struct wire_question *question,
                            json_t *json)
{
    struct live_read read = {.run_id = question->run_id};
    size_t limit = question->limit < ONE_ANSWER_MAX ? question->limit : ONE_ANSWER_MAX;
    read.found = offer->output.read(offer->output.context, &question->run_id, question->offset,
                                    limit, &read.chunks, &read.count) == OK;
    wire_offer_answer(json, question->number, &read);
    if (read.found)
        live_read_release(&read);
}

static void agent_answered(void *context, enum status st, const char *text, size_t length)
{
    struct output_offer *offer = context;
    struct wire_question questions[WIRE_QUESTIONS_MAX];
    size_t count = 0;
    offer->ask = NULL;
    if (st == OK)
        st = wire_decode_questions(text, length, questions, &count);
    if (st != OK) {
        agent_avoid(offer->choice, offer->agent, st);
        later(offer);
        return;
    }
    if (!count && !offer->has_output)
        return;
    json_t *json = wire_offer();
    for (size_t i = 0; json && i < count; i++)
        answer_question(offer, &questions[i], json);
    send_offer(offer, json);
}

/* Takes `json` over. */
static void send_offer(struct output_offer *offer, json_t *json)
{
    const struct known_peer *agent = agent_choose(offer->choice);
    struct strbuf text;
    strbuf_init(&text);
    enum status st = wire_print(json, &text);
    if (st == OK)
        st = agent ? gather_link_ask(offer->link, &agent->peer, WIRE_OFFER, text.text,
                                     agent_answered, offer, &offer->ask)
                   : E_UNREACHABLE;
    strbuf_release(&text);
    if (st == OK)
        snprintf(offer->agent, sizeof(offer->agent), "%s", agent->peer.name);
    else
        later(offer);
}

static void on_timer(void *context)
{
    struct output_offer *offer = context;
    offer->is_waiting = false;
    if (offer->has_output && !offer->ask)
        send_offer(offer, wire_offer());
}

void output_offer_set(struct output_offer *offer, bool has_output)
{
    offer->has_output = has_output;
    if (has_output && !offer->ask && !offer->is_waiting)
        send_offer(offer, wire_offer());
}

enum status output_offer_new(struct loop *loop, struct gather_tls *tls, struct agent_choice *choice,
                             struct live_output output, struct output_offer **ret)
{
    struct output_offer *offer = calloc(1, sizeof(*offer));
    if (!offer)
        return E_NOMEM;
    offer->choice = choice;
    offer->output = output;
    enum status st = gather_link_new(loop, tls, "output", &offer->link);
    if (st == OK)
        st = loop_timer_new_patient(loop, on_timer, offer, &offer->timer);
    if (st == OK)
        *ret = offer;
    else
        output_offer_free(offer);
    return st;
}

struct output_offer *output_offer_free(struct output_offer *offer)
{
    if (!offer)
        return NULL;
    gather_link_free(offer->link);
    loop_timer_free(offer->timer);
    free(offer);
    return NULL;
}
