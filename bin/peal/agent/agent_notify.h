/* Connects the engine's ends with the notifier. */
#ifndef PEAL_AGENT_NOTIFY_H
#define PEAL_AGENT_NOTIFY_H

#include "agent_log.h"
#include "agent_otlp.h"
#include "config/agent_config.h"
#include "node_question.h"
#include "notifier.h"
#include "ports.h"
#include "program/records_taken.h"
#include "state/catalog.h"
#include "watch/watch.h"

MUST_CHECK enum status agent_notify_new(const struct agent_config *config, struct loop *loop,
                                        const char *node, struct zone_db *zones,
                                        struct agent_log *log, struct notifier **ret,
                                        struct strbuf *why);

/* What the teller needs besides; the watch may come later. */
struct notify_context {
    struct notifier *notifier;
    const struct watch *watch; /* NULL: nobody watches lengths */
    struct agent_otlp *otlp;   /* gets the spans of programs' runs, too */
};

struct teller agent_notify_teller(const struct notify_context *context);

/* The messages of this node, for the others. */
struct own_answer agent_notify_messages(struct notifier *notifier);

/* People are told of the ends of programs' runs by the agent that takes their records. */
enum { TOLD_RUNS = 1024 };
struct program_teller {
    const struct notify_context *notify;
    const struct catalog *catalog;
    struct id told[TOLD_RUNS]; /* the last ones: records may come again */
    size_t next;
};
struct records_observer agent_notify_observer(struct program_teller *teller,
                                              const struct notify_context *notify,
                                              const struct catalog *catalog);

/* ---- agent_pings.c ---- */

struct agent_pings;
struct store;

/* All but the notifier's are borrowed, and outlive it; so does the notifier. */
MUST_CHECK enum status agent_pings_new(const struct agent_config *config, struct loop *loop,
                                       const char *node, struct notifier *notifier,
                                       struct store *store, struct agent_pings **ret);
struct agent_pings *agent_pings_free(struct agent_pings *pings);

/* A change of a run in the feed: pings if this node has begun it. */
void agent_ping_start(struct agent_pings *pings, const struct run *run,
                      const struct catalog_job *stored);

/* Whether the job may have an address for pings; and the ping of an end, if it has. */
bool agent_has_ping(const struct catalog_job *job);
void agent_ping_end(struct notifier *notifier, const struct run *run, const struct job *job,
                    const char *output, size_t length);

/* `context` is the configuration. */
bool agent_refuses_ping(void *context, const struct sockaddr *address, char why[POST_WHY]);

#endif
