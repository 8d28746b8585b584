/* Calls of functions: the executor of a program. Each run that the engine starts is one call, made
 * by a pool (call_pool.h).
 *
 * The executor and the output are for the loop's thread; the rest is for any. */
#ifndef PEAL_CALLS_H
#define PEAL_CALLS_H

#include "calls/call_group.h"
#include "calls/call_pool.h"
#include "live_output.h"
#include "peal.h"
#include "ports.h"

struct calls;

/* What is to be called. */
struct call_target {
    peal_function *function;
    void *arg;
    struct command *command;  /* in place of `arg`, and the caller's; NULL: none */
    struct call_group *group; /* in place of a function, all of these; NULL: it is one */
    /* The function is one of `group_of`, and entered for this call; NULL: of none. */
    struct group_member *member;
    struct call_group *group_of;
};

/* What the engine asks for. */
struct call_order {
    const char *name; /* of the function */
    const struct run *run;
    const struct job *job;
    const char *node; /* this one */
};

struct calls_config {
    struct call_pool *pool;
    void (*wake)(void *context); /* an event waits for the loop; from any thread */
    void *context;
    /* The function that is registered here. False: there is none. From the loop's thread. */
    bool (*find)(void *functions, const struct call_order *order, struct call_target *ret);
    void *functions;
    /* Of a group, whose functions have no records of their own: one that has failed or written
     * something has ended; a tick of one, and of so many more, was passed over. From the pool's
     * threads; may be NULL. */
    void (*ended)(void *context, const struct run *end, const struct output_chunk *chunks,
                  size_t count);
    void (*passed)(void *context, const char *name, size_t more, enum run_reason reason);
    const char *node;  /* must outlive it, as: */
    const char *spool; /* folder for the output of calls that take long; NULL: it is not kept */
};

MUST_CHECK enum status calls_new(const struct calls_config *config, struct calls **ret);

/* After its pool is freed: no call is being made. */
struct calls *calls_free(struct calls *calls);

struct executor *calls_executor(struct calls *calls);
struct output_source calls_output(struct calls *calls);
struct live_output calls_live(struct calls *calls);

/* Whether the run is one of its calls, whose output the history need not have yet. */
bool calls_has(struct calls *calls, const struct id *run_id);

/* STARTED again for each call that is being made. */
void calls_tell_again(struct calls *calls);

/* A call has told how far it is; from any thread. */
void calls_note_progress(struct calls *calls);

/* One has written output; from any thread. */
void calls_note_output(struct calls *calls);

/* For the loop's thread: brings that to disk, if it is time; returns when to look again. */
struct boot_ms calls_spool(struct calls *calls, struct boot_ms now);

/* How far the calls are (function/progress.h): adds to `text`, of PROGRESS_SIZE bytes. False: there
 * are none, and no output that the history does not have. */
bool calls_progress(struct calls *calls, char *text);

/* For the loop's thread: cancels calls that have run for longer than their timeout; returns when to
 * look again. */
struct boot_ms calls_time_out(struct calls *calls, struct boot_ms now);

/* The program stops: each call is told. */
void calls_shut_down(struct calls *calls);

/* How many calls are being made now. */
size_t calls_running(struct calls *calls);

/* How many runs this process should have at once: as many as it has threads when calls are long, so
 * that others take the rest; more when they are brisk, so that threads need not wait for the next.
 * Where there are no others it is told by the first calls that they are long, elsewhere by some
 * more that they are brisk. */
int calls_wanted(struct calls *calls, int threads, bool is_alone);

#endif
