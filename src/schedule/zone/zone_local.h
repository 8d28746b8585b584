/* The name of the machine's own time zone. */
#ifndef PEAL_ZONE_LOCAL_H
#define PEAL_ZONE_LOCAL_H

#include <stdbool.h>

#include "strbuf.h"

/* Appends to *out the zone that `tz` (the value of $TZ, or NULL) names in the database at `dir`,
 * else the one that localtime in `etc_dir` links to, else the one that timezone in `etc_dir` names,
 * else "UTC". False: `tz` names no zone and was ignored. */
bool zone_local_name(const char *dir, const char *tz, const char *etc_dir, struct strbuf *out);

#endif
