/* The last time at which some node could start runs, and the last absence of all nodes: one
 * document in the store for all nodes. Pure. */
#ifndef PEAL_ATTENDANCE_H
#define PEAL_ATTENDANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

#define ATTENDANCE_DOC  "attendance"
#define ATTENDANCE_NAME "ticks"

enum { ATTENDANCE_JSON_SIZE = 128 };

/* Wall time. */
struct attendance {
    int64_t until_ms;                 /* a node could start runs */
    int64_t away_from_ms, away_to_ms; /* the last absence; 0, 0: none */
};

void attendance_encode(const struct attendance *attendance, char json[static ATTENDANCE_JSON_SIZE]);
MUST_CHECK enum status attendance_decode(const char *json, struct attendance *ret);

/* Was the start due during the absence? An absence that ends in the future is from before the clock
 * was set back, and does not count. */
bool attendance_has_missed(const struct attendance *attendance, int64_t start_ms, int64_t now_ms);

#endif
