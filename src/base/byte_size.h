/* `512KiB`, `2GB`: amounts of bytes as people write them. Pure. */
#ifndef PEAL_BYTE_SIZE_H
#define PEAL_BYTE_SIZE_H

#include <stdint.h>

#include "status.h"

#define BYTE_SIZE_LIKE "a size like 65536, 512KiB, 1MiB or 2GiB"

/* Digits and a unit: none, B, KB, MB, GB, KiB, MiB or GiB. *ret is min to max. */
MUST_CHECK enum status byte_size_parse(const char *text, int64_t min, int64_t max, int64_t *ret,
                                       struct parse_error *reterr);

#endif
