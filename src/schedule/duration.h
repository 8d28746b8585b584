/* `1h30m`, `90s`, `2d`, `1w`: spans of time as people write them. Pure. */
#ifndef PEAL_DURATION_H
#define PEAL_DURATION_H

#include <stdint.h>

#include "status.h"
#include "strbuf.h"

/* Units w d h m s, each at most once and from large to small; no sign, no fraction, no white space.
 * *ret_s is 0 or more. `column` is where `text` starts in what the user typed, for *reterr. */
MUST_CHECK enum status duration_parse(const char *text, int column, int64_t *ret_s,
                                      struct parse_error *reterr);

/* The shortest spelling that parses to the same value: 5400 -> "1h30m", 0 -> "0s". */
void duration_print(int64_t seconds, struct strbuf *out);

#endif
