/* A history in front of another one, which may be away: what that does not take is written to
 * DIR/spool and delivered later, in order, once each. Appends that are waiting keep those that come
 * after them waiting, too. Reads, retention and statistics go to the other history as they are.
 *
 * The spool has a limit. Near it, the oldest output is dropped: the run then says how much is
 * missing. Ends of runs are never dropped; should even they not fit, the append fails. */
#ifndef PEAL_HISTORY_SPOOL_H
#define PEAL_HISTORY_SPOOL_H

#include "history.h"

/* 0: as said here. */
struct history_spool_limits {
    int64_t max_bytes;  /* 256 MiB */
    int retry_first_ms; /* 500: before the other one is tried again; doubles each time */
    int retry_last_ms;  /* 15,000: but not longer than this */
};

struct history_spool_stats {
    int64_t waiting_records, waiting_bytes; /* now */
    int64_t spooled_records;                /* since it was opened, and so are all below */
    int64_t delivered_records;
    int64_t dropped_chunks, dropped_bytes; /* of output */
    int64_t refused_records;               /* the other history called them invalid */
    int64_t damaged_segments;              /* files that could not be read to their ends */
};

/* `inner` was opened with the same `wake` and is the spool's, also when this fails. DIR must be
 * there. E_IO; E_VERSION: written by a newer peal; E_NOMEM. *why says what to do. */
MUST_CHECK enum status history_spool_open(const char *dir,
                                          const struct history_spool_limits *limits,
                                          struct history *inner, struct history_wake wake,
                                          struct history **ret, struct strbuf *why);

/* `history` is what history_spool_open gave. */
void history_spool_stats(struct history *history, struct history_spool_stats *ret);

#endif
