/* One call of a batch: its body, the mistakes that the agent finds in it, and its way to the agent
 * in a thread of its own. */
#ifndef PEAL_BATCH_CALL_H
#define PEAL_BATCH_CALL_H

#include <pthread.h>

#include "client/batch/batch.h"

/* What goes in one call, or more if jobs depend on each other: half of what the agent takes. */
enum { CALL_MAX = 2500, CALL_BYTES = 6 << 20 };

enum { AT_ONCE = 3 }; /* calls */

/* One call: some of the puts, some of the deletes. */
struct batch_call {
    const struct batch *batch;
    struct batch_part puts, deletes;
    const char
        *kept; /* under which the agent keeps the puts since the dry run; NULL: it does not */
};

/* How calls are sent. */
enum batch_phase {
    PHASE_DRY_RUN,
    PHASE_CHECK, /* a dry run, after which the agent keeps new jobs if it can */
    PHASE_WRITE,
};

/* A call under way, in a thread of its own. */
struct flight {
    struct client *client;
    struct batch_call call;
    enum batch_phase phase;
    char *body; /* NULL: kept */
    pthread_t thread;
    bool has_thread;
    enum status st;
    struct reply reply;
};

/* How many there are, and one of them. `checked`: the answers to the dry run; NULL: there was
 * none. */
size_t batch_calls(const struct batch *batch);
struct batch_call batch_call_of(const struct batch *batch, size_t i, const json_t *checked);

/* Sends the call with flight->client. What the agent has not kept after all is sent again; the puts
 * of the batch must not move until then. */
void flight_begin(struct flight *flight, struct batch_call call, enum batch_phase phase);

/* Waits for the answer, adds it to those of the other calls, and reports what is wrong. */
MUST_CHECK enum exit_code flight_end(struct flight *flight, json_t *answers);

/* The body of a call, to be freed; NULL: out of memory. */
char *batch_call_body(const struct batch_call *call, enum batch_phase phase);

/* Sends the body of a PHASE_CHECK, and waits. NULL: the answer is not that the agent has kept the
 * jobs of it. */
json_t *batch_call_check(struct client *client, bool is_applied, const char *body);

#endif
