/* The HTTP API (docs/API.md), on a UNIX socket and on TCP. Stateless: it reads the engine's catalog
 * and open runs, asks the history, and changes things by requests to the store; the store's feed
 * brings them to the engine. Runs on the agent's loop and never blocks it. SIGPIPE must be ignored:
 * clients go away when they like. */
#ifndef PEAL_API_H
#define PEAL_API_H

#include "auth/throttle.h"
#include "engine.h"
#include "http.h"
#include "jobs/quota.h"
#include "language.h"
#include "live_output.h"
#include "loop.h"
#include "node_question.h"

struct api;
struct notifier;
struct otlp;
struct known_secrets;

/* The default user of jobs on this node. */
struct jobs_user {
    char name[64];    /* "": none; jobs without a user are not started */
    bool is_shared;   /* the agent's own user: jobs can read and change its files */
    bool ok;          /* no warning applies */
    char detail[512]; /* the same as text */
};

/* The process that starts the jobs of this node. */
struct spawner_state {
    pid_t pid;                      /* 0: none was reached yet */
    char version[32], revision[64]; /* "": not known */
    bool ok;                        /* it is the program that was installed with the agent */
    char detail[384];               /* all of that in words */
};

/* What the agent has given up, see docs/SECURITY.md. */
struct sandbox_state {
    bool ok;          /* complete */
    bool memory;      /* its memory is closed to other processes of its user */
    bool privileges;  /* can't be regained */
    bool seccomp;     /* filters system calls */
    int landlock;     /* its ABI version; 0: files are not confined */
    char detail[512]; /* the same as text */
};

struct api_config {
    const char *socket_path; /* created with mode 0600; a stale one is replaced */
    const char *version;
    const char *node;
    const char *data_dir;
    const char *store_url;  /* for people: "sqlite", "etcd://..."; without secrets */
    const char *default_tz; /* of jobs that name none */
    int64_t started_ms;
    int64_t undelete_s; /* how long a deleted job can be restored: 7 days */

    const char *const *listen; /* on TCP, as listen_parse reads them */
    size_t listen_count;
    bool listen_if_free;            /* an address in use is left out */
    const char *tls_cert, *tls_key; /* PEM files; NULL: TCP is plain */
    const char *const
        *hosts; /* further host names of this server, besides its addresses and localhost */
    size_t host_count;
    const char *trusted_proxies; /* as proxy_list_parse reads them; NULL: none */
    unsigned facades;            /* of facade.h; 0: none */
    struct http_limits limits;   /* of each listener; 0: the default */
    size_t unread_events;        /* limit of unread bytes of events; 0: the default */
    struct quotas quotas;        /* 0: no limit */
    struct rate known_rate;      /* limit of requests on TCP per account or token, and ... */
    struct rate unknown_rate;    /* ... per address without one; 0: the default */
};

/* Since when the history has the trouble that it has; 0: it has none. */
struct history_trouble {
    int64_t unwell_ms;
    int64_t full_ms; /* what waits for it fills this node's spool, or can't be written there */
};

struct api_ports {
    struct loop *loop;
    struct engine *engine;
    struct store *store;
    struct history *history;
    const struct history_trouble *history_trouble; /* as it is now; NULL: nobody looks */
    struct zone_db *zones;
    struct entropy entropy;
    struct live_output output;
    struct live_elsewhere elsewhere; /* the output of other nodes */
    struct node_asker messages;      /* what other nodes have sent; ask NULL: there are none */
    struct event_log log;            /* write NULL: no log */
    struct notifier *notifier;       /* NULL: no notifications */
    const struct otlp *otlp;         /* NULL: no collector is configured */
    struct known_secrets *secrets;   /* NULL: none can be kept */
    /* Why the own history of another node can't be read, as the rest of a sentence after its name;
     * "": it can. NULL: the nodes share one history. */
    const char *(*history_state)(void *context, const struct known_peer *known);
    /* Their details are in the language of the caller. NULL: it starts nothing. */
    void (*jobs_user)(void *context, enum language language, struct jobs_user *ret);
    void (*spawner)(void *context, enum language language, struct spawner_state *ret);
    /* The same of peal-call, which makes HTTP calls; false: there was none yet. */
    bool (*caller)(void *context, enum language language, struct spawner_state *ret);
    /* NULL: there is none to tell of. */
    void (*sandbox)(void *context, enum language language, struct sandbox_state *ret);
    /* Whether the process that connected to the UNIX socket is of a run, or that can't be told:
     * then its user alone gives it no rights. NULL: it starts nothing. */
    bool (*may_be_run)(void *context, int fd);
    /* A change of the feed, which the engine and the API have taken in. NULL: nobody waits. */
    void (*take_change)(void *context, const struct store_change *change);
    void (*ended)(void *context); /* a call has ended, or the like: a graceful stop may go on */
    void (*drain)(void *context);
    /* Lifts the halt after the store was restored from a backup, as `by` decided; `done` comes
     * once, from the loop. E_NOT_FOUND: no halt; E_BUSY: under way already. NULL: not possible. */
    enum status (*advance)(void *context, const char *by,
                           void (*done)(void *context, enum status st), void *done_context);
    void *context;
};

/* Texts are copied. E_IO, E_INVALID, E_BUSY: *why says what is wrong with an address, the socket or
 * the certificate, and what to do. An address that others can reach needs TLS, and an account: see
 * api_check_exposed. OK with text in *why: addresses that were left out. */
MUST_CHECK enum status api_new(const struct api_config *config, const struct api_ports *ports,
                               struct api **ret, struct strbuf *why);

/* Whether api_new could listen on the addresses, with the certificate: a trial that opens and
 * closes each, except for ports that are held, by an agent that ends before. Else as api_new says.
 */
MUST_CHECK enum status api_try_listen(const struct api_config *config, const int *held,
                                      size_t held_count, struct strbuf *why);

/* To be called when the jobs are loaded. E_INVALID: an address that others can reach is open, but
 * there is no account; *why says what to do. Until then nobody is admitted. */
MUST_CHECK enum status api_check_exposed(const struct api *api, struct strbuf *why);

/* Drops open calls; requests to store and history must have been answered. */
struct api *api_free(struct api *api);

/* Appends all metrics, as GET /metrics shows them. */
void api_print_metrics(const struct api *api, struct strbuf *out);

/* The default time zone of jobs from now on. E_NOMEM: unchanged. */
MUST_CHECK enum status api_set_timezone(struct api *api, const char *zone_name);

/* From now on; existing jobs stay. E_NOMEM: unchanged. */
MUST_CHECK enum status api_set_quotas(struct api *api, const struct quotas *quotas);

/* Reads the certificate and its key again. On failure the old one stays, and *why says why. */
MUST_CHECK enum status api_reload_tls(struct api *api, struct strbuf *why);

/* Calls under way, and answers that have been sending for less than a second; without event
 * streams. */
size_t api_open_requests(const struct api *api);

/* May a graceful end go on? Neither those are open nor changes that the history is about to take.
 */
bool api_is_idle(const struct api *api);

/* Of all listeners: open connections; bytes that clients have not read yet; connections closed for
 * time or memory, ever. */
size_t api_connections(const struct api *api);
size_t api_unsent(const struct api *api);
uint64_t api_cut(const struct api *api);

/* The TCP port of the i-th address of the configuration; 0: none. */
int api_port(const struct api *api, size_t i);

#endif
