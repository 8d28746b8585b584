/* The check of what every store on servers of its own needs. */
#ifndef PEAL_DOCTOR_KV_H
#define PEAL_DOCTOR_KV_H

#include "kv.h"
#include "service/doctor.h"
#include "strbuf.h"

/* Advice is looked up, as that of report_add. */
struct doctor_server {
    const char *prefix;
    const char *when_refused; /* a request failed */
    const char *when_slow;    /* a write took long */
};

/* Writes, reads, a watch, a delete, all with a lease; how long each takes. */
void doctor_kv(struct report *report, struct loop *loop, struct kv_client *client,
               const struct doctor_server *server);

/* A server that is opened as a node opens it. */
struct doctor_kind {
    const char *name; /* of its first line */
    const char *when_refused, *when_slow;
    /* Reports how it is set up. Not OK: it could not be asked; *why may say why. */
    enum status (*tell)(struct report *report, const struct agent_config *config, struct loop *loop,
                        struct kv_client *client, struct strbuf *why);
};

/* Tries it first, as a node does: that says why it can't be used, and makes what is not there. Then
 * how it is set up, and doctor_kv. */
void doctor_opened(struct report *report, const struct agent_config *config,
                   const struct doctor_kind *kind);

/* ---- lines that every such server has ---- */

void doctor_clock(struct report *report, int64_t ahead_ms);
/* `next`: what to do when they are few. */
void doctor_connections(struct report *report, int64_t used, int64_t most, const char *next);

#endif
