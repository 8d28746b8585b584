/* The check of what every store on servers of its own needs. */
#ifndef PEAL_DOCTOR_KV_H
#define PEAL_DOCTOR_KV_H

#include "kv.h"
#include "service/doctor.h"

/* Advice is looked up, as that of report_add. */
struct doctor_server {
    const char *prefix;
    const char *when_refused; /* a request failed */
    const char *when_slow;    /* a write took long */
};

/* Writes, reads, a watch, a delete, all with a lease; how long each takes. */
void doctor_kv(struct report *report, struct loop *loop, struct kv_client *client,
               const struct doctor_server *server);

#endif
