/* The parts of the store that several processes share. Private to it; store.h is the contract, and
 * README.md the design. */
#ifndef PEAL_STORE_SHARED_H
#define PEAL_STORE_SHARED_H

#include <pthread.h>
#include <stdatomic.h>

#include "sqlite/store_sqlite.h"
#include "sqlite/store_sqlite_front.h"

/* ---- store_shared_value.c: changes as bytes ---- */

/* Kinds of the feed that come from requests. */
void shared_encode(const struct store_change *change, struct strbuf *to);

/* Adds all changes in `bytes` to the feed. E_CORRUPT. */
MUST_CHECK enum status shared_decode(const void *bytes, size_t length, struct feed *feed);

/* Names the format: builds of peal with the same text understand each other's log. */
uint64_t shared_format(void);

/* ---- store_shared_log.c: the log of changes, in the database ---- */

struct shared_log {
    sqlite3 *handle;
    sqlite3_stmt *read, *add, *trim, *version, *set_meta;
    sqlite3_stmt *get_mark, *set_mark, *drop_mark;
    struct tables_ops ops; /* of store_shared_marks.c */
    int64_t seq;           /* of the last row that is in the feed */
    int64_t stamp;         /* of that row */
    int64_t trimmed;       /* `seq` when the log was trimmed last */
    int64_t told_version;
    uint64_t lineage;
    struct strbuf bytes; /* reused */
};

/* The tables; of a database that no other process uses. Empties the log but for its last row. */
MUST_CHECK enum status shared_log_prepare(sqlite3 *handle, const char *path, struct strbuf *why);

/* E_VERSION: those who have it open write another format. */
MUST_CHECK enum status shared_log_check(sqlite3 *handle, const char *path, struct strbuf *why);

/* Where the log is in the snapshot of the loader, and the metas of the node in it. */
MUST_CHECK enum status shared_log_open(struct shared_log *log, sqlite3 *handle, sqlite3 *snapshot,
                                       const char *node, struct feed *metas, const char *path,
                                       struct strbuf *why);
void shared_log_release(struct shared_log *log);

/* Has another connection committed since the last call? */
bool shared_log_has_news(struct shared_log *log);

/* Feeds what others have written since; *ret_is_new: something. E_CORRUPT: the log was cut or the
 * database replaced, and nothing is right any more. */
MUST_CHECK enum status shared_log_read(struct shared_log *log, struct feed *feed, bool *ret_is_new);

/* Inside a transaction that has read the log: adds the changes. */
MUST_CHECK enum status shared_log_add(struct shared_log *log, const struct feed *changes,
                                      int64_t *ret_stamp);
/* After the commit. */
void shared_log_added(struct shared_log *log, int64_t stamp);

/* Is it time to trim it? */
bool shared_log_is_long(const struct shared_log *log);
/* Inside a transaction: removes what is read by all, whose least seq this is. */
MUST_CHECK enum status shared_log_trim(struct shared_log *log, int64_t least);

MUST_CHECK enum status shared_log_set_meta(struct shared_log *log, const char *node,
                                           const struct store_set_meta *meta);

/* ---- store_shared_marks.c: the node of each job's newest run ---- */

/* From now on the rules find and write it, by statements of the log. */
void shared_marks_use(struct sqlite_db *db, struct shared_log *log);

/* Those of the first picture; SQLite's result. The table's items are the caller's to release. */
MUST_CHECK int shared_marks_load(sqlite3 *snapshot, struct table *marks);
uint32_t shared_marks_find(const struct table *marks, const struct id *uid);

/* ---- store_shared_seat.c: the files of the openers ---- */

enum { SEAT_NAME_SIZE = 34 }; /* PROCESS-NUMBER, and NUL */

/* What a seat tells, apart from the heartbeat. */
struct seat_head {
    uint64_t format;
    uint64_t process; /* whose it is: boot, pid namespace, pid, start time */
    int64_t pid;
    int64_t seq;        /* how far its opener has read the log; 0: not known yet */
    int64_t joined_us;  /* boot time; 0: it is no node */
    int64_t back_by_ms; /* boot time until which it is alive without its lock; 0: not */
    char node[64];
};

struct own_seat {
    const char *folder;
    char name[SEAT_NAME_SIZE];
    int fd, lock_fd; /* -1: none */
    struct seat_head head;
    struct strbuf json; /* heartbeat */
};

struct seat {
    struct seat *next;
    char name[SEAT_NAME_SIZE];
    int fd, lock_fd; /* lock_fd -1: of this process, or gone */
    struct seat_head head;
    struct peer peer; /* of a node */
    uint64_t json_check;
    bool is_ours; /* another handle of this process */
    bool is_node, is_alive, is_listed;
    bool is_told; /* the feed has it like that */
};

uint64_t shared_process(void);

MUST_CHECK enum status own_seat_take(struct own_seat *seat, const char *folder, struct strbuf *why);
MUST_CHECK enum status own_seat_write(struct own_seat *seat);
/* Is the file still there, and locked by this process? It is locked again if need be. */
bool own_seat_holds(struct own_seat *seat);
/* `is_kept`: the file stays, without its lock, until head.back_by_ms. */
void own_seat_leave(struct own_seat *seat, bool is_kept);

/* Reads all seats but `own`, and removes those of the dead. */
MUST_CHECK enum status seats_read(struct seat **list, const struct own_seat *own);
void seats_forget_dead(struct seat **list);                            /* after they were told */
void seat_remove(const struct own_seat *own, const struct seat *seat); /* its files */
void seats_release(struct seat **list);
/* Removes every seat: nobody has the folder open. */
void seats_clear(const char *folder);
/* The least seq that an opener has read, of those that are alive. */
int64_t seats_least_seq(const struct seat *list, int64_t own_seq);

/* ---- store_shared_bell.c ---- */

struct bell {
    int event_fd;  /* requests of the loop */
    int watch_fd;  /* inotify; -1: none, and looks are frequent */
    int commit_fd; /* nodes/bell */
    int beat_fd;   /* nodes/beats */
};

struct bell_news {
    bool has_commit, has_beat; /* perhaps */
};

MUST_CHECK enum status bell_open(struct bell *bell, const char *folder, struct strbuf *why);
void bell_close(struct bell *bell);
void bell_ring_commit(const struct bell *bell);
void bell_ring_beat(const struct bell *bell);
void bell_call(const struct bell *bell); /* from any thread: ends bell_wait */
struct bell_news bell_wait(const struct bell *bell, int64_t timeout_ms);

/* ---- store_shared_file.c ---- */

/* Locks the folder, creates or migrates the database if nobody else has it, and opens it. */
MUST_CHECK enum status shared_open_files(const char *dir, const char *path, const char *folder,
                                         int *ret_lock_fd, sqlite3 **ret, struct strbuf *why);

/* Who holds the database's write lock; 0: not known. */
long shared_writer_pid(const char *path);

/* ---- the store ---- */

struct shared_nodes {
    bool is_asked;    /* there is a heartbeat to be written */
    bool is_in;       /* this node is registered */
    struct peer self; /* the last heartbeat */
    struct own_seat seat;
    struct seat *others;
    int64_t renewed_ms; /* boot time of the last renewal of the lead */
    char leader[64];    /* as told last */
};

struct store_shared {
    struct store base;
    struct store_wake wake;
    struct strbuf path, folder; /* DIR/peal.db, DIR/nodes */
    char node[64];
    int lock_fd;
    struct bell bell;

    /* The loop's. */
    struct sqlite_loader *loader;
    struct feed first;  /* metas and nodes of the first picture ... */
    struct table marks; /* ... and the nodes of the newest runs */
    struct feed feed;
    struct feed_item *held;
    bool closing;
    struct strbuf asides;

    /* The worker's. */
    struct sqlite_db *db;
    struct shared_log log;
    struct shared_nodes nodes;
    pthread_t worker;
    int64_t busy_until_ms; /* boot time until which a transaction waits for others */
    bool is_cut_off;       /* the log can't be followed any more */

    /* Everybody's. */
    _Atomic int64_t leads_until_ms; /* boot time */
    _Atomic bool looks;             /* somebody may be gone: look at once */
    pthread_mutex_t mutex;
    struct request_list waiting, answered;
    struct feed changes;
    struct peer told; /* the heartbeat to be written ... */
    bool is_told;     /* ... if there is one */
    bool stopping;
    enum status trouble, membership;
    struct strbuf trouble_text, membership_text;
};

/* store_shared_worker.c */
void *shared_worker_main(void *context);
MUST_CHECK enum status shared_begin(struct store_shared *store);

/* store_shared_nodes.c; called by the worker, but for the first. Changes go to `changes`. */
MUST_CHECK enum status shared_nodes_first(struct store_shared *store, struct strbuf *why);
void shared_nodes_step(struct store_shared *store, bool is_news, struct feed *changes);
bool shared_nodes_may_claim(struct store_shared *store);
void shared_nodes_leave(struct store_shared *store);

#endif
