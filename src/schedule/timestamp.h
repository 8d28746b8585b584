/* Instants as text: RFC 3339, to the second. Pure. */
#ifndef PEAL_TIMESTAMP_H
#define PEAL_TIMESTAMP_H

#include <stdint.h>

#include "status.h"
#include "strbuf.h"
#include "zone/zone.h"

/* `2027-01-01T00:00:00Z`, `2027-01-01T08:00:00+08:00`, or without an offset a local time in `zone`
 * (`2027-01-01T08:00`, `2027-01-01 08:00:00`, `2027-01-01`). A local time that a gap skips is the
 * instant of the transition; one that happens twice is its first pass. */
MUST_CHECK enum status timestamp_parse(const char *text, int column, const struct zone *zone,
                                       int64_t *ret_s, struct parse_error *reterr);

/* 2026-03-08T07:00:00Z */
void timestamp_print_utc(int64_t utc_s, struct strbuf *out);

/* 2026-03-08T03:00:00-04:00 */
void timestamp_print_local(int64_t utc_s, const struct zone *zone, struct strbuf *out);

#endif
