/* What an agent has in its data folder, and the store, which may be elsewhere. */
#ifndef PEAL_AGENT_DATA_H
#define PEAL_AGENT_DATA_H

#include "agent_log.h"
#include "config/agent_config.h"
#include "history.h"
#include "loop.h"
#include "store.h"

struct agent_data {
    int lock_fd; /* -1: the store holds the lock itself */
    char node[64];
    struct store *store;
    struct history *history;
    bool gathers;             /* from the other nodes: the history is a history_gather */
    char history_address[64]; /* where the others ask for it; empty: nowhere */
};

/* Locks the folder, opens store and history, and writes the pid file. Runs the loop while the store
 * is elsewhere: nothing that needs the rest of the agent may happen in it. Anything but OK: *why;
 * close it all the same. E_BUSY: another agent has the folder. */
MUST_CHECK enum status agent_data_open(const struct agent_config *config, struct loop *loop,
                                       struct agent_log *log, void (*wake)(void *context),
                                       void *context, struct agent_data *data, struct strbuf *why);

/* Store and history answer what was asked before they go: whoever asked must still be there. */
void agent_data_close(struct agent_data *data);

/* Last of all, when nothing uses the folder any more. */
void agent_data_unlock(struct agent_data *data);

#endif
