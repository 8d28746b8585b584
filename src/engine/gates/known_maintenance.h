/* Maintenance in the store: of the cluster and of namespaces, to come, under way, or over. */
#ifndef PEAL_KNOWN_MAINTENANCE_H
#define PEAL_KNOWN_MAINTENANCE_H

#include "gates/maintenance.h"
#include "store.h"
#include "table.h"

void known_maintenance_init(struct table *known);
void known_maintenance_release(struct table *known);

/* Takes in a document that was put or deleted. E_INVALID: it can't be read, and counts as
 * missing. */
MUST_CHECK enum status known_maintenance_take(struct table *known, const struct store_doc *doc);

/* What covers the job's start at this time: of several what ends last. NULL: nothing. */
const struct maintenance *known_maintenance_at(const struct table *known, const char *job_name,
                                               int64_t at_ms);

/* How many have not ended. */
size_t known_maintenance_open(const struct table *known, int64_t now_ms);

/* One that ended so long ago that it can go; NULL: none. */
const struct maintenance *known_maintenance_old(const struct table *known, int64_t now_ms);

#endif
