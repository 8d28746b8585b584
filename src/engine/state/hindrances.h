/* The last spans of wall time in which this node could not start runs, each with its reason, and
 * with the programs and labels of the nodes that could: a job that one of them may run was not
 * hindered. */
#ifndef PEAL_HINDRANCES_H
#define PEAL_HINDRANCES_H

#include <stdbool.h>
#include <stddef.h>

#include "run.h"

enum { HINDRANCES_MAX = 16, HINDRANCE_MERGE_MS = 2000 };

struct hindrance {
    enum run_reason reason;
    int64_t from_ms, to_ms;
    char *others; /* the nodes that could start runs, each with a line: its program, a blank, its
                   * labels; NULL: none could */
};

/* In order of time. Zeroed: empty. */
struct hindrances {
    struct hindrance spans[HINDRANCES_MAX];
    size_t count;
};

void hindrances_release(struct hindrances *hindrances);

/* Adds a span, or extends the last one if it has the same reason and others (NULL: none), and ended
 * at most HINDRANCE_MERGE_MS before. Out of memory: the span is not noted. */
void hindrances_note(struct hindrances *hindrances, enum run_reason reason, const char *others,
                     int64_t from_ms, int64_t now_ms);

/* What was noted last has gone on from `from_ms`, if it was noted up to then, until now. */
void hindrances_go_on(struct hindrances *hindrances, int64_t from_ms, int64_t now_ms);

/* The clock was set back to `now_ms`: cuts off the spans there. */
void hindrances_set_back(struct hindrances *hindrances, int64_t now_ms);

/* Could no node start a run of a job with this `where` (eligible.h) in that span? */
bool hindrance_is_of(const struct hindrance *span, const char *where);

/* The reason of the latest span with this time that is one of the job's, by its `where`;
 * REASON_NONE: there is none. */
enum run_reason hindrances_at(const struct hindrances *hindrances, const char *where,
                              int64_t start_ms);

/* The same for a run of this node alone, which no other could start. */
enum run_reason hindrances_here_at(const struct hindrances *hindrances, int64_t start_ms);

#endif
