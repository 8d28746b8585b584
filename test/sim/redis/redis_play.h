/* A Redis that is played: a server of keys (../keys/play.h) that does what redis_script.lua does,
 * and the few commands beside it. It stands in for redis_wire.c; all of the client above that is
 * the product's: its links, openings, feed, leases and calls.
 *
 * A server that is restored has lost what it acknowledged; sometimes under the same incarnation, as
 * a replica that lagged and was promoted: then only the tags tell. In most lives with a near server
 * it has a replica, which takes the place of one that was killed, and lacks what had not got to it
 * by then: redis_replica.c. */
#ifndef PEAL_SIM_REDIS_PLAY_H
#define PEAL_SIM_REDIS_PLAY_H

#include <hiredis/hiredis.h>

#include "play.h"

struct redis_text {
    size_t length;
    char *bytes; /* ends with 0 */
};

enum { WORDS_MAX = 24 };

struct redis_words {
    int argc;
    struct redis_text argv[WORDS_MAX];
};

struct redis_conn {
    struct line line;      /* first; busy: in an XREAD, ... */
    int64_t blocked_after; /* ... which waits for what comes after that, ... */
    int64_t queued_after;  /* of the XRANGE in a MULTI, and how many at most */
    size_t queued_most;
    bool is_in_wait; /* ... or in a WAIT, which then finds that so many replicas have it: */
    int waited_for;
    int64_t waited_ms;  /* when it last began to, ... */
    int64_t told_ms;    /* ... and when it was last told that there is a replica */
    int64_t asked_ms;   /* for the replica that came then ... */
    int asked_too_late; /* ... it began so many readings of the feed when it should have asked */
};

struct play_pending;
TAILQ_HEAD(play_pendings, play_pending);

struct redis_play {
    struct play base; /* first */
    bool has_replica, is_replica_frozen;
    int histories; /* that have begun with a replica */
    int64_t replica_since_ms;
    int64_t replica_lag_ms, replica_at_ms; /* when it has what was done up to now */
    struct play_pendings pending;          /* changes that it does not have yet */
    struct task replica_task, back_task;
};

/* ---- redis_lines.c ---- */

extern const struct line_ops redis_line_ops;

/* ---- redis_play.c ---- */

/* Its answer; NULL: it is blocked, and answered later. */
redisReply *redis_do(struct redis_conn *conn, const struct redis_words *words);
/* Whoever waits for changes is told. */
void redis_tell(struct play *play);
void redis_set_incarnation(struct play *play, int64_t incarnation);
redisReply *script_head(struct play *play);

/* ---- redis_replica.c ---- */

void replica_init(struct redis_play *play);
void replica_begin(struct redis_play *play, int64_t latency_ms); /* with the first connection */
void replica_release(struct redis_play *play);
/* A revision was made: the replica gets it, and then the oracle; without one, the oracle at once.
 */
void replica_changed(struct redis_play *play, struct model_version *const *versions, size_t count);
void replica_catch_up(struct redis_play *play); /* it has all of it now */
/* What is frozen gets nothing; it gets all when it goes on. */
void replica_freeze(struct redis_play *play, bool is_frozen);
/* The connection asks how many there are; or begins to read the feed. */
void replica_told(struct redis_conn *conn, const struct redis_play *play);
void replica_read(struct redis_conn *conn, const struct redis_play *play);
/* The connection waits for the replica; then its answer is this. */
void replica_wait(struct redis_conn *conn, int64_t timeout_ms);
redisReply *replica_waited(struct redis_conn *conn);
/* It takes the place of the server, which was killed. False: it can't. */
bool replica_promote(struct redis_play *play);

/* ---- redis_txn.c ---- */

redisReply *script_txn(struct play *play, const struct redis_text *args);
/* An entry as the script has it: four numbers of 8 bytes, and the value. */
void script_entry(struct strbuf *to, const struct model_version *version);

/* ---- redis_reply.c ---- */

redisReply *reply_int(long long number);
redisReply *reply_bytes(const void *bytes, size_t length);
redisReply *reply_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
redisReply *reply_error(const char *text);
redisReply *reply_status(const char *text);
redisReply *reply_nil(void);
redisReply *reply_array(size_t count);                  /* its elements are to be filled in */
void reply_add(redisReply *array, redisReply *element); /* one more */

#endif
