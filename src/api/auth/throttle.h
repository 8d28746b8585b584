/* How often somebody may ask, and how often somebody may be wrong. Who that is is a text: an
 * account, an address. What nobody asks for any more is forgotten, and so is the oldest when there
 * are too many. Pure: the time is given. */
#ifndef PEAL_THROTTLE_H
#define PEAL_THROTTLE_H

#include <sys/queue.h>

#include "table.h"

enum { LIMIT_KEY_SIZE = 192 };

struct limit_entry;
TAILQ_HEAD(limit_list, limit_entry);

struct limits {
    struct table by_key;
    struct limit_list by_age; /* who asked longest ago comes first */
    size_t keys_max;
    int64_t keep_ms; /* how long somebody is remembered who does not ask */
};

/* Requests: `per_s` in the long run, `burst` at once. */
struct rate {
    int64_t per_s, burst;
};

/* Mistakes: the first `free` cost nothing; after each further one there is a pause, 1 s, 2 s, 4 s
 * ... up to `pause_max_s`. */
struct patience {
    int free;
    int64_t pause_max_s;
};

void limits_init(struct limits *limits, size_t keys_max, int64_t keep_ms);
void limits_release(struct limits *limits);

/* 0: go on; else wait so long (ms). Out of memory lets pass. */
int64_t limits_ask(struct limits *limits, const char *key, struct rate rate, int64_t boot_ms);

/* How long (ms) whoever was wrong has to wait yet. */
int64_t limits_pause(const struct limits *limits, const char *key, int64_t boot_ms);
void limits_wrong(struct limits *limits, const char *key, struct patience patience,
                  int64_t boot_ms);
void limits_forgive(struct limits *limits, const char *key);

/* The pause after the last mistake, if there is one, begins now. */
void limits_pause_anew(struct limits *limits, const char *key, struct patience patience,
                       int64_t boot_ms);

/* One of those was none after all. */
void limits_take_back(struct limits *limits, const char *key, struct patience patience);

/* Counts without a pause: how often it was, with this time. Out of memory is 0. */
int limits_count(struct limits *limits, const char *key, int64_t boot_ms);
bool limits_knows(const struct limits *limits, const char *key);

#endif
