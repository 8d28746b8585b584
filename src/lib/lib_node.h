/* A program as a node: a thread with the loop, the engine, a store and a history. */
#ifndef PEAL_LIB_NODE_H
#define PEAL_LIB_NODE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "asks.h"
#include "calls/call_pool.h"
#include "data_folder.h"
#include "machine.h"
#include "node_store.h"
#include "records/lib_records.h"
#include "side.h"
#include "turns.h"

enum lib_state {
    LIB_NEW,     /* not opened yet */
    LIB_OPENING, /* the thread looks for the store */
    LIB_OPEN,    /* it has joined */
    LIB_ENDED,   /* the thread is about to end, or has ended: `failed` */
};

struct coordinator;

struct peal_node {
    pid_t pid;            /* whose it is: a child of fork() must not use it */
    peal_options options; /* its texts are copies */
    char *data;           /* the folder of all programs */
    struct store_url url;
    struct server_access etcd, redis;
    struct tools tools;
    struct call_pool *pool;
    struct side shared, local;
    struct asks asks;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_stopping;
    struct coordinator *_Atomic coordinator; /* NULL: none was needed yet */
    char *coord_folder;

    pthread_mutex_t lock; /* of: */
    pthread_cond_t changed;
    enum lib_state state;
    enum status failed;
    struct strbuf why;

    /* The thread's own. */
    struct loop *loop;
    struct turns *turns;
    struct zone_db *zones;
    char *folder; /* of this process */
    int lock_fd;  /* of that folder; -1 */
    char node[64];
    struct lib_records records;
    struct random_block random;
    int64_t started_ms;
    int64_t quiet_ms; /* boot time since which it stops, and calls nothing; 0: not yet */
};

/* Whether this process was forked off one that had a node open; it can't have one then. */
bool lib_node_was_forked(void);

/* Starts the thread; waits until it has joined, for options.timeout_ms, unless in_background. *why
 * says what failed; it has ended then. */
MUST_CHECK enum status lib_node_open(struct peal_node *peal, struct strbuf *why);

/* Asks it to stop; from any thread, and from a signal handler. */
void lib_node_stop(struct peal_node *peal);

/* Until its end, making calls meanwhile if the program is who makes them. What failed, in *why. */
MUST_CHECK enum status lib_node_wait(struct peal_node *peal, struct strbuf *why);

/* After its end. */
void lib_node_release(struct peal_node *peal);

/* How its store is reached; valid as long as it is. */
struct store_access lib_node_store(struct peal_node *peal);

/* How long a call of the library may wait for the store. */
int64_t lib_timeout_ms(const struct peal_node *peal);

/* A turn, soon: from any thread. `context` is the node. */
void lib_wake(void *context);

/* peal.c: the node that is meant, which need not be open. NULL: *ret_error. */
struct peal_node *lib_the(struct peal_node *peal, int *ret_error);

/* peal_coord.c: when the node is stopped (also from a signal handler), and before it is freed. */
void lib_coord_stop(struct peal_node *peal);
void lib_coord_close(struct peal_node *peal);

/* One line to the program's log. */
void lib_log(const struct peal_node *peal, enum peal_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
