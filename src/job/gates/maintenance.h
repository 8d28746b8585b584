/* Maintenance: a span of time in which nothing is started by its schedule, in the cluster or in a
 * namespace. One that is not planned to end is a pause. A document in the store for each, which
 * stays for a while after its end: ticks of that time are decided by it, too. Pure. */
#ifndef PEAL_MAINTENANCE_H
#define PEAL_MAINTENANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "id.h"
#include "job_name.h"
#include "status.h"

#define MAINTENANCE_DOC "maintenance" /* kind of the document; its name is an id */

enum {
    MAINTENANCE_REASON_MAX = 150,                  /* bytes */
    MAINTENANCE_MAX = 200,                         /* that have not ended */
    MAINTENANCE_KEPT_MS = 7 * 24 * 60 * 60 * 1000, /* after the end */
};

struct maintenance {
    char id[ID_TEXT + 1];
    int64_t revision;              /* of the document */
    char space[NAMESPACE_MAX + 1]; /* namespace; empty: the whole cluster */
    bool is_pause;
    int64_t from_ms, to_ms; /* from <= t < to; to 0: until somebody ends it */
    int64_t set_ms;         /* when and by whom it was made */
    char by[64];
    char reason[MAINTENANCE_REASON_MAX + 1]; /* for people; may be empty */
};

/* E_INVALID: it is none, or of a newer peal. */
MUST_CHECK enum status maintenance_decode(const char *id, const char *json,
                                          struct maintenance *ret);

/* NULL: out of memory. */
char *maintenance_encode(const struct maintenance *maintenance);

bool maintenance_is_active(const struct maintenance *maintenance, int64_t now_ms);

/* Is the job's start at this time in it? */
bool maintenance_covers(const struct maintenance *maintenance, const char *job_name, int64_t at_ms);

/* Is the job in the namespace? "": the cluster. */
bool maintenance_space_has(const char *space, const char *job_name);

/* "the cluster" or "namespace shop" when it has no reason of its own: the detail of its ledger
 * entries. */
void maintenance_tell(const struct maintenance *maintenance, char *ret, size_t size);

#endif
