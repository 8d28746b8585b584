/* Calls of functions: the executor of a program. Each run that the engine starts is one call, on a
 * thread of a bounded pool, or on the program's own (calls_step).
 *
 * The executor and the output are for the loop's thread; the rest is for any. */
#ifndef PEAL_CALLS_H
#define PEAL_CALLS_H

#include "peal.h"
#include "ports.h"

struct calls;

struct calls_config {
    int threads;                 /* at most; 0: the program calls calls_step */
    void (*wake)(void *context); /* an event waits for the loop; from any thread */
    void *context;
    /* The function of a job that is registered here. False: there is none. From the loop's thread.
     */
    bool (*find)(void *functions, const char *name, peal_function **ret, void **ret_arg);
    void *functions;
};

MUST_CHECK enum status calls_new(const struct calls_config *config, struct calls **ret);

/* Waits for the calls that are being made; those that wait are not made any more. */
struct calls *calls_free(struct calls *calls);

struct executor *calls_executor(struct calls *calls);
struct output_source calls_output(struct calls *calls);

/* threads == 0: readable while calls wait. */
int calls_fd(const struct calls *calls);
int calls_step(struct calls *calls);

/* How many calls are being made now. */
size_t calls_running(struct calls *calls);

#endif
