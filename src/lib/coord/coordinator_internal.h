/* What the files of the coordinator share. The loop's thread compares what is wanted with what is,
 * at each of its turns, and does what is missing: nothing is sent from thread to thread but the
 * request for a turn. */
#ifndef PEAL_COORDINATOR_INTERNAL_H
#define PEAL_COORDINATOR_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "coordinator.h"
#include "loop.h"
#include "strbuf.h"
#include "turns.h"

enum { WHY_SIZE = 700 };

struct question; /* a look or a select that somebody waits for */

struct coordinator {
    pid_t pid;
    atomic_bool is_stopping;
    atomic_int refs; /* the owner, and each handle */

    pthread_mutex_t lock; /* of all below, unless it is said to be a thread's own */
    pthread_cond_t changed;
    TAILQ_HEAD(claim_list, claim) claims;
    TAILQ_HEAD(observer_list, observer) observers;
    TAILQ_HEAD(question_list, question) questions;
    bool is_closing; /* what is held is released, and then the thread ends */
    bool is_exiting; /* the thread ends at once */
    bool is_over;    /* it has ended, and there is no loop any more */
    pthread_t thread, caller;
    bool has_caller;
    void *calling; /* whose callback is made at this moment */

    struct coordinator_config config; /* the thread's own, until it is over */
    struct loop *loop;
    struct turns *turns;
    struct loop_timer *timer;
    struct coord *coord;

    /* Of coordinator_process.c. */
    TAILQ_ENTRY(coordinator) live;
    char *folder; /* of its locks, without links; NULL: etcd */
};

/* For a turn of the loop, with the lock held. */
void coordinator_ask(struct coordinator *coordinator);
void coordinator_ref(struct coordinator *coordinator);
void coordinator_unref(struct coordinator *coordinator);
struct answered answer_of(enum status st);
void coordinator_log(struct coordinator *coordinator, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A thread that blocks all signals. */
MUST_CHECK enum status coordinator_thread(pthread_t *ret, void *(*run)(void *), void *context);

/* Turns of the loop, with the lock held. How soon the next one is needed, in ms; -1: not. */
int64_t claims_step(struct coordinator *coordinator);
int64_t observers_step(struct coordinator *coordinator);
void questions_step(struct coordinator *coordinator);

/* With the lock held: nothing is held, nor left to be released. */
bool claims_are_over(const struct coordinator *coordinator);

/* The end of the loop, with the lock held: nothing is waited for any more. */
void claims_end(struct coordinator *coordinator);
void observers_end(struct coordinator *coordinator);
void questions_end(struct coordinator *coordinator);

/* ---- the program's callbacks: coordinator_call.c ---- */

/* With the lock held: starts the thread, if there is none yet. */
MUST_CHECK enum status caller_start(struct coordinator *coordinator);
bool is_caller(const struct coordinator *coordinator);

/* With the lock held: makes a call that is due, without the lock, and takes it again. False: none
 * is due. */
bool claims_call(struct coordinator *coordinator);
bool observers_call(struct coordinator *coordinator);

/* ---- the process: coordinator_process.c ---- */

/* From now on, until it is left, what the process does is heeded: its exit, and its forks. */
void process_enter(struct coordinator *coordinator);
void process_leave(struct coordinator *coordinator);

#endif
