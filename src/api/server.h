/* Internals that the files of this layer share: the server, its listeners, its calls. */
#ifndef PEAL_SERVER_H
#define PEAL_SERVER_H

#include <sys/queue.h>
#include <sys/types.h>

#include "api.h"
#include "auth/accounts.h"
#include "auth/guesses.h"
#include "auth/hasher.h"
#include "auth/one_time.h"
#include "auth/throttle.h"
#include "batch/batch_keep.h"
#include "call.h"
#include "cluster/node_loads.h"
#include "confirm.h"
#include "definition/undecoded.h"
#include "hooks/webhook.h"
#include "idempotency.h"
#include "jobs/quota.h"
#include "live/metrics.h"
#include "proxy.h"
#include "trail.h"

struct events;
struct http_server;

/* The UNIX socket, or one address. */
struct listener {
    struct api *api;
    struct http_server *http;
    bool is_tcp;
    bool is_exposed; /* others can reach it */
    char *text;      /* the address as it was given */
    char host[64];   /* the same in a URL; empty: any address of the machine */
    int port;
};

struct api {
    char *socket_path, *version, *node, *data_dir, *store_url, *default_tz;
    char **hosts;
    size_t host_count;
    int64_t started_ms;
    int64_t undelete_s;
    struct proxy_list proxies;
    unsigned hidden; /* flags of hidden routes: disabled facades */
    struct api_ports ports;
    struct server_tls *tls;     /* NULL: TCP is plain */
    struct listener *listeners; /* the first is the UNIX socket */
    size_t listener_count;
    bool owns_path;    /* the socket file is ours */
    uid_t own_uid;     /* besides root, the only user who may use the UNIX socket */
    char own_user[64]; /* looked up once: user databases can be slow */
    struct call_list calls;
    size_t call_count;
    size_t large_bytes;       /* of large bodies that calls hold */
    struct call_list ready;   /* answered by store or history: to continue in the next turn */
    struct loop_timer *later; /* fires in that turn */
    struct confirms confirms;
    struct idempotency idempotency;
    struct kept_batches kept;
    bool counts_herd; /* a call of herd/herd_read.c is under way */
    struct trail trail;
    struct events *events;
    struct metrics metrics;
    struct node_loads node_loads;
    struct made_id last_made;   /* by call_make_id */
    struct made_id last_change; /* of a noted change */
    struct accounts accounts;
    struct undecoded undecoded;
    struct webhooks webhooks;
    struct loop_timer *hooks_timer; /* sweeps old deliveries; set while there are any */
    bool is_hooks_timer_set;
    struct loop_timer *mutes_timer; /* sweeps old mutes, likewise */
    bool is_mutes_timer_set;
    struct hasher *hasher;
    struct one_time one_time;
    struct limits limits;
    struct guesses guesses;
    struct rate known_rate, unknown_rate;
    struct quotas quotas;
    struct quota_sum held; /* reserved by requests to the store that are not answered yet ... */
    TAILQ_HEAD(put_list, job_puts) puts; /* ... which are these */
    struct table streams;                /* open streams per account */
};

/* ---- entry.c: setup and login ---- */

/* Takes in a change of the feed. When all is loaded and there is no account, opens the setup. */
void entry_take(struct api *api, const struct store_change *change);

/* "https://host:7325", of the first TCP address; false: none. */
bool entry_url(const struct api *api, struct strbuf *out);

/* The session cookie; the text "" ends the session. */
const char *session_cookie_name(const struct call *call);
void set_session_cookie(struct call *call, const char *text, int64_t max_age_s);

/* The device cookie of the caller, if this device has logged in as `name`; false: unknown. */
bool find_device(const struct call *call, const char *name, struct device *ret);

/* Sets the cookies of session and device after a login. */
void set_login_cookies(struct call *call, const char *name, const char *text, int64_t max_age_s);

/* Stores when a token was last used; a failure is left to the next use. */
void token_note_use(struct api *api, struct token *token, int64_t now_ms);

/* ---- the way of a call ---- */

/* The callbacks of http.h, which bring a request to its handler; the context is the listener. */
void dispatch_head(void *context, struct http_request *request);
void dispatch_request(void *context, struct http_request *request);
void dispatch_too_large(void *context, struct http_request *request, uint64_t length);

/* Authenticates and authorizes the caller; false: the call is answered. `route` may be NULL. */
bool guard_admit(struct call *call, const struct route *route);

/* The same again when the body is complete, which can take minutes. */
bool guard_still_admits(struct call *call);

#endif
