/* The configuration of an agent, from its command line and its configuration file. */
#ifndef PEAL_AGENT_CONFIG_H
#define PEAL_AGENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "config/settings.h"
#include "jobs/quota.h"
#include "node_store.h"
#include "status.h"
#include "strbuf.h"

/* What a setting was given as. */
struct setting_given {
    char *text;   /* NULL: it has its default */
    char *origin; /* "/etc/peal/peal.yaml:3", "--listen", "PEAL_LISTEN" */
};

struct agent_config {
    char *data;          /* the data folder, absolute */
    char *log_file;      /* NULL: stderr */
    bool json_log;       /* its lines are JSON */
    char *file;          /* the configuration file; NULL: none */
    char *options;       /* kept in the data folder for the next restart; NULL: none */
    char *timezone;      /* default of jobs; NULL: the machine's */
    char *allow_file;    /* users that jobs may run as; NULL: the spawner's default */
    char *secrets_dir;   /* NULL: /etc/peal/secrets, or in the data folder if it is not root's */
    char *secret_key;    /* NULL: secret.key in the data folder */
    char *default_user;  /* default of jobs; NULL: the agent's own, unless that is root */
    bool has_sandbox;    /* `sandbox` was configured; default: on */
    bool no_sandbox;     /* no sandbox, see sandbox.h */
    bool with_jobs;      /* its jobs end when it stops: it waits for their ends */
    int max_running;     /* 0: no limit */
    int64_t keep_runs;   /* per job; 0: no limit */
    int64_t keep_s;      /* age; 0: no limit */
    int64_t keep_bytes;  /* of output, per job; 0: no limit */
    int64_t total_bytes; /* of output, of all jobs; 0: no limit */
    int64_t audit_s;     /* age of the audit trail; 0: no limit */
    int64_t stats_s;     /* age of statistics, of all jobs; 0: no limit */

    struct quotas quotas;

    bool has_store; /* `store` was configured; default: sqlite */
    struct store_url store;
    struct server_access etcd, redis;
    char *history;       /* URL of a shared history; NULL: not configured; "": SQLite */
    int64_t spool_bytes; /* of what waits for it; 0: the default */

    /* Announced to the other nodes. */
    char node_id[64];  /* empty: that of the data folder */
    char labels[512];  /* as in struct peer */
    char address[128]; /* of its API for other machines; empty: none */
    unsigned roles;    /* enum peer_role */
    int capacity;      /* 0: the number of processors */

    /* The API on TCP, for nodes with PEER_API. */
    char *listen;             /* addresses, separated by commas; NULL: the default; "none" */
    char *peer_listen;        /* where other nodes read its history; NULL: the default; "none" */
    char *hosts;              /* host names of this server, likewise; NULL: none */
    char *tls_cert, *tls_key; /* NULL: those of `peal tls init`, if they exist */
    char *trusted_proxies;    /* as proxy.h reads them; NULL: none */
    char *http_allow;         /* as call_address.h reads them; NULL: none */
    char *public_url;         /* of its console, for links in messages; NULL: none */
    char *heartbeat_url;      /* that the leader pings; NULL: none */
    int64_t heartbeat_every_s;
    char *notify_ca;        /* PEM; authorities for receivers' certificates; NULL: the system's */
    char *otlp_endpoint;    /* of a collector of OpenTelemetry; NULL: none */
    char *otlp_headers;     /* for it, as otlp_headers_parse reads them; NULL: none */
    bool no_traces;         /* no spans are sent */
    int64_t otlp_metrics_s; /* how often metrics are sent; 0: never */
    unsigned facades;       /* enabled facades; of facade.h */

    struct setting_given given[SETTINGS_MAX]; /* by setting_index */
};

/* Defaults: 1,000 runs per job and 90 days are kept, the audit trail for 400 days; quotas as in
 * docs/CONFIG.md. */
void agent_config_init(struct agent_config *config);
void agent_config_release(struct agent_config *config);

/* Sets one value from the command line or the file. E_INVALID: *reterr; E_NOMEM. */
MUST_CHECK enum status agent_config_set_store(struct agent_config *config, const char *text,
                                              struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_history(struct agent_config *config, const char *text,
                                                struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_role(struct agent_config *config, const char *text,
                                             struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_node_id(struct agent_config *config, const char *text,
                                                struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_capacity(struct agent_config *config, const char *text,
                                                 struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_address(struct agent_config *config, const char *text,
                                                struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_listen(struct agent_config *config, const char *text,
                                               struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_proxies(struct agent_config *config, const char *text,
                                                struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_http_allow(struct agent_config *config, const char *text,
                                                   struct parse_error *reterr);
/* A user name; its existence is not checked, since user databases may be unreachable for a
 * while. */
MUST_CHECK enum status agent_config_set_default_user(struct agent_config *config, const char *text,
                                                     struct parse_error *reterr);
/* "on" or "off" */
MUST_CHECK enum status agent_config_set_sandbox(struct agent_config *config, const char *text,
                                                struct parse_error *reterr);
/* "Europe/Berlin"; E_INVALID: there is no such zone. */
MUST_CHECK enum status agent_config_set_timezone(struct agent_config *config, const char *text,
                                                 struct parse_error *reterr);
/* "text" or "json" */
MUST_CHECK enum status agent_config_set_log_format(struct agent_config *config, const char *text,
                                                   struct parse_error *reterr);
/* "https://peal.example.com" */
MUST_CHECK enum status agent_config_set_public_url(struct agent_config *config, const char *text,
                                                   struct parse_error *reterr);
/* "http://127.0.0.1:4318" */
MUST_CHECK enum status agent_config_set_otlp_endpoint(struct agent_config *config, const char *text,
                                                      struct parse_error *reterr);
/* "name=value,other=value" */
MUST_CHECK enum status agent_config_set_otlp_headers(struct agent_config *config, const char *text,
                                                     struct parse_error *reterr);
/* "on" or "off" */
MUST_CHECK enum status agent_config_set_otlp_traces(struct agent_config *config, const char *text,
                                                    struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_heartbeat_url(struct agent_config *config, const char *text,
                                                      struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_heartbeat_every(struct agent_config *config,
                                                        const char *text,
                                                        struct parse_error *reterr);
/* A size of 1MiB or more. */
MUST_CHECK enum status agent_config_set_history_spool(struct agent_config *config, const char *text,
                                                      struct parse_error *reterr);
/* "dkron,tutorial" */
MUST_CHECK enum status agent_config_set_facades(struct agent_config *config, const char *text,
                                                struct parse_error *reterr);
MUST_CHECK enum status agent_config_set_peer_listen(struct agent_config *config, const char *text,
                                                    struct parse_error *reterr);
/* "zone=eu"; adds a label, or replaces one of the same name. */
MUST_CHECK enum status agent_config_add_label(struct agent_config *config, const char *text,
                                              struct parse_error *reterr);

/* "team=500": the quota of a namespace. */
MUST_CHECK enum status agent_config_set_namespace(struct agent_config *config, const char *text,
                                                  struct parse_error *reterr);

/* Sets any value, or adds one pair, and notes where it comes from. */
MUST_CHECK enum status agent_config_give(struct agent_config *config, const struct setting *setting,
                                         const char *text, const char *origin,
                                         struct parse_error *reterr);

/* NULL: the setting has its default. */
const char *agent_config_origin(const struct agent_config *config, const struct setting *setting);

/* As it was given, else the default; NULL: neither. */
const char *agent_config_value(const struct agent_config *config, const struct setting *setting);

/* Gives a setting that has its default the value of the environment, if there is one: of
 * PEAL_NAME, or of the first line of the file that PEAL_NAME_FILE names. `ret->text` is the
 * caller's in any case, NULL: neither is set. E_INVALID: *reterr. */
struct setting_found {
    char variable[SETTING_VARIABLE_SIZE];
    char *text;
};
MUST_CHECK enum status agent_config_take_variable(struct agent_config *config,
                                                  const struct setting *setting,
                                                  struct setting_found *ret,
                                                  struct parse_error *reterr);

/* What a reload has changed: "timezone=UTC, max_running=5", and what waits for the next start. */
struct config_reload {
    struct strbuf taken, later;
};

/* Reads config->file and the environment again and takes over the settings that are marked so.
 * Nothing changes unless all of it is valid. */
MUST_CHECK enum status agent_config_reload(struct agent_config *config, struct config_reload *ret,
                                           struct strbuf *why);

/* Reads config->file, and then the files *.yaml in conf.d beside it, into *config. E_INVALID,
 * E_NOT_FOUND, E_IO: *why names file, line and mistake. */
MUST_CHECK enum status agent_config_read(struct agent_config *config, struct strbuf *why);

/* That folder; NULL: no file is configured, or out of memory. */
char *agent_config_folder(const struct agent_config *config);

/* How its store is reached; valid as long as the configuration. */
struct store_access agent_config_store(const struct agent_config *config);

#endif
