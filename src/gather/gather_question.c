#include "gather_question.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "gather_words.h"

enum { ANSWER_WITHIN_MS = 2000 };

/* One other node. */
struct asked {
    struct gather_question *whole;
    struct gather_ask *ask; /* NULL: not under way */
    char node[64];
};

struct gather_question {
    struct gather_question_list *questions;
    struct node_question *question;
    struct asked *asked;
    size_t count, pending;
    bool failed; /* out of memory */
    struct loop_timer *timer;
    TAILQ_ENTRY(gather_question) entry;
};

void gather_question_init(struct gather_question_list *questions)
{
    TAILQ_INIT(questions);
}

/* ---- the answer ---- */

static void finish(struct gather_question *whole)
{
    struct node_question *question = whole->question;
    enum status st = whole->failed ? E_NOMEM : OK;
    TAILQ_REMOVE(whole->questions, whole, entry);
    loop_timer_free(whole->timer);
    free(whole->asked);
    free(whole);
    if (st != OK)
        node_question_release(question);
    question->done(question, st);
}

static void take_absent(struct asked *asked, const char *why)
{
    struct gather_question *whole = asked->whole;
    struct history_absences *absent = &whole->question->absent;
    asked->ask = NULL;
    if (array_grow(&absent->items, absent->count, sizeof(*absent->items)) != OK) {
        whole->failed = true;
        return;
    }
    struct history_absence *item = &absent->items[absent->count++];
    *item = (struct history_absence){0};
    snprintf(item->node, sizeof(item->node), "%s", asked->node);
    snprintf(item->why, sizeof(item->why), "%s", why);
}

static void take_answer(struct asked *asked, const char *text, size_t length)
{
    struct gather_question *whole = asked->whole;
    struct node_question *question = whole->question;
    char *copy = strndup(text, length);
    asked->ask = NULL;
    if (!copy || array_grow(&question->answers, question->count, sizeof(char *)) != OK) {
        free(copy);
        whole->failed = true;
        return;
    }
    question->answers[question->count++] = copy;
}

static void answered(void *context, enum status st, const char *text, size_t length)
{
    struct asked *asked = context;
    struct gather_question *whole = asked->whole;
    if (st == OK)
        take_answer(asked, text, length);
    else
        take_absent(asked, st == E_VERSION ? NODE_CANT_TELL : NODE_IS_OUT_OF_REACH);
    if (!--whole->pending)
        loop_timer_set(whole->timer, 0);
}

static void give_up(struct gather_question *whole, const char *why)
{
    for (size_t i = 0; i < whole->count; i++) {
        if (!whole->asked[i].ask)
            continue;
        gather_link_give_up(whole->asked[i].ask);
        take_absent(&whole->asked[i], why);
    }
    whole->pending = 0;
}

static void on_timer(void *context)
{
    struct gather_question *whole = context;
    give_up(whole, NODE_IS_SILENT);
    finish(whole);
}

/* ---- the question ---- */

struct others {
    const struct peer *self;
    struct gather_question *whole;
};

/* Programs send no messages. */
static bool take_other(void *context, const struct known_peer *known)
{
    struct others *others = context;
    struct gather_question *whole = others->whole;
    const struct peer *peer = &known->peer;
    bool is_self = strcmp(peer->name, others->self->name) == 0 && peer->home == others->self->home;
    if (is_self || peer_is_program(peer))
        return true;
    if (array_grow(&whole->asked, whole->count, sizeof(*whole->asked)) != OK) {
        whole->failed = true;
        return false;
    }
    struct asked *asked = &whole->asked[whole->count++];
    *asked = (struct asked){0};
    snprintf(asked->node, sizeof(asked->node), "%s", peer->name);
    return true;
}

/* The list of nodes does not move any more. No callback comes before this has returned. */
static void ask_all(struct gather_net *net, struct gather_question *whole, const char *path)
{
    for (size_t i = 0; i < whole->count; i++) {
        struct asked *asked = &whole->asked[i];
        const char *why = NODE_IS_OUT_OF_REACH;
        asked->whole = whole;
        if (gather_net_ask(net, LANE_OUTPUT, asked->node, path, whole->question->text, answered,
                           asked, &asked->ask, &why) == OK)
            whole->pending++;
        else
            take_absent(asked, why);
    }
}

void gather_question_ask(struct gather_net *net, struct gather_question_list *questions,
                         const char *path, struct node_question *question)
{
    struct gather_question *whole = calloc(1, sizeof(*whole));
    const struct peers *peers = gather_net_peers(net);
    if (!whole ||
        loop_timer_new_patient(gather_net_loop(net), on_timer, whole, &whole->timer) != OK) {
        free(whole);
        question->done(question, E_NOMEM);
        return;
    }
    whole->questions = questions;
    whole->question = question;
    TAILQ_INSERT_TAIL(questions, whole, entry);
    if (peers)
        peers_each(peers, take_other, &(struct others){peers->self, whole});
    ask_all(net, whole, path);
    loop_timer_set(whole->timer, whole->pending ? ANSWER_WITHIN_MS : 0);
}

void gather_question_give_up(struct gather_question_list *questions)
{
    for (struct gather_question *whole = TAILQ_FIRST(questions), *next; whole; whole = next) {
        next = TAILQ_NEXT(whole, entry);
        give_up(whole, NODE_IS_AWAY);
        finish(whole);
    }
}
