/* A time zone: local time as a list of spans of constant UTC offset. Reading a zone is pure and
 * reentrant; only zone_db_refresh() changes one. */
#ifndef PEAL_ZONE_H
#define PEAL_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"

struct zone;

/* [start_s, end_s) in UTC has this offset (local = UTC + offset). Neighbouring spans always differ
 * in offset. The first span starts at INT64_MIN, and the last ends at INT64_MAX, which counts as
 * part of it. */
struct zone_span {
    int64_t start_s, end_s;
    int32_t offset_s;
    int32_t previous_offset_s; /* of the span that ends at start_s; offset_s for the first */
};

/* The span that holds this instant; any 64-bit instant is fine. */
struct zone_span zone_span_at(const struct zone *zone, int64_t utc_s);

const char *zone_name(const struct zone *zone);

/* Built from the bytes of a TZif file (version 2 or newer; version 1 has only 32-bit times and is
 * refused). E_CORRUPT: *reterr says what is wrong. The bytes are not kept. */
MUST_CHECK enum status zone_from_tzif(const char *name, const void *bytes, size_t length,
                                      struct zone **ret, struct parse_error *reterr);
struct zone *zone_free(struct zone *zone);

/* Swaps the rules of two zones, not their names. False, and nothing done, when their spans are
 * equal, however differently their files spelled them. */
bool zone_swap_rules(struct zone *zone, struct zone *other);

/* UTC without any file; static, never freed. */
const struct zone *zone_utc(void);

#endif
