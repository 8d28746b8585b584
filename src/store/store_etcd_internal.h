/* The parts of the store in etcd and how they hand over:
 *
 *     store_etcd.c        open, submit, dispatch, health
 *        |  requests
 *     store_etcd_flow.c   which items go next; answers in order
 *        |  items
 *     store_etcd_batch.c  plans, sends, and sees what came of it
 *        |  revision of the answer
 *     store_etcd_load.c   list and watch: keeps mirror and feed, says when they are there
 *
 *     store_etcd_nodes.c  beside them: this node's own key, its lease, and who leads */
#ifndef PEAL_STORE_ETCD_INTERNAL_H
#define PEAL_STORE_ETCD_INTERNAL_H

#include "clock.h"
#include "etcd_watch.h"
#include "store_etcd.h"
#include "store_etcd_flow.h"

struct store_etcd {
    struct store base;
    struct loop *loop;
    struct store_wake wake;
    char *prefix, *node, *range; /* the range: prefix with a slash */
    struct etcd_client *client;

    struct flow flow;
    struct request_queue answered;
    bool is_closing;

    struct mirror mirror, loading;
    int64_t loading_revision; /* 0: no page yet */
    bool is_loaded;           /* the mirror is good */
    bool was_loaded;          /* it has been, once */
    struct etcd_list *list;
    struct etcd_watch *watch;
    struct loop_timer *reload_timer;
    struct feed feed;
    struct feed_item *held;

    struct nodes *nodes; /* NULL: this node has not said anything of itself */

    enum status health;
    bool is_watch_broken;
    struct strbuf health_why;
    struct loop_timer *probe_timer;
    struct etcd_call *probe;
};

/* ---- store_etcd.c ---- */

void store_etcd_wake(struct store_etcd *store);
/* Something is wrong; a probe looks every second whether it still is. */
void store_etcd_ail(struct store_etcd *store, enum status st, const char *why);

/* ---- store_etcd_nodes.c ---- */

enum status nodes_announce(struct store *base, const struct peer *self);
bool nodes_lead(const struct store *base);
/* Not OK: this node is not among the others, and *why says why; E_CONFLICT: another agent has its
 * name. Accepts NULL. */
enum status nodes_health(const struct nodes *nodes, struct strbuf *why);
/* The others see it at once if etcd can be asked, which is waited for, but not for long. */
void nodes_leave(struct store_etcd *store);

/* ---- store_etcd_load.c ---- */

/* Reads everything, then watches. For a timer: the context is the store. */
void load_start(void *context);

#endif
