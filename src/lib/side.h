/* One side of a program's node: its functions of one kind, with the engine that calls them. The
 * shared side has the store of all nodes and a history; the local one a store in memory, and the
 * program's log in place of a history. The loop's, but for the functions. */
#ifndef PEAL_SIDE_H
#define PEAL_SIDE_H

#include "calls/calls.h"
#include "engine.h"
#include "function.h"
#include "outside/outside.h"
#include "registrar.h"

struct peal_node;

struct side {
    struct peal_node *peal;
    struct functions functions;
    struct store *store;
    struct history *history;
    struct calls *calls;
    char *spool;             /* folder of their output; NULL: it is not kept */
    struct outside *outside; /* the executor, with the calls as a part of it */
    struct engine *engine;   /* NULL: not open */
    struct registrar registrar;
    bool is_drained;
};

/* Takes over store and history, also when it fails. */
MUST_CHECK enum status side_open(struct side *side, struct store *store, struct history *history);

/* The local side. */
MUST_CHECK enum status side_open_local(struct side *side);

/* A turn; returns when the next one is needed. */
struct wall_ms side_step(struct side *side, struct now now, bool is_stopping);

/* It was stopped, and all that it ran has its end on record; or it is not open. */
bool side_is_over(struct side *side);

/* Whether functions are being called, or commands and HTTP calls are under way. */
bool side_calls(const struct side *side);

/* Without its functions. No call is being made. */
void side_close(struct side *side);

#endif
