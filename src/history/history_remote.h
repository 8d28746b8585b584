/* What histories in a database server have in common, whichever server it is: two threads with a
 * connection each, and what happens while the server is away. A driver says how to connect and what
 * requests do; history_remote.c does the rest of the contract. */
#ifndef PEAL_HISTORY_REMOTE_H
#define PEAL_HISTORY_REMOTE_H

#include <pthread.h>

#include "history_internal.h"

/* How long to wait for the server; 0: as said here. */
struct history_remote_limits {
    int connect_s;      /* 5: for each address of the server; not less than 2 */
    int write_ms;       /* 10,000: for a statement of an append or of retention */
    int read_ms;        /* 10,000: for a statement of a read */
    int retry_first_ms; /* 500: before it is tried again; doubles each time */
    int retry_last_ms;  /* 15,000: but not longer than this */
};

/* The limits to go by; `given` may be NULL. */
struct history_remote_limits
history_remote_limits_or_default(const struct history_remote_limits *given);

/* One connection, used by one thread. Drivers embed this as their first member. */
struct remote_link {
    bool is_up;          /* the driver's to clear when the connection is lost */
    int64_t next_try_ms; /* remote_now_ms(); while away */
    int retry_ms;
    struct strbuf words; /* the driver's: of what failed last, with a next step */
};

/* Unless OK, link->words says why. E_UNREACHABLE: the connection is gone, link->is_up is false. */
struct remote_driver {
    enum status (*connect)(struct remote_link *link); /* not connected unless OK */
    enum status (*append)(struct remote_link *link, const struct history_append *append);
    /* HISTORY_READ, HISTORY_LOG, HISTORY_STATS and HISTORY_CHANGES. */
    enum status (*read)(struct remote_link *link, struct history_request *request);
    /* One short step. The driver remembers in the link where it is, and forgets it when it is
     * finished or failed. *ret_finished: prune->removed is set. */
    enum status (*prune_step)(struct remote_link *link, struct history_prune *prune,
                              bool *ret_finished);
    /* From the owner's thread: what the reader waits for is to be given up. May be NULL. */
    void (*interrupt_reader)(struct history *history);
    /* Frees the driver's part and `history` itself; the threads have ended. */
    void (*release)(struct history *history);
};

/* Drivers embed this as their first member. */
struct history_remote {
    struct history base;
    const struct remote_driver *driver;
    struct history_remote_limits limits;
    struct history_wake wake;
    struct remote_link *writer, *reader; /* each its thread's alone, once that runs */
    pthread_t writer_thread, reader_thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    struct history_queue appends, prunes, reads, answered;
    bool closing;
    enum { WRITER_UNTRIED, WRITER_UP, WRITER_AWAY } state;
    enum status health;
    struct strbuf words; /* for it */
};

/* Everything but the threads. All of *remote is zero but driver, limits, writer and reader. */
void history_remote_init(struct history_remote *remote, struct history_wake wake);
MUST_CHECK enum status history_remote_start(struct history_remote *remote);
void history_remote_release(struct history_remote *remote); /* part of the driver's release */

/* How all words about a server that is away end. */
#define REMOTE_WAITS "peal tries again by itself; what is to be recorded waits meanwhile."

/* Boot time: goes on while the machine sleeps, and nobody sets it. */
int64_t remote_now_ms(void);

#endif
