/* A history with two threads and a connection for each: the writer appends and prunes, the reader
 * answers queries. A driver (SQLite, PostgreSQL, MongoDB) connects and carries out requests;
 * history_worker.c does the queues, health, and reconnecting to a server that is away. */
#ifndef PEAL_HISTORY_WORKER_H
#define PEAL_HISTORY_WORKER_H

#include <pthread.h>

#include "history_prune.h"

/* Time-outs and back-off for a server; 0: the default named here. */
struct history_server_limits {
    int connect_s;      /* 5: for each address of the server; not less than 2 */
    int write_ms;       /* 10,000: for a statement of an append or of retention */
    int read_ms;        /* 10,000: for a statement of a read */
    int retry_first_ms; /* 500: back-off before the next connect; doubles each time */
    int retry_last_ms;  /* 1,500: longest back-off */
};

/* `given`, which may be NULL, with defaults filled in. */
struct history_server_limits
history_server_limits_or_default(const struct history_server_limits *given);

/* One connection, used by one thread. Drivers embed this as their first member. */
struct history_link {
    bool is_up;          /* cleared by the driver when the connection is lost */
    enum status away;    /* result of the last call; the answer to requests while not up */
    int64_t next_try_ms; /* boot time of the next connect, while not up */
    int retry_ms;        /* current back-off */
    bool is_warm;        /* has been used since the driver's `rest` */
    struct strbuf words; /* set by the driver: the last failure, with a next step */
};

/* Unless OK, link->words says why. If link->is_up stays true, only the request failed; else the
 * connection is lost, and the worker reconnects. */
struct history_driver {
    /* NULL: both links are up before the start, and stay up. */
    enum status (*connect)(struct history_link *link);
    /* All or none (but see history_mongo.h). The append has been validated. */
    enum status (*append)(struct history_link *link, const struct history_append *append);
    /* HISTORY_READ, HISTORY_LOG, HISTORY_STATS and HISTORY_CHANGES. The first three have been
     * validated. A log and statistics have no answer yet; what a failed read leaves is freed. */
    enum status (*read)(struct history_link *link, struct history_request *request);
    const struct prune_driver *prune;
    /* After a failure: rolls back the transaction and explains `st` in link->words. May be NULL. */
    void (*recover)(struct history_link *link, enum status st);
    /* Gives back the memory of caches, after a while without requests. May be NULL. */
    void (*rest)(struct history_link *link);
    /* Called by the owner's thread: cancels the read in progress. May be NULL. */
    void (*interrupt_reader)(struct history *history);
    /* Frees the driver's part and `history` itself; the threads have ended. */
    void (*release)(struct history *history);
};

/* Drivers embed this as their first member. */
struct history_worker {
    struct history base;
    const struct history_driver *driver;
    struct history_server_limits limits; /* of drivers that connect */
    struct history_wake wake;
    struct history_link *writer, *reader; /* used by its own thread alone, once that runs */
    struct pruning pruning;               /* used by the writer thread */
    pthread_t writer_thread, reader_thread;
    pthread_mutex_t lock; /* guards all members below */
    pthread_cond_t work;
    struct history_queue appends, prunes, reads, answered;
    bool closing;
    bool is_away; /* the writer's connection is not up */
    enum status health;
    struct strbuf words; /* explains `health` */
};

/* Sets up all but the threads and the limits; *worker is zeroed. The links' words are initialised
 * here and freed by history_worker_release. */
void history_worker_init(struct history_worker *worker, const struct history_driver *driver,
                         struct history_link *writer, struct history_link *reader,
                         struct history_wake wake);
MUST_CHECK enum status history_worker_start(struct history_worker *worker);
void history_worker_release(struct history_worker *worker); /* part of the driver's release */

/* The end of every message about a server that is away. */
#define SERVER_WAITS "peal tries again by itself; what is to be recorded waits meanwhile."

#endif
