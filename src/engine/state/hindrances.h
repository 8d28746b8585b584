/* The last spans of wall time in which this node could not start runs, each with its reason. */
#ifndef PEAL_HINDRANCES_H
#define PEAL_HINDRANCES_H

#include <stddef.h>

#include "run.h"

enum { HINDRANCES_MAX = 16, HINDRANCE_MERGE_MS = 2000 };

struct hindrance {
    enum run_reason reason;
    int64_t from_ms, to_ms;
};

/* In order of time. Zeroed: empty. */
struct hindrances {
    struct hindrance spans[HINDRANCES_MAX];
    size_t count;
};

/* Adds a span, or extends the last one if it has the same reason and ended at most
 * HINDRANCE_MERGE_MS before. */
void hindrances_note(struct hindrances *hindrances, enum run_reason reason, int64_t from_ms,
                     int64_t now_ms);

/* The clock was set back to `now_ms`: cuts off the spans there. */
void hindrances_set_back(struct hindrances *hindrances, int64_t now_ms);

/* The reason of the latest span with this time; REASON_NONE: there is none. */
enum run_reason hindrances_at(const struct hindrances *hindrances, int64_t start_ms);

#endif
