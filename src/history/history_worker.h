/* A history with two threads and a link each: the writer appends and prunes, the reader answers. A
 * driver (SQLite, PostgreSQL, MongoDB) says how to connect and what requests do; history_worker.c
 * does the rest of the contract, and what happens while a server is away. */
#ifndef PEAL_HISTORY_WORKER_H
#define PEAL_HISTORY_WORKER_H

#include <pthread.h>

#include "history_prune.h"

/* How long to wait for a server; 0: as said here. */
struct history_server_limits {
    int connect_s;      /* 5: for each address of the server; not less than 2 */
    int write_ms;       /* 10,000: for a statement of an append or of retention */
    int read_ms;        /* 10,000: for a statement of a read */
    int retry_first_ms; /* 500: before it is tried again; doubles each time */
    int retry_last_ms;  /* 15,000: but not longer than this */
};

/* The limits to go by; `given` may be NULL. */
struct history_server_limits
history_server_limits_or_default(const struct history_server_limits *given);

/* One connection, used by one thread. Drivers embed this as their first member. */
struct history_link {
    bool is_up;          /* the driver's to clear when the connection is lost */
    enum status away;    /* why it is not up */
    int64_t next_try_ms; /* boot time; while away */
    int retry_ms;
    struct strbuf words; /* the driver's: of what failed last, with a next step */
};

/* Unless OK, link->words says why. Does the failure leave link->is_up true, it is one of the
 * request alone; else the connection is gone, and is tried again. */
struct history_driver {
    /* Not connected unless OK. NULL: links are up before the start, and stay so. */
    enum status (*connect)(struct history_link *link);
    /* All of it or, unless OK, none; of a valid one. */
    enum status (*append)(struct history_link *link, const struct history_append *append);
    /* HISTORY_READ, HISTORY_LOG, HISTORY_STATS and HISTORY_CHANGES. */
    enum status (*read)(struct history_link *link, struct history_request *request);
    const struct prune_driver *prune;
    /* After a failure: back to no transaction, with words for it. May be NULL. */
    void (*recover)(struct history_link *link, enum status st);
    /* From the owner's thread: what the reader waits for is to be given up. May be NULL. */
    void (*interrupt_reader)(struct history *history);
    /* Frees the driver's part and `history` itself; the threads have ended. */
    void (*release)(struct history *history);
};

/* Drivers embed this as their first member. */
struct history_worker {
    struct history base;
    const struct history_driver *driver;
    struct history_server_limits limits; /* of those that connect */
    struct history_wake wake;
    struct history_link *writer, *reader; /* each its thread's alone, once that runs */
    struct pruning pruning;               /* the writer's */
    pthread_t writer_thread, reader_thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    struct history_queue appends, prunes, reads, answered;
    bool closing;
    bool is_away; /* the writer has tried to connect, and could not */
    enum status health;
    struct strbuf words; /* for it */
};

/* Everything but the threads and the limits; all of *worker is zero. The links' words are made and
 * freed with the worker. */
void history_worker_init(struct history_worker *worker, const struct history_driver *driver,
                         struct history_link *writer, struct history_link *reader,
                         struct history_wake wake);
MUST_CHECK enum status history_worker_start(struct history_worker *worker);
void history_worker_release(struct history_worker *worker); /* part of the driver's release */

/* How all words about a server that is away end. */
#define SERVER_WAITS "peal tries again by itself; what is to be recorded waits meanwhile."

#endif
