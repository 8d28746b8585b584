/* The system's time zones, loaded when first asked for and shared. The only part of this layer
 * that reads files. One thread at a time may call get and refresh; the zones themselves may be
 * read from any thread that does not run beside a refresh. */
#ifndef PEAL_ZONE_DB_H
#define PEAL_ZONE_DB_H

#include "status.h"
#include "strbuf.h"
#include "zone/zone.h"

struct cron_memo;
struct zone_db;

/* `dir` NULL: /usr/share/zoneinfo. No file is read yet. */
MUST_CHECK enum status zone_db_new(const char *dir, struct zone_db **ret);

/* Frees the zones too: nothing may use them any more. */
struct zone_db *zone_db_free(struct zone_db *db);

/* OK: *ret is the database's and lives as long as it; "UTC" and "Etc/UTC" are zone_utc() and need
 * no file. E_INVALID: no such zone; *reterr (column 0) names it and the nearest names: unknown time
 * zone "Mars/X"; did you mean ...? E_CORRUPT, E_IO: *reterr says which file and why, or that there
 * is no time zone data at all. */
MUST_CHECK enum status zone_db_get(struct zone_db *db, const char *name, const struct zone **ret,
                                   struct parse_error *reterr);

/* What parsing remembers (cron_memo.h) lies here, since who parses has this at hand: for the same
 * thread as get. Accepts NULL. NULL: out of memory. */
struct cron_memo *zone_db_memo(struct zone_db *db);

/* Checks whether tzdata was updated (file identity, size and time) and loads the new rules in
 * place: pointers from zone_db_get stay valid. A file that is gone or damaged leaves the old rules
 * in force and is named in *problems (may be NULL), a line each. *ret_changed counts the zones
 * whose rules differ now; plans made with them must be made again. E_NOMEM: no zone was changed. */
MUST_CHECK enum status zone_db_refresh(struct zone_db *db, int *ret_changed,
                                       struct strbuf *problems);

/* Name of the machine's own zone: $TZ when it names a zone (empty: UTC, as everywhere), else what
 * /etc/localtime points to, else /etc/timezone, else "UTC". Appends to *out. False: $TZ names no
 * zone and was ignored. */
bool zone_db_local_name(const struct zone_db *db, struct strbuf *out);

#endif
