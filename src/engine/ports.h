/* The engine's ports: everything that does I/O is passed in. */
#ifndef PEAL_PORTS_H
#define PEAL_PORTS_H

#include "executor.h"
#include "expect/notify_terms.h"
#include "history.h"
#include "peer.h"
#include "store.h"
#include "zone/zone_db.h"

/* Random bytes for ids and nonces. */
struct entropy {
    void (*fill)(void *context, void *bytes, size_t length);
    void *context;
};

/* The last id of a series. Ids of one millisecond follow each other: in a burst they share the
 * pages of a database's index, where random ones are spread over all pages of that millisecond. The
 * first id of a millisecond has 80 random bits, so that series of other processes do not meet this
 * one. */
struct made_id {
    struct id id;
    int64_t at_ms;
};

/* The next id of the series, which is larger than the others of this millisecond. */
struct id made_id_next(struct made_id *last, const struct entropy *entropy, int64_t now_ms);

/* Reads the output of an ended run, and removes it once the history has it. */
struct output_source {
    /* OK: *ret holds *ret_count chunks, released by `release`. E_NOT_FOUND: there is none. */
    enum status (*read)(void *context, const struct id *run_id, struct output_chunk **ret,
                        size_t *ret_count);
    void (*release)(void *context, struct output_chunk *chunks, size_t count);
    void (*remove)(void *context, const struct id *run_id);
    void *context;
};

/* The load of the machine: sets cpu_pressure, memory_pressure, cpu_load and memory_used, -1 where
 * it is not known. Read with each heartbeat. */
struct pressure_gauge {
    void (*read)(void *context, struct peer *ret);
    void *context;
};

/* How long good runs of a job take, as learned from its history. False: the history is being asked;
 * the engine is woken when it has answered, or has not in time. */
struct lesson_book {
    bool (*find)(void *context, const struct id *job_uid, struct learned *ret);
    void *context;
};

/* The functions that this program has registered. Another process of the same program may have
 * more: it has been started from a newer build. */
struct function_book {
    bool (*has)(void *context, const char *function);
    void *context;
};

/* One line of the log: an event and its particulars as key=value. */
struct event_log {
    void (*write)(void *context, const char *event, const char *particulars);
    void *context;
};

/* Called with every change of the feed, right after the engine has applied it. Must not change
 * anything. */
struct change_observer {
    void (*changed)(void *context, const struct store_change *change);
    void *context;
};

/* The wall clock was set by more than a second. */
struct clock_step {
    int64_t by_ms; /* ahead, or back (negative) */
    int64_t to_ms; /* wall time after the step */
};

struct clock_observer {
    void (*stepped)(void *context, const struct clock_step *step);
    void *context;
};

struct catalog_job;

/* The end of a run or tick that people may want to be notified of. */
struct ended {
    const struct run *run; /* or */
    const struct ledger_entry *entry;
    const struct catalog_job *job; /* NULL: the job is purged */
    bool was_bad;                  /* the job's end before this one was a failure */
    const struct output_chunk *chunks;
    size_t chunk_count;
};

/* Sends notifications. `done` is called once, perhaps at once, when the notifications of these ends
 * are durably queued; delivery comes later. */
struct teller {
    void (*tell)(void *context, const struct ended *ends, size_t count,
                 void (*done)(void *done_context), void *done_context);
    void *context;
};

/* Is told of records that the history has. The same ones may come again, as an agent that is killed
 * meanwhile records them again. */
struct record_observer {
    void (*recorded)(void *context, const struct history_record *records, size_t count);
    void *context;
};

struct engine_ports {
    struct store *store;
    struct executor *executor;
    struct history *history;
    struct zone_db *zones;
    struct entropy entropy;
    struct output_source output;          /* read NULL: runs have no output */
    struct pressure_gauge pressure;       /* read NULL: not known */
    struct lesson_book lessons;           /* find NULL: nothing is learned */
    struct function_book functions;       /* has NULL: all, and an agent is asked for none */
    struct event_log log;                 /* write NULL: no log */
    struct change_observer observer;      /* changed NULL: none */
    struct clock_observer clock_observer; /* stepped NULL: none */
    struct teller teller;                 /* tell NULL: no notifications */
    struct record_observer records;       /* recorded NULL: none */
    struct made_id *last_id;              /* of ports_new_id; the engine's own */
};

struct id ports_new_id(const struct engine_ports *ports, struct wall_ms now);
void ports_observe(const struct engine_ports *ports, const struct store_change *change);
void ports_step(const struct engine_ports *ports, const struct clock_step *step);
void ports_read_pressure(const struct engine_ports *ports, struct peer *ret);
/* Can this node run the function? NULL, of a job that is none: yes. */
bool ports_can_run(const struct engine_ports *ports, const char *function);
uint64_t ports_new_nonce(const struct engine_ports *ports); /* never 0 */
void ports_log(const struct engine_ports *ports, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
