/* Which ticks of a job have started already, for the time after the clock was set back.
 *
 * The cursor moves back with the clock, and `high_ms` keeps its former position. Ticks up to
 * high_ms have started and never start again, except in the gaps: spans that the cursor passed
 * without a start. Such a tick is open: it starts at its time. Pure. */
#ifndef PEAL_REWINDS_H
#define PEAL_REWINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tick_gap {
    int64_t from_ms, to_ms;
};

/* When there are more gaps, the oldest is dropped: its ticks count as started. */
enum { REWIND_GAPS_MAX = 4, REWIND_GAPS_TEXT = REWIND_GAPS_MAX * 44 };

struct rewinds {
    int64_t count;   /* how often the cursor was moved back; only grows */
    int64_t high_ms; /* latest position of the cursor; 0: the cursor is not behind it */
    int gap_count;
    struct tick_gap gaps[REWIND_GAPS_MAX]; /* sorted by time; disjoint and not adjacent */
};

/* The cursor moves on from `from_ms` to `to_ms`. The ticks after from_ms, up to and including
 * `unstarted_ms`, did not start (unstarted_ms == from_ms: all due ticks started). */
void rewinds_move_on(struct rewinds *rewinds, int64_t from_ms, int64_t to_ms, int64_t unstarted_ms);

/* The cursor moves back from `from_ms`. */
void rewinds_move_back(struct rewinds *rewinds, int64_t from_ms);

/* A tick starts without a move of the cursor. False: it is in no gap, and nothing is changed. */
bool rewinds_start(struct rewinds *rewinds, int64_t tick_ms);

/* Is the tick after high_ms, or in a gap? */
bool rewinds_is_open(const struct rewinds *rewinds, int64_t tick_ms);

/* Are all instants from `from_ms` to `to_ms` open? */
bool rewinds_are_open(const struct rewinds *rewinds, int64_t from_ms, int64_t to_ms);

/* The first open instant at or after `after_ms`. */
int64_t rewinds_next_open(const struct rewinds *rewinds, int64_t after_ms);

/* The gaps as text, "from-to,from-to". False: the text is invalid, and *rewinds has no gaps. */
void rewinds_write_gaps(const struct rewinds *rewinds, char text[static REWIND_GAPS_TEXT]);
bool rewinds_read_gaps(struct rewinds *rewinds, const char *text);

#endif
