/* Rate limits on requests and on mistakes, per key: an account, an address. Idle keys are
 * forgotten, and so is the oldest when there are too many. Pure: the time is given. */
#ifndef PEAL_THROTTLE_H
#define PEAL_THROTTLE_H

#include <sys/queue.h>

#include "table.h"

enum { LIMIT_KEY_SIZE = 192 };

struct limit_entry;
TAILQ_HEAD(limit_list, limit_entry);

struct limits {
    struct table by_key;
    struct limit_list by_age; /* least recently used first */
    size_t keys_max;
    int64_t keep_ms; /* how long an idle key is kept */
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

/* 0: go on; else the time to wait (ms). Out of memory: 0. */
int64_t limits_ask(struct limits *limits, const char *key, struct rate rate, int64_t boot_ms);

/* The rest of the pause after mistakes (ms). */
int64_t limits_pause(const struct limits *limits, const char *key, int64_t boot_ms);
void limits_wrong(struct limits *limits, const char *key, struct patience patience,
                  int64_t boot_ms);
void limits_forgive(struct limits *limits, const char *key);

/* Restarts the pause after the last mistake, if there is one. */
void limits_pause_anew(struct limits *limits, const char *key, struct patience patience,
                       int64_t boot_ms);

/* Takes one mistake back. */
void limits_take_back(struct limits *limits, const char *key, struct patience patience);

/* Counts without a pause; returns the count, including this time. Out of memory: 0. */
int limits_count(struct limits *limits, const char *key, int64_t boot_ms);
bool limits_knows(const struct limits *limits, const char *key);

#endif
