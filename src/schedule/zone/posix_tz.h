/* The rule in the footer of a TZif file: a POSIX TZ string with the extensions of RFC 9636, such as
 * "EST5EDT,M3.2.0,M11.1.0" or "<-02>2<-01>,M3.5.0/-1,M10.5.0/0". Pure. */
#ifndef PEAL_POSIX_TZ_H
#define PEAL_POSIX_TZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "civil.h"
#include "status.h"

enum posix_day_kind {
    POSIX_DAY_OF_YEAR,        /* n: 0-365, February 29 is counted */
    POSIX_DAY_WITHOUT_LEAP,   /* Jn: 1-365, February 29 cannot be named */
    POSIX_DAY_WEEK_AND_MONTH, /* Mm.w.d: the w-th weekday d of month m, 5 is the last */
};

/* A moment of every year, in the local time that it ends. */
struct posix_moment {
    enum posix_day_kind kind;
    int day; /* of the year, or of the week (0 = Sunday) */
    int week, month;
    int32_t time_s; /* from that day's midnight; may be negative or longer than a day */
};

struct posix_tz {
    int32_t
        standard_s; /* local = UTC + standard_s, as everywhere in peal; POSIX has the sign turned */
    bool has_dst;
    int32_t dst_s;
    struct posix_moment dst_begin, dst_end;
};

/* From start_s on, local time is UTC + offset_s. */
struct offset_change {
    int64_t start_s;
    int32_t offset_s;
};

/* E_INVALID: *reterr says where (column) and why. The text needs no terminator. */
MUST_CHECK enum status posix_tz_parse(const char *text, size_t length, struct posix_tz *ret,
                                      struct parse_error *reterr);

enum {
    POSIX_TZ_CHANGES_MAX = 2 * (CYCLE_YEARS + 1),
};

/* The rule written out for one cycle of the calendar. *ret_offset_s holds at from_s; changes[] gets
 * every change of offset after from_s, up to but without the one that comes CYCLE_S after the
 * first: from there on all repeats. Returns their number, 0 if the offset never changes. from_s
 * must be some cycles away from the ends of the 64-bit axis. */
size_t posix_tz_cycle(const struct posix_tz *tz, int64_t from_s, int32_t *ret_offset_s,
                      struct offset_change changes[static POSIX_TZ_CHANGES_MAX]);

#endif
