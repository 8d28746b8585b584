/* Prints a herd, as GET /herd answers it. */
#ifndef PEAL_HERD_PRINT_H
#define PEAL_HERD_PRINT_H

#include <jansson.h>

#include "cli/cli.h"

/* What can run at once, on nodes that take runs. */
struct herd_room {
    size_t nodes;
    int64_t capacity;
};

/* The worst seconds, how many starts seconds have, and what is proposed, at most `most` jobs of it;
 * `room` NULL: not known. */
MUST_CHECK enum status herd_print(const json_t *herd, const struct herd_room *room, size_t most);

#endif
