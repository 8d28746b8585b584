/* Who leads, told at each change; and questions that are answered once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "coordinator_internal.h"

enum { AGAIN_MS = 1000 /* while the store is away */ };

/* ---- observers ---- */

struct observer {
    struct coordinator *coordinator;
    char name[COORD_NAME_SIZE];
    observer_changed *changed;
    void *context;

    /* With the lock. */
    TAILQ_ENTRY(observer) link;
    struct coord_holder leader, told; /* no id: nobody */
    bool is_known, was_told;          /* whether there is a leader, and a told one */
    bool must_end, is_over, is_ended_in_call;

    /* The loop's own. */
    struct coord_watch *watch;
    bool must_look, is_looking, was_logged;
    int64_t look_at_ms; /* of the boot clock: not before */
};

bool observer_is_ours(const struct observer *observer)
{
    return observer->coordinator->pid == getpid();
}

static void free_observer(struct observer *observer)
{
    TAILQ_REMOVE(&observer->coordinator->observers, observer, link);
    free(observer);
}

static void on_changed(void *context)
{
    struct observer *observer = context;
    pthread_mutex_lock(&observer->coordinator->lock);
    observer->must_look = true;
    coordinator_ask(observer->coordinator);
    pthread_mutex_unlock(&observer->coordinator->lock);
}

/* One that is first in the queue but has no fence yet leads nobody. What was known stays so while
 * the store is away. */
static void on_seen(void *context, enum status st, const struct coord_state *states, size_t count,
                    const char *message)
{
    struct observer *observer = context;
    struct coordinator *coordinator = observer->coordinator;
    if (st != OK && !observer->was_logged)
        coordinator_log(coordinator, "%s: who leads can't be seen: %s", observer->name, message);
    observer->was_logged = st != OK;
    pthread_mutex_lock(&coordinator->lock);
    observer->is_looking = false;
    if (st != OK) {
        observer->must_look = true;
        observer->look_at_ms = clock_now().boot.ms + AGAIN_MS;
    } else {
        bool is_led = count == 1 && states[0].holder.fence > 0;
        observer->leader = is_led ? states[0].holder : (struct coord_holder){.fence = 0};
        observer->is_known = true;
    }
    coordinator_ask(coordinator);
    pthread_mutex_unlock(&coordinator->lock);
}

/* The answer of a look that is under way must not find the observer gone. */
static void step(struct observer *observer)
{
    struct coord *coord = observer->coordinator->coord;
    if (observer->must_end) {
        observer->watch = coord_watch_free(observer->watch);
        observer->is_over = !observer->is_looking;
        return;
    }
    if (!observer->watch)
        observer->must_look = coord_watch(coord, COORD_ELECTION, observer->name, on_changed,
                                          observer, &observer->watch) == OK;
    if (observer->must_look && !observer->is_looking &&
        clock_now().boot.ms >= observer->look_at_ms &&
        coord_look(coord, COORD_ELECTION, observer->name, on_seen, observer) == OK) {
        observer->must_look = false;
        observer->is_looking = true;
    }
}

int64_t observers_step(struct coordinator *coordinator)
{
    struct observer *observer;
    int64_t next_ms = -1;
    TAILQ_FOREACH (observer, &coordinator->observers, link) {
        step(observer);
        if (!observer->must_end && !observer->is_looking &&
            (observer->must_look || !observer->watch))
            next_ms = AGAIN_MS;
    }
    return next_ms;
}

void observers_end(struct coordinator *coordinator)
{
    struct observer *observer;
    TAILQ_FOREACH (observer, &coordinator->observers, link) {
        if (!coordinator->is_exiting)
            observer->watch = coord_watch_free(observer->watch);
        observer->is_over = observer->must_end = true;
    }
}

static bool is_same(const struct coord_holder *a, const struct coord_holder *b)
{
    return a->fence == b->fence && strcmp(a->id, b->id) == 0;
}

static bool call(struct observer *observer)
{
    struct coordinator *coordinator = observer->coordinator;
    if (observer->must_end || !observer->is_known ||
        (observer->was_told && is_same(&observer->leader, &observer->told)))
        return false;
    struct coord_holder leader = observer->told = observer->leader;
    observer->was_told = true;
    coordinator->calling = observer;
    pthread_mutex_unlock(&coordinator->lock);
    observer->changed(observer->context, leader.fence ? &leader : NULL);
    pthread_mutex_lock(&coordinator->lock);
    coordinator->calling = NULL;
    if (observer->is_ended_in_call)
        free_observer(observer);
    pthread_cond_broadcast(&coordinator->changed);
    return true;
}

bool observers_call(struct coordinator *coordinator)
{
    struct observer *observer;
    TAILQ_FOREACH (observer, &coordinator->observers, link) {
        if (call(observer))
            return true;
    }
    return false;
}

struct answered coordinator_observe(struct coordinator *coordinator, const char *name,
                                    observer_changed *changed, void *context, struct observer **ret,
                                    struct strbuf *why)
{
    struct answered answer;
    struct observer *observer = calloc(1, sizeof(*observer));
    if (!observer)
        return answer_of(E_NOMEM);
    observer->coordinator = coordinator;
    observer->changed = changed;
    observer->context = context;
    snprintf(observer->name, sizeof(observer->name), "%s", name);
    pthread_mutex_lock(&coordinator->lock);
    if (coordinator->is_over || atomic_load(&coordinator->is_stopping)) {
        strbuf_addf(why, "%s: the node was stopped", name);
        answer = (struct answered){ANSWER_STOPPED, OK};
    } else {
        answer = answer_of(caller_start(coordinator));
    }
    if (answer.answer == ANSWER_YES) {
        coordinator_ref(coordinator);
        TAILQ_INSERT_TAIL(&coordinator->observers, observer, link);
        *ret = observer;
        coordinator_ask(coordinator);
    } else {
        free(observer);
    }
    pthread_mutex_unlock(&coordinator->lock);
    return answer;
}

void observer_end(struct observer *observer)
{
    struct coordinator *coordinator = observer->coordinator;
    pthread_mutex_lock(&coordinator->lock);
    observer->must_end = true;
    coordinator_ask(coordinator);
    while (!observer->is_over)
        pthread_cond_wait(&coordinator->changed, &coordinator->lock);
    while (coordinator->calling == observer && !is_caller(coordinator))
        pthread_cond_wait(&coordinator->changed, &coordinator->lock);
    if (coordinator->calling == observer)
        observer->is_ended_in_call = true;
    else
        free_observer(observer);
    pthread_mutex_unlock(&coordinator->lock);
    coordinator_unref(coordinator);
}

/* ---- questions ---- */

struct question {
    struct coordinator *coordinator;
    char name[COORD_NAME_SIZE], id[COORD_ID_SIZE];
    int64_t hold_ms; /* 0: who leads? Else: who is chosen? */

    /* With the lock. */
    TAILQ_ENTRY(question) link;
    bool is_asked, is_answered, is_abandoned;
    struct answered answer;
    struct coord_holder holder;
    char why[WHY_SIZE];
};

static void answer_question(struct question *question, struct answered answer,
                            const struct coord_holder *holder, const char *why)
{
    question->is_answered = true;
    question->answer = answer;
    if (holder)
        question->holder = *holder;
    snprintf(question->why, sizeof(question->why), "%s", why);
}

static void on_leader(void *context, enum status st, const struct coord_state *states, size_t count,
                      const char *message)
{
    struct question *question = context;
    struct coordinator *coordinator = question->coordinator;
    struct answered answer = answer_of(st);
    bool is_led = st == OK && count == 1 && states[0].holder.fence > 0;
    if (st == OK && !is_led)
        answer.answer = ANSWER_NOBODY;
    pthread_mutex_lock(&coordinator->lock);
    answer_question(question, answer, is_led ? &states[0].holder : NULL, message);
    coordinator_ask(coordinator);
    pthread_mutex_unlock(&coordinator->lock);
}

static void on_chosen(void *context, enum status st, const struct coord_holder *chosen,
                      bool is_self, const char *message)
{
    struct question *question = context;
    struct coordinator *coordinator = question->coordinator;
    struct answered answer = answer_of(st);
    if (st == OK && !is_self)
        answer.answer = ANSWER_BUSY;
    pthread_mutex_lock(&coordinator->lock);
    answer_question(question, answer, st == OK ? chosen : NULL, message);
    coordinator_ask(coordinator);
    pthread_mutex_unlock(&coordinator->lock);
}

static void begin(struct question *question)
{
    struct coord *coord = question->coordinator->coord;
    enum status st = question->hold_ms
                         ? coord_select(coord, question->name, question->id, question->hold_ms,
                                        on_chosen, question)
                         : coord_look(coord, COORD_ELECTION, question->name, on_leader, question);
    question->is_asked = true;
    if (st != OK)
        answer_question(question, answer_of(st), NULL, status_text(st));
}

static void free_question(struct question *question)
{
    TAILQ_REMOVE(&question->coordinator->questions, question, link);
    free(question);
}

void questions_step(struct coordinator *coordinator)
{
    struct question *question, *next;
    for (question = TAILQ_FIRST(&coordinator->questions); question; question = next) {
        next = TAILQ_NEXT(question, link);
        if (!question->is_asked)
            begin(question);
        if (question->is_answered && question->is_abandoned)
            free_question(question);
    }
}

void questions_end(struct coordinator *coordinator)
{
    struct question *question, *next;
    for (question = TAILQ_FIRST(&coordinator->questions); question; question = next) {
        next = TAILQ_NEXT(question, link);
        if (!question->is_answered)
            answer_question(question, (struct answered){ANSWER_STOPPED, OK}, NULL, "");
        if (question->is_abandoned)
            free_question(question);
    }
}

/* The store's own time limit ends the wait; so does a stop. */
static struct answered ask(struct question *question, struct coord_holder *ret, struct strbuf *why)
{
    struct coordinator *coordinator = question->coordinator;
    struct answered answer = {ANSWER_STOPPED, OK};
    coordinator_ref(coordinator);
    pthread_mutex_lock(&coordinator->lock);
    TAILQ_INSERT_TAIL(&coordinator->questions, question, link);
    coordinator_ask(coordinator);
    while (!question->is_answered && !coordinator->is_over &&
           !atomic_load(&coordinator->is_stopping))
        pthread_cond_wait(&coordinator->changed, &coordinator->lock);
    if (question->is_answered) {
        answer = question->answer;
        *ret = question->holder;
    }
    if (answer.answer == ANSWER_STOPPED)
        strbuf_addf(why, "%s: the node was stopped", question->name);
    else if (answer.answer == ANSWER_FAILED)
        strbuf_addf(why, "%s: %s", question->name,
                    *question->why ? question->why : status_text(answer.status));
    else if (answer.answer == ANSWER_NOBODY)
        strbuf_addf(why, "nobody leads %s", question->name);
    question->is_abandoned = true;
    if (question->is_answered || coordinator->is_over || !question->is_asked)
        free_question(question);
    pthread_mutex_unlock(&coordinator->lock);
    coordinator_unref(coordinator);
    return answer;
}

static struct question *new_question(struct coordinator *coordinator, const char *name)
{
    struct question *question = calloc(1, sizeof(*question));
    if (!question)
        return NULL;
    question->coordinator = coordinator;
    snprintf(question->name, sizeof(question->name), "%s", name);
    return question;
}

struct answered coordinator_leader(struct coordinator *coordinator, const char *name,
                                   struct coord_holder *ret, struct strbuf *why)
{
    struct question *question = new_question(coordinator, name);
    return question ? ask(question, ret, why) : answer_of(E_NOMEM);
}

struct answered coordinator_select(struct coordinator *coordinator, const char *service,
                                   const char *id, int64_t hold_ms, struct coord_holder *ret,
                                   struct strbuf *why)
{
    struct question *question = new_question(coordinator, service);
    if (!question)
        return answer_of(E_NOMEM);
    snprintf(question->id, sizeof(question->id), "%s", id);
    question->hold_ms = hold_ms;
    return ask(question, ret, why);
}
