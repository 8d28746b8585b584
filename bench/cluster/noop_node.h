/* A whole node but for its processes: engine, store in etcd, a history, and an executor whose runs
 * end as soon as they start. What fails ends the program. */
#ifndef PEAL_NOOP_NODE_H
#define PEAL_NOOP_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine.h"
#include "history.h"
#include "loop.h"
#include "store.h"

struct noop_node {
    struct loop *loop;
    struct loop_fd *watch;
    struct loop_timer *timer;
    int wake_fd;
    struct store *store;
    struct history *history;
    struct noop *noop; /* the executor */
    struct zone_db *zones;
    struct engine *engine;
};

/* So many new jobs are due every second. `history_dir` NULL: the history is in memory. */
void noop_node_init(struct noop_node *node, const char *etcd, const char *prefix, char *job_count,
                    const char *history_dir);
void noop_node_release(struct noop_node *node);

void noop_node_turn(struct noop_node *node);
void noop_node_run(struct noop_node *node, double seconds);
size_t noop_node_started(const struct noop_node *node); /* runs, ever */

/* Claims nothing any more. False: something has not ended after ten seconds. */
bool noop_node_drain(struct noop_node *node);

#endif
