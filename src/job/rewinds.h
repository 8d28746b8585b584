/* What is decided of a job's ticks, beyond its cursor, for the time when the clock is set back.
 *
 * The cursor then moves back with the clock, and `high_ms` remembers where it was. Everything up to
 * there has started, and never starts again, but for the gaps: spans that the cursor went past
 * without a start. Ticks in those start at their time. Pure. */
#ifndef PEAL_REWINDS_H
#define PEAL_REWINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tick_gap {
    int64_t from_ms, to_ms;
};

/* More than so many: the oldest is dropped, so that what was in it counts as started. */
enum { REWIND_GAPS_MAX = 4, REWIND_GAPS_TEXT = REWIND_GAPS_MAX * 44 };

struct rewinds {
    int64_t count;   /* how often the cursor was moved back: grows */
    int64_t high_ms; /* where it was at most; 0: it is not behind that */
    int gap_count;
    struct tick_gap gaps[REWIND_GAPS_MAX]; /* by time; they do not touch */
};

/* The cursor moves on from `from_ms` to `to_ms`; nothing started of the ticks after from_ms, up to
 * and with `unstarted_ms` (from_ms: all that were due did). */
void rewinds_move_on(struct rewinds *rewinds, int64_t from_ms, int64_t to_ms, int64_t unstarted_ms);

/* The cursor moves back from `from_ms`. */
void rewinds_move_back(struct rewinds *rewinds, int64_t from_ms);

/* The tick gets a run without the cursor moving. False: it was in no gap, nothing is changed. */
bool rewinds_start(struct rewinds *rewinds, int64_t tick_ms);

/* Has the cursor to go over this instant again, and did nothing start then? */
bool rewinds_is_open(const struct rewinds *rewinds, int64_t tick_ms);

/* Is every instant from the one to the other? */
bool rewinds_are_open(const struct rewinds *rewinds, int64_t from_ms, int64_t to_ms);

/* No tick after `after_ms` is open before this instant, which is after_ms where it is open itself.
 */
int64_t rewinds_next_open(const struct rewinds *rewinds, int64_t after_ms);

/* The gaps as text, "from-to,from-to"; and back. False: it can't be read, and there are none. */
void rewinds_write_gaps(const struct rewinds *rewinds, char text[static REWIND_GAPS_TEXT]);
bool rewinds_read_gaps(struct rewinds *rewinds, const char *text);

#endif
