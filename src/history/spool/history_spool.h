/* A buffer on disk in front of another (inner) history, whose server may be away: appends that the
 * inner history does not accept are written to DIR/spool and delivered later, in order. While
 * records wait there, later appends go to the spool, too. Pages and logs have what waits, marked,
 * and name the database as absent while it does not answer; other requests go straight to the inner
 * history.
 *
 * The spool has a size limit. Near it, the oldest output is dropped, and a gap in the run's output
 * tells how much. Ends of runs are never dropped: if they do not fit, the append fails. */
#ifndef PEAL_HISTORY_SPOOL_H
#define PEAL_HISTORY_SPOOL_H

#include "history.h"

/* 0: the default named here. */
struct history_spool_limits {
    int64_t max_bytes;  /* 256 MiB */
    int retry_first_ms; /* 500: back-off before the next delivery; doubles each time. None when the
                           inner history is well again */
    int retry_last_ms;  /* 1,500: longest back-off */
};

struct history_spool_stats {
    int64_t waiting_records, waiting_bytes; /* now */
    int64_t spooled_records;                /* this and all below: since the spool was opened */
    int64_t delivered_records;
    int64_t dropped_chunks, dropped_bytes; /* of output */
    int64_t refused_records;               /* rejected by the inner history with E_INVALID */
    int64_t damaged_segments;              /* files that could not be read to the end */
};

/* `inner` was opened with the same `wake`. The spool takes it over, and frees it on failure. DIR
 * must exist. E_IO; E_VERSION: written by a newer peal; E_NOMEM. *why says what to do. */
MUST_CHECK enum status history_spool_open(const char *dir,
                                          const struct history_spool_limits *limits,
                                          struct history *inner, struct history_wake wake,
                                          struct history **ret, struct strbuf *why);

/* `history` must come from history_spool_open. */
void history_spool_stats(struct history *history, struct history_spool_stats *ret);

#endif
