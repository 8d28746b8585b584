/* Reads the bytes of a TZif file (RFC 9636): its 64-bit block and its footer. Every count and
 * length is checked before it is believed. Pure. */
#ifndef PEAL_TZIF_H
#define PEAL_TZIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"
#include "zone/posix_tz.h"

enum {
    TZIF_MAGIC_LENGTH = 4,
    TZIF_TRANSITIONS_MAX = 16384, /* real files have some 250 */
};

/* What a file says, reduced to offsets: names and daylight saving flags are checked and dropped. */
struct tzif {
    int32_t first_offset_s; /* before any change */
    struct offset_change *changes;
    size_t count;
    bool has_rule;
    struct posix_tz rule;
    int64_t rule_from_s; /* the file's last transition, be it a change of offset or not;
                            INT64_MIN when it has none */
};

/* Do these bytes begin like a TZif file? */
bool tzif_has_magic(const void *bytes, size_t length);

/* E_CORRUPT: *reterr (column 0) says what is wrong. *ret is released by tzif_release(). */
MUST_CHECK enum status tzif_parse(const void *bytes, size_t length, struct tzif *ret,
                                  struct parse_error *reterr);
void tzif_release(struct tzif *tzif);

#endif
