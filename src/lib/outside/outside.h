/* The executor of a side: functions are calls, and what stands in place of a function runs outside
 * of the program: a command by a spawner, an HTTP call by peal-call, both of which outlive it. The
 * next process with the same folder asks them for what the one before has left.
 *
 * Neither is started before it is needed, and functions do not wait for either. The loop's. */
#ifndef PEAL_OUTSIDE_H
#define PEAL_OUTSIDE_H

#include "calls/calls.h"
#include "function.h"
#include "loop.h"

struct outside;

struct outside_config {
    struct calls *calls;
    struct functions *functions;
    struct loop *loop;
    const struct tools *tools;
    const char *folder; /* of this process */
    const char *prefix; /* of the two folders in it */
    const char *node;
    const char *spool; /* of the output of functions; NULL: none is kept */
    bool is_local;     /* runs of a process before this one are nobody's: they are ended */
    void (*wake)(void *context);
    void *context;
    void (*log)(void *context, const char *message); /* how commands are run; once */
};

/* All that it names must outlive it. */
MUST_CHECK enum status outside_new(const struct outside_config *config, struct outside **ret);
struct outside *outside_free(struct outside *outside); /* what runs goes on */

struct executor *outside_executor(struct outside *outside);
struct output_source outside_output(struct outside *outside); /* of calls, too, as: */
struct live_output outside_live(struct outside *outside);

/* In a turn: starts a spawner, or peal-call, if there is something for it now. */
void outside_step(struct outside *outside);

/* The program stops: commands and HTTP calls are ended. */
void outside_shut_down(struct outside *outside);

/* How many commands and HTTP calls are under way; has the history the output of all that were? */
size_t outside_running(const struct outside *outside);
bool outside_is_recorded(const struct outside *outside);

#endif
