/* 128-bit identifiers of jobs and runs: 48 bits of wall milliseconds and 80 random ones, so that
 * their text (26 letters and digits of Crockford's base 32) sorts by age. */
#ifndef PEAL_ID_H
#define PEAL_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "status.h"

enum { ID_TEXT = 26 };

struct id {
    uint8_t bytes[16];
};

/* `random` gives ten bytes. */
struct id id_make(struct wall_ms now, const uint8_t random[10]);

/* The next larger id, for a second one in the same millisecond. */
struct id id_next(const struct id *id);

/* Writes 26 characters and a NUL. */
void id_format(const struct id *id, char text[ID_TEXT + 1]);

/* Either case; I, L and O are read as 1, 1 and 0. E_INVALID when it is no id. */
MUST_CHECK enum status id_parse(const char *text, struct id *ret);

int id_compare(const struct id *a, const struct id *b);
bool id_is_zero(const struct id *id);

#endif
