/* Pings of jobs, for a service outside that misses them: Healthchecks' protocol. A run's start is
 * URL/start, its success URL, its failure URL/EXITCODE or URL/fail; each with rid=UUID, the run's
 * id, and an end with the last lines of output as body. In order for each job, retried for a while,
 * and in memory alone: what never comes is what the service looks for. */
#ifndef PEAL_PINGER_H
#define PEAL_PINGER_H

#include "send/sender.h"

enum ping_kind { PING_START, PING_SUCCESS, PING_FAILURE };

struct ping {
    enum ping_kind kind;
    const char *url;
    const char *job;           /* "": the agent's own heartbeat, to any address */
    struct id job_uid, run_id; /* of a heartbeat: zero */
    int exit_code;             /* of a failure; -1: none */
    const char *output;        /* text; NULL: none */
};

struct ping_stats {
    uint64_t sent, failed, given_up; /* attempts failed */
    size_t waiting;
};

struct pinger;

struct pinger_config {
    struct sender *sender;
    struct loop *loop;
    int64_t retry_first_ms, retry_last_ms, give_up_ms;
    /* Why this address is not for pings; false: it may be reached. NULL: all may be. */
    bool (*refuses)(void *context, const struct sockaddr *address, char why[POST_WHY]);
    void *refuses_context;
    /* It was given up. */
    void (*given_up)(void *context, const struct ping *ping, int tries, const char *why);
    void *context;
};

MUST_CHECK enum status pinger_new(const struct pinger_config *config, struct pinger **ret);
/* Those that wait are dropped; before the sender. */
struct pinger *pinger_free(struct pinger *pinger);

/* Copies the ping. A start that has failed already makes way for what comes after it. */
void pinger_send(struct pinger *pinger, const struct ping *ping);

struct ping_stats pinger_stats(const struct pinger *pinger);

/* URL/start?rid=..., before a query that the URL has. */
void ping_print_url(const struct ping *ping, struct strbuf *out);

#endif
