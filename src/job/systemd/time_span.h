/* Time spans of systemd, as in OnBootSec=: "5h 30min", "1.5h", "90" (systemd.time(7)). Pure. */
#ifndef PEAL_TIME_SPAN_H
#define PEAL_TIME_SPAN_H

#include <stdint.h>

#include "status.h"

#define SPAN_INFINITE INT64_MAX

/* *ret_us: microseconds. A number without a unit is seconds. "infinity" is SPAN_INFINITE. */
MUST_CHECK enum status time_span_read(const char *text, int64_t *ret_us,
                                      struct parse_error *reterr);

#endif
