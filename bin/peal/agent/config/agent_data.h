/* The agent's data folder, store and history. */
#ifndef PEAL_AGENT_DATA_H
#define PEAL_AGENT_DATA_H

#include "agent_log.h"
#include "config/agent_config.h"
#include "gather_net.h"
#include "history.h"
#include "loop.h"
#include "store.h"

struct agent_data {
    int lock_fd; /* -1: the store holds the lock itself */
    char node[64];
    struct store *store;
    struct history *history;
    struct gather_net *net; /* to the other nodes; NULL: no cluster */
    bool gathers;           /* the history is a history_gather, which also reads other nodes' */
    char peer_address[64];  /* of the port for other nodes; empty: none */
};

/* The node's id. E_CONFLICT: the folder is that of another node; else E_IO; *why. */
MUST_CHECK enum status agent_data_node(const struct agent_config *config, char node[64],
                                       struct strbuf *why);

/* Locks the folder, opens store and history, and writes the pid file. Runs the loop for a remote
 * store: no callback may need the rest of the agent yet. Anything but OK: *why; call
 * agent_data_close in any case. E_BUSY: another agent has the folder. */
MUST_CHECK enum status agent_data_open(const struct agent_config *config, struct loop *loop,
                                       struct agent_log *log, void (*wake)(void *context),
                                       void *context, struct agent_data *data, struct strbuf *why);

/* Closes store and history, which first answer all requests: the requesters must still exist. */
/* To be called when the agent is ready: what failed to start is not remembered. Store and history
 * are for the next start, the options for the next one in the background; `ports`, a line each,
 * are those that this agent listens on. */
MUST_CHECK enum status agent_data_remember(const struct agent_config *config, const char *ports);

void agent_data_close(struct agent_data *data);

/* To be called last, when nothing uses the folder any more. */
void agent_data_unlock(struct agent_data *data);

#endif
