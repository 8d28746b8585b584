#include "program/output_relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "clock.h"
#include "gather_words.h"
#include "http.h"
#include "program/records_wire.h"
#include "table.h"

enum {
    ANSWER_WITHIN_MS = 2000, /* a read */
    HELD_MS = 4000,          /* an offer, shorter than the program waits for its answer */
    OFFERS_MAX = 500,        /* held at once: they take connections of the port */
    LOOK_EVERY_MS = 250,
};

/* A read that waits. */
struct relayed {
    struct live_read *read;
    int64_t number;
    bool is_asked; /* the program has the question */
    struct boot_ms until;
};

/* An offer that is held. */
struct held {
    char node[64];
    struct output_relay *relay;
    struct http_request *request;
    struct boot_ms until;
    TAILQ_ENTRY(held) entry;
};

struct output_relay {
    struct loop_timer *timer; /* runs while something waits */
    struct table reads;       /* relayed by number */
    TAILQ_HEAD(offer_list, held) offers;
    size_t offer_count;
    int64_t last_number;
    bool is_timed;
};

static const struct table_type reads_type = {.key_at = offsetof(struct relayed, number),
                                             .key_size = sizeof(int64_t)};

static void look_later(struct output_relay *relay)
{
    bool waits = relay->reads.count || !TAILQ_EMPTY(&relay->offers);
    if (!relay->is_timed && waits)
        loop_timer_set(relay->timer, LOOK_EVERY_MS);
    relay->is_timed |= waits;
}

/* ---- reads ---- */

static void finish(struct output_relay *relay, struct relayed *relayed, enum status st,
                   const char *why)
{
    struct live_read *read = relayed->read;
    table_remove(&relay->reads, relayed);
    free(relayed);
    read->why = why;
    read->done(read, st);
}

static struct relayed *find_read(struct output_relay *relay, const char *node, int64_t number)
{
    struct relayed *relayed = table_find(&relay->reads, &number);
    return relayed && strcmp(relayed->read->node, node) == 0 ? relayed : NULL;
}

/* ---- offers ---- */

static void held_free(struct held *held)
{
    TAILQ_REMOVE(&held->relay->offers, held, entry);
    held->relay->offer_count--;
    free(held);
}

static void client_gone(void *context)
{
    held_free(context);
}

static void send_text(struct http_request *request, enum status st, struct strbuf *text)
{
    size_t length = text->length;
    char *body = st == OK ? strbuf_detach(text) : NULL;
    http_set(request, "Content-Type", "application/json");
    http_answer(request, body ? 200 : 503, body, body ? length : 0);
}

static void ask_program(struct http_request *request, const struct wire_question *questions,
                        size_t count)
{
    struct strbuf text;
    strbuf_init(&text);
    enum status st = wire_encode_questions(questions, count, &text);
    send_text(request, st, &text);
    strbuf_release(&text);
}

/* What is to be asked there and was not. */
static size_t take_questions(struct output_relay *relay, const char *node,
                             struct wire_question ret[WIRE_QUESTIONS_MAX])
{
    struct relayed *relayed;
    size_t count = 0, at = 0;
    while (count < WIRE_QUESTIONS_MAX && (relayed = table_next(&relay->reads, &at))) {
        const struct live_read *read = relayed->read;
        if (relayed->is_asked || strcmp(read->node, node) != 0)
            continue;
        relayed->is_asked = true;
        ret[count++] = (struct wire_question){.number = relayed->number,
                                              .run_id = read->run_id,
                                              .offset = read->offset,
                                              .limit = read->limit};
    }
    return count;
}

static struct held *find_held(struct output_relay *relay, const char *node)
{
    struct held *held;
    TAILQ_FOREACH (held, &relay->offers, entry) {
        if (strcmp(held->node, node) == 0)
            return held;
    }
    return NULL;
}

static void answer_held(struct held *held, const struct wire_question *questions, size_t count)
{
    struct http_request *request = held->request;
    held_free(held);
    ask_program(request, questions, count);
}

static void hold(struct output_relay *relay, const char *node, struct http_request *request)
{
    struct held *held = relay->offer_count < OFFERS_MAX ? calloc(1, sizeof(*held)) : NULL;
    if (!held) { /* it offers again after a while */
        http_answer(request, 503, NULL, 0);
        return;
    }
    held->relay = relay;
    held->request = request;
    held->until.ms = clock_now().boot.ms + HELD_MS;
    snprintf(held->node, sizeof(held->node), "%s", node);
    TAILQ_INSERT_TAIL(&relay->offers, held, entry);
    relay->offer_count++;
    http_own(request, held, client_gone);
    look_later(relay);
}

static void take_answers(struct output_relay *relay, const char *node,
                         const struct http_request *request)
{
    size_t length, i = 0;
    const char *text = http_body(request, &length);
    json_t *offer = text ? json_loadb(text, length, 0, NULL) : NULL;
    for (;;) {
        struct live_read answer = {0};
        int64_t number;
        enum status st = wire_offer_next(offer, &i, &number, &answer);
        struct relayed *relayed = st == E_NOT_FOUND ? NULL : find_read(relay, node, number);
        if (relayed && st == OK) {
            relayed->read->found = answer.found;
            relayed->read->chunks = answer.chunks;
            relayed->read->count = answer.count;
        } else {
            live_read_release(&answer);
        }
        if (relayed && st == OK)
            finish(relay, relayed, OK, "");
        else if (relayed)
            finish(relay, relayed, st == E_NOMEM ? st : E_UNREACHABLE, NODE_IS_OUT_OF_REACH);
        if (st == E_NOT_FOUND)
            break;
    }
    json_decref(offer);
}

void output_relay_offer(struct output_relay *relay, const char *node, struct http_request *request)
{
    struct wire_question questions[WIRE_QUESTIONS_MAX];
    struct held *before = find_held(relay, node);
    if (before) /* of a connection that it has given up */
        answer_held(before, NULL, 0);
    take_answers(relay, node, request);
    http_drop_body(request);
    size_t count = take_questions(relay, node, questions);
    if (count)
        ask_program(request, questions, count);
    else
        hold(relay, node, request);
}

void output_relay_read(struct output_relay *relay, struct live_read *read)
{
    struct wire_question question;
    struct relayed *relayed = calloc(1, sizeof(*relayed));
    live_read_release(read);
    read->found = false;
    read->why = "";
    if (relayed)
        *relayed = (struct relayed){.read = read,
                                    .number = ++relay->last_number,
                                    .until = {clock_now().boot.ms + ANSWER_WITHIN_MS}};
    if (!relayed || table_insert(&relay->reads, relayed) != OK) {
        free(relayed);
        read->done(read, E_NOMEM);
        return;
    }
    look_later(relay);
    struct held *held = find_held(relay, read->node);
    if (!held)
        return; /* with its next offer */
    relayed->is_asked = true;
    question = (struct wire_question){relayed->number, read->run_id, read->offset, read->limit};
    answer_held(held, &question, 1);
}

void output_relay_give_up(struct output_relay *relay, const struct live_read *read)
{
    struct relayed *relayed;
    size_t at = 0;
    while ((relayed = table_next(&relay->reads, &at)))
        if (relayed->read == read)
            break;
    if (relayed)
        table_remove(&relay->reads, relayed);
    free(relayed);
}

/* ---- time ---- */

static struct relayed *find_late(struct output_relay *relay, struct boot_ms now)
{
    struct relayed *relayed;
    size_t at = 0;
    while ((relayed = table_next(&relay->reads, &at)))
        if (relayed->until.ms <= now.ms)
            return relayed;
    return NULL;
}

static void on_timer(void *context)
{
    struct output_relay *relay = context;
    struct boot_ms now = clock_now().boot;
    relay->is_timed = false;
    for (struct held *held = TAILQ_FIRST(&relay->offers), *next; held; held = next) {
        next = TAILQ_NEXT(held, entry);
        if (held->until.ms <= now.ms)
            answer_held(held, NULL, 0);
    }
    /* A reader that is told may come again at once, or give others up. */
    struct relayed *late;
    while ((late = find_late(relay, now)))
        finish(relay, late, E_UNREACHABLE, NODE_IS_SILENT);
    look_later(relay);
}

/* ---- life ---- */

enum status output_relay_new(struct loop *loop, struct output_relay **ret)
{
    struct output_relay *relay = calloc(1, sizeof(*relay));
    if (!relay)
        return E_NOMEM;
    table_init(&relay->reads, &reads_type);
    TAILQ_INIT(&relay->offers);
    enum status st = loop_timer_new_patient(loop, on_timer, relay, &relay->timer);
    if (st == OK)
        *ret = relay;
    else
        free(relay);
    return st;
}

struct output_relay *output_relay_free(struct output_relay *relay)
{
    if (!relay)
        return NULL;
    struct relayed *relayed;
    size_t at = 0;
    while ((relayed = table_next(&relay->reads, &at))) {
        finish(relay, relayed, E_UNREACHABLE, NODE_IS_AWAY);
        at = 0;
    }
    table_release(&relay->reads);
    loop_timer_free(relay->timer);
    free(relay);
    return NULL;
}
