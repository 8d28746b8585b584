/* A Redis that is played: one server, in front of the keys and revisions of the etcd that is played
 * (etcd_model.h), so that the world of etcd can be the world around it. It does what
 * redis_script.lua does, and the few commands beside it. It stands in for redis_wire.c; all of the
 * client above that is the product's: its links, openings, feed, leases and calls.
 *
 * A server that is restored has lost what it acknowledged; sometimes under the same incarnation, as
 * a replica that lagged and was promoted: then only the tags tell. One without a leader is frozen,
 * and does later what it was told; members that are down are one that was killed. In most
 * lives with a near server it has a replica, which takes the place of one that was killed, and
 * lacks what had not got to it by then: play_replica.c. The first member is the server; one of the
 * others that is down alone is the replica, frozen. */
#ifndef PEAL_SIM_REDIS_PLAY_H
#define PEAL_SIM_REDIS_PLAY_H

#include <hiredis/hiredis.h>

#include "etcd_serve.h"
#include "strbuf.h"

struct play_tag {
    int64_t tag;
    char *branches;
};

struct play_lease {
    int64_t id, ttl_ms, beats, renewed_ms;
    char seat[128]; /* on which its owner has compared last */
};

struct play_text {
    size_t length;
    char *bytes; /* ends with 0 */
};

enum { PLAY_ARGS_MAX = 24 };

struct play_command {
    int argc;
    struct play_text argv[PLAY_ARGS_MAX];
    TAILQ_ENTRY(play_command) entry;
    int64_t due_ms;
};
TAILQ_HEAD(play_commands, play_command);

struct play_answer {
    redisReply *reply;  /* NULL: */
    const char *closed; /* why it ends; NULL: it is open */
    TAILQ_ENTRY(play_answer) entry;
    int64_t due_ms;
};
TAILQ_HEAD(play_answers, play_answer);

/* A connection; it lives on when the client has given it up, as long as something is on its way. */
struct play_conn {
    struct play *play;
    struct redis_wire *wire; /* NULL: it was given up */
    struct loop *loop;
    int machine;
    int64_t id;
    struct play_commands up;
    struct play_answers down;
    int64_t last_up_ms, last_down_ms; /* what is sent later arrives later */
    struct task up_task, down_task, block_task;
    bool is_ended, is_stuck, reads_feed;
    bool is_blocked; /* in an XREAD, after: */
    int64_t blocked_after;
    int64_t queued_after; /* of the XRANGE in a MULTI, and how many at most */
    size_t queued_most;
    bool is_in_wait; /* or in a WAIT, which then finds that so many replicas have it: */
    int waited_for;
    int64_t waited_ms; /* when it last began to */
    TAILQ_ENTRY(play_conn) entry;
};
TAILQ_HEAD(play_conns, play_conn);

struct play_pending;
TAILQ_HEAD(play_pendings, play_pending);

struct play {
    struct etcd_serve *serve;
    struct etcd_model *model;
    struct stage *stage;
    struct net *net;
    struct arena arena;
    int64_t incarnation;
    int runs; /* how often it was started */
    int64_t frozen_until_ms, down_until_ms;
    struct play_tag *tags; /* by revision */
    size_t tag_room;
    struct play_lease *leases;
    size_t lease_count, lease_room;
    struct play_conns conns;
    int64_t conns_made;

    bool has_replica, is_replica_frozen;
    int histories; /* that have begun with a replica */
    int64_t replica_since_ms;
    int64_t replica_lag_ms, replica_at_ms; /* when it has what was done up to now */
    struct play_pendings pending;          /* changes that it does not have yet */
    struct task replica_task, back_task;
};

/* ---- play_wire.c ---- */

/* Ends the connection: what is on its way to the server is dropped. */
void play_conn_end(struct play_conn *conn, const char *why);
void play_conns_end(struct play *play, const char *why);
void play_answer(struct play_conn *conn, redisReply *reply);
/* It goes on with the commands that wait behind a reading. */
void play_conn_unblock(struct play_conn *conn);
void play_conns_release(struct play *play);
bool play_is_up(const struct play *play);

/* ---- play.c ---- */

/* Its answer; NULL: it is blocked, and answered later. */
redisReply *play_do(struct play_conn *conn, const struct play_command *command);
/* Whoever waits for changes is told. */
void play_tell(struct play *play);
void play_set_incarnation(struct play *play, int64_t incarnation);
void play_note_tag(struct play *play, int64_t before, int64_t tag, const char *branches);
struct play_lease *play_find_lease(struct play *play, int64_t id);
redisReply *play_head(struct play *play);

/* ---- play_replica.c ---- */

void play_replica_init(struct play *play);
void play_replica_begin(struct play *play, int64_t latency_ms); /* with the first connection */
void play_replica_release(struct play *play);
/* A revision was made: the replica gets it, and then the oracle; without one, the oracle at once.
 */
void play_replica_changed(struct play *play, struct model_version *const *versions, size_t count);
void play_replica_catch_up(struct play *play); /* it has all of it now */
/* What is frozen gets nothing; it gets all when it goes on. */
void play_replica_freeze(struct play *play, bool is_frozen);
/* The connection waits for the replica; then its answer is this. */
void play_replica_wait(struct play_conn *conn, int64_t timeout_ms);
redisReply *play_replica_waited(struct play_conn *conn);
/* It takes the place of the server, which was killed. False: it can't. */
bool play_replica_promote(struct play *play);

/* ---- play_txn.c ---- */

redisReply *play_txn(struct play *play, const struct play_text *args);
/* An entry as the script has it: four numbers of 8 bytes, and the value. */
void play_entry(struct strbuf *to, const struct model_version *version);

/* ---- play_reply.c ---- */

redisReply *reply_int(long long number);
redisReply *reply_bytes(const void *bytes, size_t length);
redisReply *reply_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
redisReply *reply_error(const char *text);
redisReply *reply_status(const char *text);
redisReply *reply_nil(void);
redisReply *reply_array(size_t count);                  /* its elements are to be filled in */
void reply_add(redisReply *array, redisReply *element); /* one more */

#endif
