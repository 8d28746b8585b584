/* What the program's threads ask of the loop: a run now, the end of a job. Each waits for the
 * answer, but not for ever. */
#ifndef PEAL_ASKS_H
#define PEAL_ASKS_H

#include <pthread.h>
#include <sys/queue.h>

#include "side.h"
#include "turns.h"

enum ask_kind { ASK_TRIGGER, ASK_DELETE };

struct ask;

STAILQ_HEAD(ask_list, ask);

struct asks {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct ask_list fresh;
    size_t under_way; /* asked of the store */
    bool is_over;     /* nothing will be answered any more */
};

void asks_init(struct asks *asks);
void asks_release(struct asks *asks);

/* From any thread but the loop's. `params` of ASK_TRIGGER as NAME=VALUE lines; NULL: none. `wake`
 * asks for a turn. ret_id, of ID_TEXT + 1 bytes, may be NULL.
 *
 * E_NOT_FOUND, E_INVALID, E_BUSY (a run is under way), E_UNREACHABLE (not answered in time, so it
 * may yet be done); *why. */
MUST_CHECK enum status asks_ask(struct asks *asks, enum ask_kind kind, const char *name,
                                const char *params, int64_t timeout_ms, const struct turns *turns,
                                char *ret_id, struct strbuf *why);

/* In a turn, when the sides have joined. `sides` in the order in which they are searched. */
void asks_step(struct asks *asks, struct side *const *sides, size_t count, struct now now);
bool asks_are_idle(struct asks *asks);

/* The loop ends: nobody need wait. */
void asks_end(struct asks *asks);

#endif
