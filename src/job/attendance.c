#include "attendance.h"

#include <jansson.h>
#include <stdio.h>

enum { SKEW_MS = 1000 }; /* the most between the clocks of two nodes */

/* The end of the year 9999: later values are invalid, and could overflow sums. */
static const int64_t latest_ms = INT64_C(253402300799999);

void attendance_encode(const struct attendance *attendance, char json[static ATTENDANCE_JSON_SIZE])
{
    snprintf(json, ATTENDANCE_JSON_SIZE,
             "{\"until_ms\":%lld,\"away_from_ms\":%lld,\"away_to_ms\":%lld}",
             (long long)attendance->until_ms, (long long)attendance->away_from_ms,
             (long long)attendance->away_to_ms);
}

static bool is_time(json_int_t ms)
{
    return ms >= 0 && ms <= latest_ms;
}

enum status attendance_decode(const char *json, struct attendance *ret)
{
    json_t *tree = json_loads(json, 0, NULL);
    json_int_t until_ms, from_ms, to_ms;
    enum status st = E_INVALID;
    if (json_unpack(tree, "{s:I, s:I, s:I}", "until_ms", &until_ms, "away_from_ms", &from_ms,
                    "away_to_ms", &to_ms) == 0 &&
        is_time(until_ms) && is_time(from_ms) && is_time(to_ms)) {
        *ret = (struct attendance){until_ms, from_ms, to_ms};
        st = OK;
    }
    json_decref(tree);
    return st;
}

bool attendance_has_missed(const struct attendance *attendance, int64_t start_ms, int64_t now_ms)
{
    return start_ms > attendance->away_from_ms && start_ms <= attendance->away_to_ms &&
           start_ms <= now_ms && attendance->away_to_ms <= now_ms + SKEW_MS;
}
