/* The programs that run what a program has outside of itself: peal-spawn its commands, peal-call
 * its HTTP calls. Both come with peal, and the library does without them. */
#ifndef PEAL_TOOLS_H
#define PEAL_TOOLS_H

#include "status.h"

struct tools {
    char *spawn, *call; /* paths; NULL: not installed */
};

/* In the folder `bin`; NULL: $PEAL_BIN, else where peal is installed, else PATH. "": none is to be
 * used. */
MUST_CHECK enum status tools_find(const char *bin, struct tools *ret);
void tools_release(struct tools *tools);

#endif
