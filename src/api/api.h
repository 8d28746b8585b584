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
#include "loop.h"

struct api;
struct notifier;

/* Output of a run that the history does not have yet, from byte `offset` of the whole output on. */
struct live_output {
    /* At most `limit` bytes of chunks, released with `release`. */
    enum status (*read)(void *context, const struct id *run_id, int64_t offset, size_t limit,
                        struct output_chunk **ret, size_t *ret_count);
    void (*release)(void *context, struct output_chunk *chunks, size_t count);
    void *context;
};

/* Whom jobs run as on this node that name no user. */
struct jobs_user {
    char name[64];    /* "": nobody; they are not started */
    bool is_shared;   /* with the agent's files: jobs can read and change them */
    bool ok;          /* nothing of it should be different */
    char detail[512]; /* all of that in words */
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
    bool ok;          /* all of it */
    bool memory;      /* closed to other processes of its user */
    bool privileges;  /* can't be had back */
    bool seccomp;     /* filters system calls */
    int landlock;     /* its version; 0: files are not confined */
    char detail[512]; /* all of that in words */
};

struct api_config {
    const char *socket_path; /* created with mode 0600; a stale one is replaced */
    const char *version;
    const char *node;
    const char *data_dir;
    const char *store_url;  /* for people: "sqlite", "etcd://..."; without secrets */
    const char *default_tz; /* of jobs that name none */
    int64_t started_ms;
    int64_t undelete_s; /* how long a deleted job can be brought back: 7 days */

    const char *const *listen; /* on TCP, as listen_parse reads them */
    size_t listen_count;
    bool listen_if_free;            /* one that is taken by somebody else is left out */
    const char *tls_cert, *tls_key; /* PEM files; NULL: TCP is plain */
    const char *const *hosts;       /* by which it is called besides its addresses and localhost */
    size_t host_count;
    const char *trusted_proxies; /* as proxy_list_parse reads them; NULL: none */
    unsigned facades;            /* of facade.h; 0: none */
    struct http_limits limits;   /* of each listener; what is 0 is the default */
    size_t unread_events;   /* bytes of events that subscribers may leave unread; 0: the default */
    struct quotas quotas;   /* what is 0 has no limit */
    struct rate known_rate; /* of requests on TCP: of one account or token, and ... */
    struct rate unknown_rate; /* ... of one address without; what is 0 is the default */
};

struct api_ports {
    struct loop *loop;
    struct engine *engine;
    struct store *store;
    struct history *history;
    struct zone_db *zones;
    struct entropy entropy;
    struct live_output output;
    struct event_log log;      /* write NULL: no log */
    struct notifier *notifier; /* is told of channels; NULL: there are none */
    /* Why the history of another node, which is its own, can't be read, behind its name; "": it
     * can. NULL: there is one history for all. */
    const char *(*history_state)(void *context, const struct known_peer *known);
    void (*jobs_user)(void *context, struct jobs_user *ret);   /* NULL: it starts nothing */
    void (*spawner)(void *context, struct spawner_state *ret); /* NULL likewise */
    const struct sandbox_state *sandbox;                       /* NULL: there is none to tell of */
    /* Whether the process that connected to the UNIX socket is of a run, or that can't be told:
     * then its user alone gives it no rights. NULL: it starts nothing. */
    bool (*may_be_run)(void *context, int fd);
    void (*step)(void *context); /* ask for a turn of the engine soon */
    void (*drain)(void *context);
    /* Goes on with a store that was restored from a backup, on the word of `by`; `done` comes once,
     * from the loop. E_NOT_FOUND: it was not; E_BUSY: it is under way. NULL: it can't be. */
    enum status (*advance)(void *context, const char *by,
                           void (*done)(void *context, enum status st), void *done_context);
    void *context;
};

/* Texts are copied. E_IO, E_INVALID, E_BUSY: *why says what is wrong with an address, the socket or
 * the certificate, and what to do. An address that others can reach needs TLS, and an account: see
 * api_check_exposed. OK with words in *why: what was left out. */
MUST_CHECK enum status api_new(const struct api_config *config, const struct api_ports *ports,
                               struct api **ret, struct strbuf *why);

/* Once the jobs are loaded: E_INVALID if an address that others can reach is open while there is no
 * account; *why says what to do. Until then nobody gets in. */
MUST_CHECK enum status api_check_exposed(const struct api *api, struct strbuf *why);

/* Answers that are still open are given up; requests to store and history must have been answered.
 */
struct api *api_free(struct api *api);

/* Of jobs that name none from now on. E_NOMEM: it is still the old one. */
MUST_CHECK enum status api_set_timezone(struct api *api, const char *zone_name);

/* From now on; what is there already stays. E_NOMEM: the old ones hold. */
MUST_CHECK enum status api_set_quotas(struct api *api, const struct quotas *quotas);

/* Reads the certificate and its key again; what is wrong is in *why, and the old one stays. */
MUST_CHECK enum status api_reload_tls(struct api *api, struct strbuf *why);

/* Calls under way, and answers that are being sent since less than a second, for a graceful end;
 * streams of events do not count. */
size_t api_open_requests(const struct api *api);

/* Of all listeners: open connections; bytes that their clients have not taken yet; connections that
 * were cut because they took too long or too much, ever. */
size_t api_connections(const struct api *api);
size_t api_unsent(const struct api *api);
uint64_t api_cut(const struct api *api);

/* The TCP port of the i-th address of the configuration; 0: there is none. */
int api_port(const struct api *api, size_t i);

#endif
