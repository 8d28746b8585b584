/* Turns of a node's loop: asked for from any thread, due at a time of the wall clock, or because
 * that clock was set. */
#ifndef PEAL_TURNS_H
#define PEAL_TURNS_H

#include <stdbool.h>

#include "clock.h"
#include "loop.h"

struct turns;

/* `was_set`: the wall clock was set since the last turn. */
typedef void turn_function(void *context, bool was_set);

MUST_CHECK enum status turns_new(struct loop *loop, turn_function *turn, void *context,
                                 struct turns **ret); /* E_IO: errno */
struct turns *turns_free(struct turns *turns);

/* Soon. From any thread, and from a signal handler. */
void turns_ask(const struct turns *turns);

/* At this time at the latest; the last word counts. INT64_MAX: only when it is asked for. */
void turns_at(struct turns *turns, struct wall_ms at);

#endif
