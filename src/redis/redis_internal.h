/* What the files of the client share.
 *
 *     redis_client.c    made and freed
 *     redis_place.c     the URL
 *     redis_wire.c      a socket: commands out, replies in
 *     redis_opening.c   what is asked on a new connection before it is used
 *     redis_info.c      what a server says of itself, and whether that will do
 *     redis_command.c   commands on their way out
 *     redis_words.c     what an error means
 *     redis_sentinel.c  which server is the master
 *     redis_replicas.c  how many replicas there are, while a connection is open
 *     redis_link.c      a connection that is kept up: jobs, and WAIT for replicas
 *     redis_call.c      a request: sent, sent again, answered
 *     redis_encode.c    a transaction as the script takes it
 *     redis_decode.c    what the script answers
 *     redis_list.c      a long range
 *     redis_feed.c      the reading of the feed, for watches
 *     redis_lease.c     renewals, and leases of others that have run out */
#ifndef PEAL_REDIS_INTERNAL_H
#define PEAL_REDIS_INTERNAL_H

#include "kv_feed.h"
#include "kv_observer.h"
#include "kv_request.h"
#include "kv_shape.h"
#include "redis.h"
#include "redis_info.h"
#include "redis_place.h"
#include "redis_report.h"
#include "redis_wire.h"

enum { REDIS_FORMAT = 1, REDIS_ENTRY_HEAD = 32, REDIS_LEASES_MAX = 32 };

/* ---- commands ---- */

/* The script, with two first lines. Redis refuses the first kind when its memory is full. */
enum redis_script {
    REDIS_MAY_GROW,
    REDIS_MAY_NOT_GROW,
    REDIS_SCRIPTS,
    REDIS_NO_SCRIPT, /* a plain command */
};

enum { REDIS_ARGS_MAX = 8, REDIS_DATA_KEYS = 11, REDIS_SHA = 40 };

struct redis_command {
    enum redis_script script;
    int argc;
    const char *argv[REDIS_ARGS_MAX]; /* a script's: what it does comes first */
    size_t lengths[REDIS_ARGS_MAX];
};

void redis_add(struct redis_command *command, const void *bytes, size_t length);
void redis_adds(struct redis_command *command, const char *text);

/* The names of the data, below the prefix of the place. */
struct redis_keys {
    char text[REDIS_DATA_KEYS][REDIS_PREFIX_MAX + 16];
    char shas[REDIS_SCRIPTS][REDIS_SHA + 1]; /* of the scripts, as the server has loaded them */
};

void redis_keys_init(struct redis_keys *keys, const char *prefix);
/* Those that are used by plain commands, too: their places in the script's list. */
enum redis_key {
    REDIS_KEY_META = 0,
    REDIS_KEY_FEED = 3,
    REDIS_KEY_TAGS = 4,
    REDIS_KEY_GUARD = 10, /* what is written before a WAIT */
};
MUST_CHECK enum status redis_send(struct redis_wire *wire, const struct redis_keys *keys,
                                  const struct redis_command *command);
/* The text of a script; from malloc. NULL: out of memory. */
char *redis_script_text(enum redis_script script);

/* ---- replies: everything is checked, as it comes from a stranger's server ---- */

/* Where the data stood: the first element of what the script answers. */
struct redis_head {
    int64_t rev, incarnation, tag, floor;
};

bool redis_read_number(const struct redisReply *reply, int64_t *ret); /* an integer, or its text */
bool redis_read_bytes(const struct redisReply *reply, struct kv_bytes *ret);
bool redis_read_head(const struct redisReply *reply, struct redis_head *ret);
/* The i-th element of an array; NULL: there is none. */
const struct redisReply *redis_at(const struct redisReply *array, size_t i);
/* A key and its entry; they point into the bytes. */
bool redis_read_pair(struct kv_bytes key, struct kv_bytes entry, struct kv_pair *ret);
uint64_t redis_cluster_id(int64_t incarnation);

/* What an error of the server means for a request. */
enum redis_verdict {
    REDIS_AGAIN,   /* nothing was done, and it passes */
    REDIS_LOST,    /* nothing was done; the connection is of no more use */
    REDIS_REFUSED, /* nothing was done */
};
enum redis_verdict redis_judge(const char *error, enum status *ret);
/* The error with what a person can do. */
void redis_explain(const struct redis_place *place, const char *message, struct strbuf *why);

/* ---- opening a connection ---- */

/* What is compared on a new connection: copied. */
struct redis_memory {
    struct kv_mark mark;
    char run_id[REDIS_RUN_ID]; /* of the connection before; "": none */
    char seat[REDIS_SEAT];
    int64_t client_id;                /* of the connection before, which is ended */
    int64_t leases[REDIS_LEASES_MAX]; /* our own */
    size_t lease_count;
    int replicas; /* that had to have a change there */
};

/* What is known of a connection that is open. */
struct redis_facts {
    struct redis_info server;
    struct redis_head head;
    int64_t client_id;
    int64_t clock_ms; /* of this machine, when the server told its own */
    int replicas;     /* that must have a change */
};

struct redis_client;
struct redis_opening;

/* Comes from the loop, once; the opening may be freed in it. OK: take the wire and the facts; else
 * `why` says why not. E_INVALID and E_VERSION do not pass by themselves. */
typedef void redis_opened(void *context, enum status st, const char *why);

MUST_CHECK enum status redis_opening_new(struct redis_client *client, const struct redis_host *host,
                                         bool is_for_calls, const struct redis_memory *memory,
                                         redis_opened *over, void *context,
                                         struct redis_opening **ret);
struct redis_wire *redis_opening_take(struct redis_opening *opening, struct redis_facts *ret,
                                      struct redis_keys *ret_keys);
struct redis_opening *redis_opening_free(struct redis_opening *opening);

/* ---- one connection that is kept up ---- */

struct redis_link;

/* A command and what becomes of it. */
struct redis_job {
    const struct redis_job_type *type;
    struct redis_job *next;
    void *context; /* of the type; NULL: it needs none */
    struct redis_command command;
    struct redisReply *reply; /* for `over`, which frees it or keeps it */
    bool is_dropped;          /* nobody waits for it any more */
    int replicas;             /* that the WAIT behind it waits for; 0: there is none */
    bool is_last;             /* of those that were sent before that WAIT */
};

struct redis_job_type {
    /* It is off the link; the reply may be an error. Lost: it may have been done, or not; as also
     * when too few replicas have it. */
    void (*over)(struct redis_job *job, bool is_lost);
    /* One that is dropped, when it is off the link; any, when the link is freed. */
    void (*free)(struct redis_job *job);
};

struct redis_queue {
    struct redis_job *first, **end;
};

struct redis_link {
    struct redis_client *client;
    bool is_for_calls;       /* requests and leases; else the feed */
    struct redis_wire *wire; /* NULL: not open */
    struct redis_opening *opening;
    struct loop_timer *timer; /* the next attempt; or the next look at a silent server */
    struct loop_timer *soon;  /* sends what has come in this turn */
    struct redis_facts facts; /* of the connection, or of the last one */
    struct redis_keys keys;
    struct redis_queue waiting, sent, held; /* held: answered, until the WAIT behind them is */
    int waits;                              /* that are under way */
    int marks; /* replies to come before the next of `sent`: the one before a WAIT, its own */
    struct strbuf why; /* the last failure */
    enum status status;
    int failures;
    int64_t heard_ms; /* when the server last sent anything, or a job was sent to an idle one */
    bool is_working;  /* replies are being handled */
    bool must_close;  /* after them: the connection is of no more use */
};

MUST_CHECK enum status redis_link_init(struct redis_link *link, struct redis_client *client,
                                       bool is_for_calls);
void redis_link_release(struct redis_link *link);
void redis_link_submit(struct redis_link *link, struct redis_job *job);
/* Takes a waiting job off; false: it was sent, or is not there. */
bool redis_link_withdraw(struct redis_link *link, struct redis_job *job);
/* Closes the connection, now or after the replies at hand, and opens another: jobs that were sent
 * are lost. */
void redis_link_lose(struct redis_link *link, const char *why);
/* Both: so that they are of one server again, and of one history of it. */
void redis_links_lose(struct redis_client *client, const char *why);
/* The same for another server, and at once; also if none is open yet. */
void redis_link_move(struct redis_link *link, const char *why);
void redis_job_drop_reply(struct redis_job *job);

/* ---- requests ---- */

enum redis_kind {
    REDIS_KIND_RANGE, /* as all up to TXN: a transaction */
    REDIS_KIND_PUT,
    REDIS_KIND_DELETE,
    REDIS_KIND_TXN,
    REDIS_KIND_GRANT,
    REDIS_KIND_REVOKE,
    REDIS_KIND_LOOK,
    REDIS_KIND_SETTLE,
};

struct redis_call {
    struct kv_request request; /* first */
    struct redis_job job;
    enum redis_kind kind;
    struct kv_shape *shapes; /* of the levels, from 1 */
    int level_count, op_count;
    int64_t tag, seen;
    char tag_text[24], seen_text[24];
    int64_t lease, ttl_ms;
    char lease_text[24], ttl_text[24];
};

struct redis_list;

enum { REDIS_READING = 6 }; /* commands of a reading of the feed */

/* Asks Sentinels, one after the other, and goes on asking the one that answers. */
struct redis_sentinel {
    struct redis_wire *wire; /* NULL: between two attempts */
    struct loop_timer *timer;
    size_t at; /* of the place's hosts */
    int skip;  /* replies that are nobody's */
    bool is_asked;
    int64_t changed_ms; /* when another one was turned to */
    char host[256];     /* of the master; "": not known yet */
    int port;
    struct strbuf why; /* the last failure */
};

struct redis_client {
    struct kv_client base; /* first */
    struct redis_place place;
    char *password;           /* NULL: none */
    SSL_CTX *tls;             /* NULL: plain */
    struct evdns_base *names; /* NULL: all hosts are addresses */
    struct redis_sentinel sentinel;
    struct redis_link calls, stream;
    struct kv_requests requests;
    struct redis_list *lists;
    int64_t newest; /* the highest revision of any answer */

    struct kv_feed feed;
    bool is_feed_asked, must_read_feed, is_unblocking;
    int64_t feed_count_ms; /* when the feed is to ask how many replicas there are */
    struct redis_job reading[REDIS_READING], unblock_job, compact_job;
    char feed_id[32], after_id[32], blocked_id[24];
    bool is_compacting;
    int64_t compacted;   /* the revision at which that was last thought of */
    uint64_t feed_bytes; /* that were read since */

    struct kv_observer observer;
    struct redis_job look_job;
    bool is_looking;
    struct loop_timer *look_timer;

    struct redis_job count_job;
    bool is_counting;
    struct loop_timer *count_timer;
};

/* What an answer brought. */
void redis_learn(struct redis_client *client, const struct redis_head *head);

/* redis_call.c */
MUST_CHECK enum status redis_calls_init(struct redis_client *client, int64_t deadline_ms);
enum status redis_range(struct kv_client *client, const struct kv_range *request,
                        const struct kv_reply *reply, struct kv_call **ret);
enum status redis_put(struct kv_client *client, const struct kv_put *request,
                      const struct kv_reply *reply, struct kv_call **ret);
enum status redis_delete(struct kv_client *client, const struct kv_delete *request,
                         const struct kv_reply *reply, struct kv_call **ret);
enum status redis_txn(struct kv_client *client, const struct kv_branches *txn,
                      const struct kv_reply *reply, struct kv_call **ret);
enum status redis_lease_grant(struct kv_client *client, int64_t ttl_s, const struct kv_reply *reply,
                              struct kv_call **ret);
enum status redis_lease_revoke(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                               struct kv_call **ret);
enum status redis_lease_look(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                             struct kv_call **ret);
enum status redis_lease_settle(struct kv_client *client, int64_t id, const struct kv_reply *reply,
                               struct kv_call **ret);
void redis_call_cancel(struct kv_call *call);
void redis_call_may_repeat(struct kv_call *call);

/* redis_encode.c: everything into the request's arena. */
MUST_CHECK enum status redis_encode_txn(struct redis_call *call, const struct kv_branches *txn);

/* redis_decode.c: what a transaction answered, into call->request.result. */
MUST_CHECK enum status redis_decode_txn(struct redis_call *call);
/* An item of the feed. */
bool redis_read_item(const struct redisReply *item, int64_t *ret_rev, struct kv_bytes *ret);
/* The events of a change, from malloc, in the order of its operations. False: it can't be read, or
 * out of memory. */
bool redis_read_events(struct kv_bytes change, int64_t rev, struct kv_event **ret,
                       size_t *ret_count);

/* redis_list.c */
enum status redis_list(struct kv_client *base, const struct kv_range *request,
                       const struct kv_reply *reply, struct kv_list **ret);
void redis_list_cancel(struct kv_list *list);
void redis_lists_release(struct redis_client *client);

/* redis_feed.c */
enum status redis_watch_new(struct kv_client *base, const struct kv_watch_config *config,
                            kv_watch_notify *notify, void *context, struct kv_watch **ret);
void redis_watch_free(struct kv_watch *watch);
void redis_watch_restart(struct kv_watch *watch);
void redis_feed_opened(struct redis_client *client);
void redis_feed_broken(struct redis_client *client, const char *why);
void redis_feed_release(struct redis_client *client);

/* redis_lease.c */
bool redis_lease_renew(struct kv_client *client, int64_t id);
void redis_leases_want(struct kv_client *client, bool are_any);
void redis_leases_doubt(struct kv_client *client);
MUST_CHECK enum status redis_leases_init(struct redis_client *client);
void redis_leases_release(struct redis_client *client);
void redis_leases_opened(struct redis_client *client);
void redis_leases_broken(struct redis_client *client);
/* What `look` answered. False: it can't be read. */
bool redis_leases_saw(struct redis_client *client, const struct redisReply *reply);
/* Since its renewal by the server's clock, by such an answer; 0: not known. */
int64_t redis_lease_age_ms(const struct redisReply *reply, int64_t id);
void redis_lease_end(struct redis_client *client, const struct kv_observed *lease);

/* redis_sentinel.c: does nothing without Sentinel. */
MUST_CHECK enum status redis_sentinel_init(struct redis_client *client);
void redis_sentinel_release(struct redis_client *client);
/* NULL: it is not known yet. *ret is a room for it. */
const struct redis_host *redis_master(struct redis_client *client, struct redis_host *ret);
void redis_sentinel_doubt(struct redis_client *client); /* that master can't be used */

/* redis_replicas.c */
enum { REDIS_COUNT_MS = 1000 }; /* between two questions on one connection */
/* What INFO answered on that connection: what is sent from now on waits for so many. */
void redis_replicas_take(struct redis_link *link, const struct redisReply *reply);
MUST_CHECK enum status redis_replicas_init(struct redis_client *client);
void redis_replicas_release(struct redis_client *client);
void redis_replicas_opened(struct redis_client *client); /* for calls */

#endif
