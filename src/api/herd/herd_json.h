/* A herd as JSON, as docs/API.md describes it. Pure. */
#ifndef PEAL_HERD_JSON_H
#define PEAL_HERD_JSON_H

#include <jansson.h>

#include "herd/herd.h"

enum { HERD_NAMES = 10, HERD_SECONDS_MAX = 100 };

/* How much of it. */
struct herd_view {
    struct herd_wish wish;
    size_t seconds;   /* the worst of them, at most HERD_SECONDS_MAX */
    size_t proposals; /* the first by name */
};

/* After herd_propose. NULL: out of memory. */
json_t *herd_json(const struct herd *herd, const struct herd_view *view);

#endif
